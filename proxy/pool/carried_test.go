package pool_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

// TestTransactionsThatLookEnded gives back what, from PostgreSQL 18 on, still is in an
// implicit transaction: behind a simple query in the midst of a segment, and behind the Sync
// after it, where the server says that it is idle. Nothing of it may reach the next session.
func TestTransactionsThatLookEnded(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	p := newPool(t, reader(t, server, dsn), nil)
	for name, last := range map[string][]pgproto3.FrontendMessage{
		"behind the query": {},
		"behind its Sync":  {&pgproto3.Sync{}},
	} {
		for _, traceless := range []bool{false, true} {
			s := get(t, p, ann())
			pid := s.one(backend)
			for _, m := range []pgproto3.FrontendMessage{
				&pgproto3.Parse{Query: "SELECT pg_advisory_xact_lock(7), set_config('work_mem', '1MB', true), set_config('search_path', 'pg_temp', false)"},
				&pgproto3.Bind{}, &pgproto3.Execute{},
			} {
				s.front.Send(m)
			}
			s.do("SELECT count(*) FROM pg_class")
			carried := s.status == 'T'
			for _, m := range last {
				s.front.Send(m)
				if _, err := s.answer(); err != nil {
					t.Fatal(err)
				}
			}
			locks := execute(t, dsn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = "+pid)[0][0]
			if carried != (locks == "1") {
				t.Errorf("%s: carried %v, locks %s", name, carried, locks)
			}
			if traceless {
				s.Traceless()
			}
			s.Release(s.status)
			stats := settled(t, p)
			if carried && stats != (pool.Stats{}) {
				t.Errorf("%s: %+v", name, stats)
			}
			eventually(t, "the lock is gone", func() bool {
				return execute(t, dsn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = "+pid)[0][0] == "0"
			})
			next := get(t, p, ann())
			if now := next.one(backend); carried && now == pid {
				t.Errorf("%s: the connection is used again", name)
			}
			if path := next.one("SHOW search_path"); path != "kproxy" && path != `"kproxy"` {
				t.Errorf("%s: the next session's path is %s", name, path)
			}
			next.Release(0)
			settled(t, p)
		}
	}
}
