package pool_test

import (
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

const backend = "SELECT pg_catalog.pg_backend_pid()::text"

func TestReuse(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	p := newPool(t, reader(t, server, dsn), nil)
	first := get(t, p, ann())
	pid := first.one(backend)
	first.Release('I')
	if s := settled(t, p); s.Idle != 1 {
		t.Fatal(s)
	}
	again := get(t, p, ann())
	if got := again.one(backend); got != pid {
		t.Fatalf("process %s, before %s", got, pid)
	}
	other := ann()
	other.Parameters = map[string]string{"timezone": "UTC"}
	second := get(t, p, other)
	if second.one(backend) == pid {
		t.Fatal("one connection for two")
	}
	again.Release('I')
	second.Release('I')
	if s := settled(t, p); s.Idle != 2 {
		t.Fatal(s)
	}
	t.Log(pool.Stats{})
}
