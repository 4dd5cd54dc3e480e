package sync

import (
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestRightsAreTheLeast runs with nothing but what setup gives: no superuser, no role
// that sees other sessions; publication and slot are the administrator's.
func TestRightsAreTheLeast(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	owner := b.config.Owner.User
	if scanned[bool](b, `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR pg_has_role($1, 'pg_monitor', 'MEMBER') OR pg_has_role($1, 'pg_read_all_stats', 'MEMBER')
		FROM pg_roles WHERE rolname = $1`, owner) {
		t.Error("setup gives the owner more than it needs")
	}
	b.exec("DROP PUBLICATION kproxy")
	b.exec("CREATE PUBLICATION kproxy FOR TABLE ward, visits")
	b.exec("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", b.config.Slot)
	if scanned[bool](b, "SELECT pg_get_userbyid(pubowner) = $1 FROM pg_publication WHERE pubname = 'kproxy'", owner) {
		t.Error("the publication is the owner's own")
	}
	l := b.start()
	l.inStep()
	b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", owner)
	b.alter()
	l.told(Reconnecting, "")
	l.inStep()
}

// TestRightIsMissing takes one right away; kproxy says which, and goes on once it is
// back.
func TestRightIsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ take, give, words string }{
		"replication": {"ALTER ROLE %s NOREPLICATION", "ALTER ROLE %s REPLICATION", "REPLICATION"},
		"source":      {"REVOKE SELECT ON visits FROM %s", "GRANT SELECT ON visits TO %s", "SELECT"},
		"store":       {"ALTER TABLE kproxy_store.position OWNER TO postgres", "ALTER TABLE kproxy_store.position OWNER TO %s", "kproxy setup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			b.quiet()
			owner := catalog.QuoteIdentifier(b.config.Owner.User)
			b.exec(strings.ReplaceAll(c.take, "%s", owner))
			l := b.start()
			l.eventually("it says what is missing and what to do", func() bool {
				status := l.Status()
				for _, table := range status.Tables {
					if table.State == Halted && table.Fix != "" && strings.Contains(table.Problem+table.Fix, c.words) {
						return true
					}
				}
				return status.State != Streaming && status.Fix != "" && strings.Contains(status.Reason+status.Fix, c.words)
			})
			b.exec(strings.ReplaceAll(c.give, "%s", owner))
			l.stop()
			b.start().inStep()
		})
	}
}

// TestPublicationIsTakenAway changes the publication under a Syncer that applies.
func TestPublicationIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, back string }{
		"table taken out":  {"ALTER PUBLICATION kproxy DROP TABLE visits", "ALTER PUBLICATION kproxy ADD TABLE visits"},
		"only inserts":     {"ALTER PUBLICATION kproxy SET (publish = 'insert')", "ALTER PUBLICATION kproxy SET (publish = 'insert, update, delete, truncate')"},
		"dropped and back": {"DROP PUBLICATION kproxy", "CREATE PUBLICATION kproxy FOR TABLE ward, visits"},
		"renamed":          {"ALTER PUBLICATION kproxy RENAME TO gone", "ALTER PUBLICATION gone RENAME TO kproxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			b.quiet()
			l := b.start()
			l.inStep()
			b.script(c.change)
			b.alter()
			l.eventually("it says that the publication does not fit, and what to do", func() bool {
				status := l.Status()
				for _, table := range status.Tables {
					if table.State == Halted && table.Fix != "" && strings.Contains(table.Problem, "publi") {
						return true
					}
				}
				return (status.State == Stopped || status.State == Reconnecting) && status.Fix != "" && strings.Contains(status.Reason, "publi")
			})
			b.alter()
			b.script(c.back)
			select {
			case <-l.done: // it stopped: the operator starts it again
				l = b.start()
			case <-time.After(time.Second):
				l.Reload(b.config.Tables)
			}
			b.alter()
			l.inStep()
		})
	}
}

// TestPublicationOfAllTables has a publication of the administrator's that holds kproxy's
// own tables as well, which the server then refuses to change: kproxy says so.
func TestPublicationOfAllTables(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	b.quiet()
	b.exec("DROP PUBLICATION kproxy")
	b.exec("CREATE PUBLICATION kproxy FOR ALL TABLES")
	b.start().stopsWith("own tables")
	b.exec("DROP PUBLICATION kproxy")
	b.exec("CREATE PUBLICATION kproxy FOR TABLE ward, visits")
	b.start().inStep()
}
