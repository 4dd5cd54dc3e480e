package pool_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

func TestReportCounts(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	p, err := pool.New(pool.Config{Roles: map[string]*pgconn.Config{"": role}, Options: pool.Options{MaxConnections: 3}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	get := func() *pool.Link {
		link, err := p.Get(t.Context(), pool.Want{User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	link := get()
	if r := p.Report(); r.InUse != 1 || r.Opened != 1 || r.Reused != 0 || r.Most != 3 {
		t.Errorf("with one connection: %+v", r)
	}
	link.Release('I')
	for p.Stats().Idle == 0 {
		link.Release('I') // does nothing: it is waited for the reset
	}
	link = get()
	link.Release(0)
	for p.Stats().Places > 0 {
		link.Release(0)
	}
	r := p.Report()
	if r.Opened != 1 || r.Reused != 1 || r.Reset != 1 || r.Discarded != 1 || r.OpenFailed != 0 {
		t.Errorf("in the end: %+v", r)
	}
	if len(r.Hosts) != 1 || !r.Hosts[0].Reachable || !r.Hosts[0].Fresh || r.Hosts[0].Role != "unknown" || r.Hosts[0].Sessions != 0 {
		t.Errorf("the server: %+v", r.Hosts)
	}
}

func TestReportOfAServerThatIsGone(t *testing.T) {
	t.Parallel()
	role := parse(t, "postgres://reader@127.0.0.1:1/x?sslmode=disable")
	p, err := pool.New(pool.Config{Roles: map[string]*pgconn.Config{"": role}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := p.Get(t.Context(), pool.Want{User: "ann"}); err == nil {
		t.Fatal("connected to nothing")
	}
	if r := p.Report(); r.OpenFailed != 1 || r.Opened != 0 || r.Hosts[0].Reachable || r.Hosts[0].Address != "127.0.0.1:1" {
		t.Errorf("%+v", r)
	}
}
