package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestReanonymize has a running kproxy make its classes anew.
func TestReanonymize(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reanonymize").speaks(t, 1, 2, "no kproxy applies in this database", "kproxy serve")
	p := s.serve(t)
	s.kproxy(t, "reanonymize", "nowhere").speaks(t, 1, 2, "protects no table public.nowhere")
	conn := connect(t, s.admin)
	execute(t, conn, "UPDATE patients SET birth_date = birth_date - 400 * (patient_id % 7)::int")
	execute(t, conn, "DELETE FROM patients WHERE patient_id % 4 = 0")
	o := s.kproxy(t, "reanonymize", "patients", "--timeout", "1m").must(t)
	if !strings.HasPrefix(o.stdout, "public.patients: information loss ") || !strings.Contains(o.stdout, "% after\n") {
		t.Errorf("it says %q", o.stdout)
	}
	if o := s.kproxy(t, "reanonymize", "--no-wait").must(t); !strings.Contains(o.stdout, "asked for") {
		t.Errorf("without waiting it says %q", o.stdout)
	}
	if !p.awaitLog(t, "a table was re-anonymized") {
		t.Error("the log does not tell of it")
	}
	s.kproxy(t, "verify").must(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}
