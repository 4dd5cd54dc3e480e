package sync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// without are the tables but one.
func without(tables []catalog.Publication, name catalog.Name) []catalog.Publication {
	return slices.DeleteFunc(slices.Clone(tables), func(p catalog.Publication) bool { return p.Policy.Table == name })
}

// isMarked says that of the visits only the mark is left, and no relation that shows a row.
func (b *bench) isMarked(generation int) bool {
	b.t.Helper()
	return scanned[bool](b, `SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_name = 'visits' AND generation = 0 AND needs_consent AND halted IS NOT NULL)
		AND NOT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass($1) OR relnamespace = 'kproxy_store'::regnamespace AND relkind IN ('r', 'v') AND relname ~ $2)`,
		catalog.Published(visitsTable).SQL(), fmt.Sprintf("_%d$", generation))
}

// waitsForConsent checks that the visits need the operator, and that others go on.
func (l *live) waitsForConsent() {
	l.b.t.Helper()
	l.eventually("the visits wait for the operator", func() bool {
		visits := l.Status().Tables[visitsTable]
		return l.Status().State == Streaming && visits.State == Halted && !visits.Preparing && strings.Contains(visits.Fix, "kproxy rebuild "+visitsTable.String()+" --new-lineage")
	})
	l.b.alter()
	l.b.goesOn(l.Syncer, visitsTable.Relation)
	if scanned[bool](l.b, "SELECT to_regclass($1) IS NOT NULL", catalog.Published(visitsTable).SQL()) {
		l.b.t.Error("the guarded table is published")
	}
}

// TestGuardedTableIsPutBack takes a guarded table out of the configuration, which leaves a
// mark of it alone. Put back, it waits through reloads, restarts, losses and comparisons
// until the operator accepts a new lineage by name.
func TestGuardedTableIsPutBack(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	l := b.start()
	l.inStep()
	all, before := slices.Clone(b.config.Tables), b.generationOf("visits")
	b.config.Tables = without(all, visitsTable)
	l.Reload(b.config.Tables)
	l.eventually("a mark is left", func() bool { return b.isMarked(before) })
	b.script("DELETE FROM visits WHERE id % 5 = 2; UPDATE visits SET age = age + 1 WHERE id % 4 = 1")
	l.inStep()
	l.stop()
	b.ownerGone()
	l = b.start() // a start without the table keeps the mark
	l.inStep()
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		t.Fatal(err)
	}
	b.answered() // all that are published, which it is not
	b.config.Tables = all
	l.Reload(all)
	l.waitsForConsent()
	l.Reload(all) // is no consent
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{visitsTable}); err != nil {
		t.Fatal(err)
	}
	b.answered() // nor is that
	l.waitsForConsent()
	for _, step := range []string{
		"SELECT 1",
		"SELECT pg_drop_replication_slot(slot) FROM kproxy_store.position",
		"UPDATE kproxy_store.position SET timeline = 17",
	} {
		l.stop()
		b.ownerGone()
		b.script(step)
		l = b.start()
		l.waitsForConsent()
	}
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{visitsTable}); err != nil {
		t.Fatal(err)
	}
	l.inStep()
	if ghosts := scanned[int](b, "SELECT ghosts FROM kproxy_store.generation WHERE table_name = 'visits'"); ghosts != 0 {
		t.Errorf("%d rows of the deleted are published", ghosts)
	}
	b.alter()
	l.inStep()
}

// TestEndedLineageComesBackOtherwise puts a guarded table back as one that follows at once:
// its readers could compare just as well.
func TestEndedLineageComesBackOtherwise(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	l := b.start()
	l.inStep()
	all, before := slices.Clone(b.config.Tables), b.generationOf("visits")
	l.Reload(without(all, visitsTable))
	l.eventually("a mark is left", func() bool { return b.isMarked(before) })
	policy := wardPolicy()
	policy.Tables[1].Updates = catalog.Updates{Mode: catalog.Immediate}
	b.config.Tables = b.publications(policy, b.config.Reader)
	l.Reload(b.config.Tables)
	l.waitsForConsent()
}

