package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestPublishedKeyIsRefused does not begin to serve a table whose key is published, unless
// the policy acknowledges the column by name; a key that comes later has the table
// withdrawn, and no other.
func TestPublishedKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy+visitsPolicy+"      id: insensitive\n"))
	s.kproxy(t, "setup").must(t)
	const acknowledgement = "acknowledge: {joinable: [id]}"
	if o := s.kproxy(t, "check"); o.code != 1 || !strings.Contains(o.stdout, "published-key") || !strings.Contains(o.stdout, "is unique in the table") ||
		!strings.Contains(o.stdout, acknowledgement) {
		t.Errorf("check ends with %d:\n%s", o.code, o.stdout)
	}
	if o := s.serveFails(t, s.config); !strings.Contains(o.stderr, acknowledgement) {
		t.Errorf("serve says\n%s", o.stderr)
	}

	const place = "  public.visits:\n"
	s.replace(t, place, place+"    "+acknowledgement+"\n")
	if o := s.kproxy(t, "check"); o.code != 0 || strings.Contains(o.stdout, "published-key") {
		t.Errorf("check ends with %d:\n%s", o.code, o.stdout)
	}
	s.serve(t)
	s.shows(t, "visits", 60)

	execute(t, connect(t, s.admin), "ALTER TABLE visits ADD UNIQUE (id, ward)")
	if o := s.kproxy(t, "check"); o.code != 1 || !strings.Contains(o.stdout, "joinable: [ward]") {
		t.Errorf("of a later key, check ends with %d:\n%s", o.code, o.stdout)
	}
	s.kproxy(t, "reload")
	eventually(t, "the table is withdrawn", func() bool {
		_, code, _ := countRows(t, connect(t, s.url()), "visits")
		return code == "55000"
	})
	s.shows(t, "people", operatedRows)
}

// TestNearlyUniqueIsRefused does not begin to serve a table with a published column that is
// unique by its values, unless the policy acknowledges it. A table that is served already is
// not withdrawn because its values change: check tells of it.
func TestNearlyUniqueIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema+"; UPDATE visits SET days = 100 + id", countedPolicy+visitsPolicy))
	s.kproxy(t, "setup").must(t)
	const acknowledgement = "acknowledge: {joinable: [days]}"
	refused := func(verdict string) {
		t.Helper()
		if o := s.kproxy(t, "check"); o.code != 1 || !strings.Contains(o.stderr, verdict) || !strings.Contains(o.stdout, "nearly-unique") || !strings.Contains(o.stdout, acknowledgement) {
			t.Errorf("check ends with %d:\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	refused("would refuse to start")
	if o := s.serveFails(t, s.config); !strings.Contains(o.stderr, acknowledgement) {
		t.Errorf("serve says\n%s", o.stderr)
	}

	admin := connect(t, s.admin)
	execute(t, admin, "UPDATE visits SET days = id % 5")
	s.kproxy(t, "check").must(t)
	serving := s.serve(t)
	s.shows(t, "visits", 60)
	execute(t, admin, "UPDATE visits SET days = 100 + id")
	refused("would start, serve those named as nearly-unique as before")
	s.kproxy(t, "reload").must(t)
	serving.end(t, syscall.SIGTERM)
	s.serve(t)
	s.shows(t, "visits", 60)
}
