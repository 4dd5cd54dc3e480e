package sync

import (
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// moodyTable is one whose enumeration is generalized.
func moodyTable(t *testing.T, guarded bool) *bench {
	t.Helper()
	b := tablesBench(t, person("first").with("CREATE TYPE mood AS ENUM ('a', 'b', 'c')"), tableCase{
		name: "moody", ddl: "CREATE TABLE moody (id int PRIMARY KEY, age int, mood mood, note text, illness text NOT NULL)",
		numeric: []string{"age"}, categorical: []string{"mood"}, sensitive: []string{"illness"}, insensitive: []string{"note"}, guarded: guarded,
	})
	b.script("INSERT INTO moody SELECT i, i % 40, (ARRAY['a','b','c'])[1 + i % 3]::mood, 'x' || i % 3, 'ill ' || i % 4 FROM generate_series(1, 60) i")
	return b
}

// TestRenamedLabelsNeedConsent: rows of a guarded table that show an old label stay, so
// that no reload lets new ones appear beside them.
func TestRenamedLabelsNeedConsent(t *testing.T) {
	t.Parallel()
	b := moodyTable(t, true)
	s, _ := b.run()
	b.settled(s)
	b.script("ALTER TYPE mood RENAME VALUE 'c' TO 'z'")
	b.halts(s, "moody")
	s.Reload(b.config.Tables)
	await(t, "the reload is done", func() bool { return s.retryHalted() == false && s.Status().State == Streaming })
	if state := s.Status().Tables[publicTable("moody")].State; state != Halted {
		t.Errorf("a reload made the table %s", state)
	}
}

// TestRenamedLabelsWhileLost: labels are renamed while the slot is gone, so that the
// difference to the source alone would not show them.
func TestRenamedLabelsWhileLost(t *testing.T) {
	t.Parallel()
	b := moodyTable(t, false)
	s, stop := b.run()
	b.settled(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	b.script("ALTER TYPE mood RENAME VALUE 'c' TO 'z'")
	b.exec("SELECT pg_drop_replication_slot($1)", b.config.Slot)
	s, _ = b.run()
	await(t, "moody is halted", func() bool { return s.Status().Tables[publicTable("moody")].State == Halted })
	b.accept(s, "moody")
	await(t, "moody is published", func() bool {
		status := s.Status().Tables[publicTable("moody")]
		return status.State == Published && !status.Preparing
	})
	b.settled(s)
	var old int
	if b.scan([]any{&old}, "SELECT count(*) FROM "+viewOf("moody")+" WHERE mood LIKE '%c%'"); old > 0 {
		t.Errorf("%d rows show the old label", old)
	}
}

// TestConsentIsNotAssumed: a guarded table waits for the operator after the server was
// exchanged, whatever else gets lost or is noted by kproxy itself.
func TestConsentIsNotAssumed(t *testing.T) {
	t.Parallel()
	const moved, lost = "UPDATE kproxy_store.position SET timeline = 17", "SELECT pg_drop_replication_slot(slot) FROM kproxy_store.position"
	for name, steps := range map[string][]string{
		"lost afterwards": {moved, lost},
		"noted before":    {"UPDATE kproxy_store.generation SET noted = 'resync', lsn = '0/0'; " + moved},
	} {
		t.Run(name, func(t *testing.T) {
			b := newWard(t, pgtest.Shared(t))
			l := b.start()
			l.inStep()
			for _, step := range steps {
				l.stop()
				b.ownerGone()
				b.script(step)
				l = b.start()
				l.eventually("the ward is in step", func() bool {
					ward := l.Status().Tables[wardTable]
					return l.Status().State == Streaming && ward.State == Published && !ward.Preparing
				})
				if state := l.Status().Tables[visitsTable].State; state != Halted {
					t.Errorf("after %s the guarded table is %s", step, state)
				}
			}
		})
	}
}

// TestPositionIsGone takes the stored position away, as somebody does who changes the
// slot: what the store holds was not followed from the new one's beginning.
func TestPositionIsGone(t *testing.T) {
	t.Parallel()
	b := released(t)
	b.exec("UPDATE people SET age = age + 1 WHERE id % 3 = 0")
	b.exec("DELETE FROM people WHERE id % 10 = 1")
	b.exec("SELECT pg_drop_replication_slot($1)", b.config.Slot)
	b.exec("DELETE FROM kproxy_store.position")
	b.config.Slot += "_b"
	s, _ := b.run()
	b.caughtUp(s)
	b.checkStore(s)
}
