package integration

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// apartHospital is a hospital whose release is on another server. The tables that are readable as they
// are have been brought there by other means.
func apartHospital(t *testing.T) siteOptions {
	t.Helper()
	o := hospitalSite()
	o.server, o.apart = sharedServer(t), ownServer(t, pgserver.Options{})
	o.tables = strings.Replace(o.tables, "readable: [public.icd10, public.wards]", "readable: []", 1)
	return o
}

// TestApart serves a hospital whose release is on another server.
func TestApart(t *testing.T) {
	t.Parallel()
	o := apartHospital(t)
	s := newSite(t, o)
	t.Log(s.kproxy(t, "setup").must(t).stdout)
	t.Log(s.kproxy(t, "check").must(t).stdout)
	s.serve(t)
	t.Log(s.kproxy(t, "status").must(t).stdout)
	t.Log(psql(t, s.url(), "SELECT count(*) FROM patients;", "\\d patients", "SELECT * FROM patients LIMIT 3").must(t).stdout)
	t.Log(s.kproxy(t, "verify").must(t).stdout)
}
