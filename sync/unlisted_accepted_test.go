package sync

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestAcceptedColumnsOutliveTheConfiguration takes a table out of the configuration and swaps two
// of its columns meanwhile: put back, it is halted until the names mean what they meant.
func TestAcceptedColumnsOutliveTheConfiguration(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	l := b.start()
	l.inStep()
	others := without(b.config.Tables, wardTable)
	// back is the configuration with the table, as the database has it now.
	back := func() []catalog.Publication {
		relations, err := inspect.Relations(t.Context(), b.source, b.config.Reader)
		i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == wardTable })
		if err != nil || i < 0 {
			t.Fatal(i, err)
		}
		p, problems := catalog.Publish(wardPolicy().Tables[0], relations[i])
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return append(slices.Clone(others), p)
	}
	const swap = "BEGIN; ALTER TABLE ward RENAME job TO x; ALTER TABLE ward RENAME illness TO job; ALTER TABLE ward RENAME x TO illness; COMMIT"
	l.Reload(others)
	l.eventually("the table is dropped", func() bool {
		return scanned[bool](b, "SELECT NOT EXISTS (SELECT FROM kproxy_store.generation WHERE table_name = 'ward')")
	})
	b.script(swap)
	l.Reload(back())
	l.eventually("the table is halted", func() bool {
		status := l.Status().Tables[wardTable]
		return status.State == Halted && strings.Contains(status.Fix, "kproxy accept")
	})
	if scanned[bool](b, "SELECT to_regclass($1) IS NOT NULL", catalog.Published(wardTable).SQL()) {
		t.Error("the table is published")
	}
	l.Reload(others)
	b.script(swap)
	l.Reload(back())
	l.eventually("the table is published", func() bool { return l.Status().Tables[wardTable].State == Published })
}
