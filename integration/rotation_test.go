package integration

import (
	"strings"
	"testing"
)

// TestOwnersPasswordRotates gives the owner another password while kproxy serves, and cuts
// all connections that were made with the earlier one.
func TestOwnersPasswordRotates(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	s.shows(t, "people", operatedRows)
	admin := connect(t, s.admin)
	const later = "the owner's next 'secret'"
	s.write(t, "owner.password", later+"\n")
	s.kproxy(t, "setup").must(t)
	if out := s.kproxy(t, "reload").must(t); !strings.Contains(out.stdout, "settings: upstream.owner\n") {
		t.Errorf("reload says %q", out.stdout)
	}
	for i := range 2 {
		execute(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+s.owner+"'")
		execute(t, admin, "INSERT INTO people SELECT i, i % 7, 0 FROM generate_series((SELECT max(id) + 1 FROM people), (SELECT max(id) + 8 FROM people)) i")
		s.shows(t, "people", operatedRows+8*(i+1))
	}
	eventually(t, "the process answers", func() bool { return s.kproxy(t, "status").code == 0 })
	for _, secret := range []string{later, ownerPassword} {
		if strings.Contains(p.log.String(), secret) {
			t.Error("the log has a password")
		}
	}
	if strings.Contains(p.log.String(), "a table was compared with its source") {
		t.Error("setup, which changed a password only, has a table compared with its source")
	}
	s.kproxy(t, "verify").must(t)
}
