package pool_test

import (
	"context"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

// BenchmarkGetKept gets connections that are kept for the session, and gives them back;
// the reset goes on in the background and is waited for without being counted.
func BenchmarkGetKept(b *testing.B) {
	server := pgtest.Shared(b)
	p := newPool(b, reader(b, server, pgtest.Database(b, server)), nil)
	get(b, p, ann()).Release('I')
	for b.Loop() {
		b.StopTimer()
		for p.Stats().Idle == 0 {
		}
		b.StartTimer()
		link, err := obtain(context.Background(), p, ann())
		if err != nil {
			b.Fatal(err)
		}
		link.Release('I')
	}
}

// BenchmarkReuse waits for the reset as well.
func BenchmarkReuse(b *testing.B) {
	server := pgtest.Shared(b)
	p := newPool(b, reader(b, server, pgtest.Database(b, server)), func(c *pool.Config) { c.MaxConnections = 1 })
	for b.Loop() {
		link, err := obtain(context.Background(), p, ann())
		if err != nil {
			b.Fatal(err)
		}
		link.Release('I')
	}
}

// BenchmarkGetNew makes a connection each time.
func BenchmarkGetNew(b *testing.B) {
	server := pgtest.Shared(b)
	p := newPool(b, reader(b, server, pgtest.Database(b, server)), func(c *pool.Config) { c.IdleTimeout = -1 })
	for b.Loop() {
		link, err := obtain(context.Background(), p, ann())
		if err != nil {
			b.Fatal(err)
		}
		link.Release('I')
	}
}

// BenchmarkFresh asks whether what a session reads may be shown.
func BenchmarkFresh(b *testing.B) {
	server := pgtest.Shared(b)
	s := get(b, newPool(b, reader(b, server, pgtest.Database(b, server)), nil), ann())
	for b.Loop() {
		s.Fresh()
	}
}