// TestDeathWhileDropping ends a Syncer around the commit that drops a guarded table. Before
// it the table is as it was, and goes on if it is put back; after it the lineage has ended.
func TestDeathWhileDropping(t *testing.T) {
	t.Parallel()
	for _, point := range []string{FailBeforeDrop, FailAfterDrop} {
		for _, how := range []string{"canceled", "killed"} {
			t.Run(point+"/"+how, func(t *testing.T) {
				t.Parallel()
				b := newWard(t, pgtest.Shared(t))
				l := b.start()
				l.inStep()
				l.stop()
				b.ownerGone()
				all, before, rows := b.config.Tables, b.generationOf("visits"), b.shownRows("visits")
				if how == "killed" {
					c := b.spawn(errand{Policy: "first table", Die: point})
					l.eventually("the process has died", func() bool {
						select {
						case <-c.exited:
							return true
						default:
							return false
						}
					})
					c.dies()
				} else {
					h := b.holdAt(point)
					b.config.Tables = without(all, visitsTable)
					l = b.start()
					b.awaitHeld(h)
					l.cancel()
					h.free()
					<-l.done
					b.config.Failpoint = nil
				}
				b.ownerGone()
				b.alter()
				b.config.Tables = all
				l = b.start()
				if point == FailAfterDrop {
					if l.waitsForConsent(); !b.isMarked(before) {
						t.Error("more than the mark is left")
					}
					return
				}
				l.inStep()
				if now := b.generationOf("visits"); now != before {
					t.Errorf("generation %d became %d", before, now)
				}
				b.compareVersions("visits", ofSize.K, rows, b.shownRows("visits"))
			})
		}
	}
}

// TestTableIsPutBackWhileHeld takes tables out that a reader holds, so that they are not
// dropped, and puts them back: the stream has passed them by meanwhile.
func TestTableIsPutBackWhileHeld(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	b.config.Tables = all
	l := b.start()
	l.inStep()
	before, third, rows := b.generationOf("visits"), b.generationOf("third"), b.shownRows("visits")
	reader := b.connect()
	tx, err := reader.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []catalog.Name{visitsTable, all[2].Policy.Table} {
		if _, err := tx.Exec(t.Context(), "SELECT FROM "+catalog.Published(name).SQL()+" LIMIT 1"); err != nil {
			t.Fatal(err)
		}
	}
	b.config.Tables = all[:1]
	l.Reload(b.config.Tables)
	b.alter()
	b.exec("UPDATE third SET age = (age + 1) % 80")
	l.inStep()
	b.config.Tables = all
	l.Reload(all)
	l.inStep()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.generationOf("visits") != before || b.generationOf("third") != third {
		t.Error("a table that was not dropped is published afresh")
	}
	b.compareVersions("visits", ofSize.K, rows, b.shownRows("visits"))
}

// TestRenamedTableBeginsNoLineage follows the advice of a table that was renamed or moved.
func TestRenamedTableBeginsNoLineage(t *testing.T) {
	t.Parallel()
	for name, rename := range map[string]struct {
		script string
		to     catalog.Name
	}{
		"renamed": {"ALTER TABLE visits RENAME TO guests", catalog.Name{Schema: "public", Relation: "guests"}},
		"moved": {
			"CREATE SCHEMA other; ALTER TABLE visits SET SCHEMA other; GRANT USAGE ON SCHEMA other TO PUBLIC; " +
				"CREATE SCHEMA IF NOT EXISTS kproxy_release_other; GRANT ALL ON SCHEMA kproxy_release_other TO PUBLIC",
			catalog.Name{Schema: "other", Relation: "visits"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			l := b.start()
			l.inStep()
			b.script(rename.script)
			policy := wardPolicy()
			policy.Tables[1].Table = rename.to
			b.config.Tables = b.publications(policy, b.config.Reader)
			l.Reload(b.config.Tables)
			l.eventually("it waits for the operator", func() bool {
				now := l.Status().Tables[rename.to]
				return now.State == Halted && strings.Contains(now.Fix, "--new-lineage")
			})
			if tables := scanned[int](b, "SELECT count(*) FROM kproxy_store.generation WHERE updates = 'guarded' AND generation > 0"); tables != 0 {
				t.Errorf("%d guarded releases", tables)
			}
			if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{rename.to}); err != nil {
				t.Fatal(err)
			}
			l.eventually("it is published", func() bool { return l.Status().Tables[rename.to].State == Published })
		})
	}
}
