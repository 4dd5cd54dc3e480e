package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestBeforeUpgrade: after setup --before-upgrade nothing of kproxy depends on a column of the system
// catalogs, check and serve say what is missing, and setup makes it anew.
func TestBeforeUpgrade(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(classesSchema, storedSummary))
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	admin := connect(t, s.admin)
	p.end(t, syscall.SIGTERM)
	if said := s.kproxy(t, "setup", "--before-upgrade", "--print").must(t).stdout; !strings.Contains(said, "DROP VIEW") {
		t.Errorf("it prints %s", said)
	}
	s.kproxy(t, "setup", "--before-upgrade").must(t)
	s.kproxy(t, "setup", "--before-upgrade").must(t) // again
	const depending = `SELECT coalesce(string_agg(DISTINCT r.ev_class::regclass::text, ', '), '') FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
		JOIN pg_class v ON v.oid = r.ev_class WHERE v.relnamespace::regnamespace::text ~ 'kproxy' AND d.refclassid = 'pg_class'::regclass AND d.refobjid < 16384`
	if left := scalar[string](t, admin, depending); left != "" {
		t.Errorf("%s depend on system catalogs", left)
	}
	if said := s.kproxy(t, "check"); said.code == 0 || !strings.Contains(said.stdout+said.stderr, "other stand-ins are missing") || strings.Count(said.stdout, "[stand-in]") > 6 {
		t.Errorf("check says %s%s", said.stdout, said.stderr)
	}
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	s.serve(t)
	if got := scalar[int](t, connect(t, s.url()), "SELECT count(*) FROM pg_catalog.pg_class WHERE relname = 'folk'"); got != 1 {
		t.Errorf("the catalogs list the table %d times", got)
	}
}
