package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// TestStandbysServe has a physical standby serve what is published on the primary, and the
// primary take over when the standby is gone. A server that is no copy of it is refused.
func TestStandbysServe(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = ownServer(t, pgserver.Options{})
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	standby, err := o.server.Standby(t.Context(), pgserver.StandbyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	hosts := func(other *pgserver.Server) string {
		return fmt.Sprintf("    hosts: [\"127.0.0.1:%d\", \"127.0.0.1:%d\"]\n    prefer: standby\n    max_staleness: 30s\n", o.server.Port(), other.Port())
	}
	other := ownServer(t, pgserver.Options{})
	elsewhere := connect(t, other.DSN("postgres"))
	execute(t, elsewhere, "CREATE DATABASE "+s.database)
	execute(t, elsewhere, "CREATE ROLE "+s.reader+" LOGIN PASSWORD '"+strings.ReplaceAll(readerPassword, "'", "''")+"'")
	const reader = "    password_file: reader.password\n"
	s.replace(t, reader, reader+hosts(other))
	if out := s.kproxy(t, "check"); out.code != 1 || !strings.Contains(out.stdout, "is no copy of the owner's server") {
		t.Errorf("with another server, kproxy check ends with %d and %q", out.code, out.stdout)
	}
	s.replace(t, hosts(other), hosts(standby))
	s.kproxy(t, "check").must(t)
	p := s.serve(t)

	served := func(by *pgserver.Server) func() bool {
		return func() bool {
			client := connect(t, s.url())
			defer client.Close(t.Context())
			var rows int
			if client.QueryRow(t.Context(), "SELECT count(*) FROM people").Scan(&rows) != nil || rows != 40 {
				return false
			}
			const sessions = "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = $1 AND application_name LIKE 'test (127.0.0.1:%'"
			return scalar[bool](t, connect(t, by.DSN(s.database)), sessions, s.reader)
		}
	}
	eventually(t, "the standby serves", served(standby))
	testStandbyWithAnEarlierRelease(t, s, standby)
	eventually(t, "the standby serves again", served(standby))
	if err := standby.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the primary serves", served(o.server))
	if out := s.kproxy(t, "check").must(t); !strings.Contains(out.stdout+out.stderr, "sessions go to the other servers until it answers") {
		t.Errorf("without the standby, kproxy check says %q%q", out.stdout, out.stderr)
	}
	s.replace(t, hosts(standby), "")
	if out := s.kproxy(t, "reload").must(t); !strings.Contains(out.stdout, "settings: upstream.reader\n") {
		t.Errorf("reload says %q", out.stdout)
	}
	eventually(t, "the one server serves", served(o.server))
	if !p.running() {
		t.Error("kproxy has ended")
	}
}

// testStandbyWithAnEarlierRelease has a standby stand still while the policy of a table
// becomes stricter. What it shows of before is for nobody.
func testStandbyWithAnEarlierRelease(t *testing.T, s *site, standby *pgserver.Server) {
	admin := connect(t, standby.DSN(s.database))
	execute(t, admin, "SELECT pg_wal_replay_pause()")
	s.replace(t, "k: 5", "k: 20")
	s.kproxy(t, "reload").must(t)
	const smallest = "SELECT min(c) FROM (SELECT count(*) AS c FROM people GROUP BY age) g"
	eventually(t, "the new release is served", func() bool {
		client := connect(t, s.url())
		defer client.Close(t.Context())
		var n int
		if err := client.QueryRow(t.Context(), smallest).Scan(&n); err != nil {
			return false
		}
		if n < 20 {
			t.Errorf("a class of %d records is shown", n)
		}
		return true
	})
	execute(t, admin, "SELECT pg_wal_replay_resume()")
}
