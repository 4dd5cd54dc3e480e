package integration

import (
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// TestApart serves a hospital whose release is on another server.
func TestApart(t *testing.T) {
	t.Parallel()
	o := hospitalSite()
	o.server, o.apart = sharedServer(t), ownServer(t, pgserver.Options{})
	s := newSite(t, o)
	t.Log(s.kproxy(t, "setup").must(t).stdout)
	t.Log(s.kproxy(t, "check").must(t).stdout)
	s.serve(t)
	t.Log(s.kproxy(t, "status").must(t).stdout)
	t.Log(psql(t, s.url(), "SELECT count(*) FROM patients; \\d patients", "SELECT * FROM patients LIMIT 3").must(t).stdout)
	t.Log(s.kproxy(t, "verify").must(t).stdout)
}
