package sync

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// reads has a reader poll a published table until the returned function is called, which
// fails the test if any poll did.
func (b *bench) reads(table catalog.Name) (end func()) {
	b.t.Helper()
	config := b.source.Config().Copy()
	config.User, config.Password = b.config.Reader, "reader"
	conn, err := pgx.ConnectConfig(b.t.Context(), config)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	outcome := make(chan error, 1)
	go func() {
		polls := 0
		for {
			var rows int
			err := conn.QueryRow(ctx, "SELECT count(*) FROM "+catalog.Published(table).SQL()).Scan(&rows)
			switch {
			case ctx.Err() != nil && polls == 0:
				outcome <- fmt.Errorf("it was never polled")
				return
			case ctx.Err() != nil:
				outcome <- nil
				return
			case err != nil:
				outcome <- fmt.Errorf("after %d polls: %w", polls, err)
				return
			}
			polls++
			time.Sleep(time.Millisecond)
		}
	}()
	return func() {
		b.t.Helper()
		cancel()
		if err := <-outcome; err != nil {
			b.t.Errorf("a reader of %s saw a gap: %v", table, err)
		}
		_ = conn.Close(context.Background())
	}
}

// three adds to a ward a third table, and returns the policy with it.
func (b *bench) three() catalog.Policy {
	b.t.Helper()
	policy := wardPolicy()
	policy.Tables = append(policy.Tables, visitsPolicy("third", "mondrian-strict", "", ofSize))
	b.script(fmt.Sprintf(visits, "third") + "INSERT INTO third SELECT " + visit("i") + " FROM generate_series(1, 100) i")
	return policy
}

// withThird is a ward with a third table, of which it applies only the first two.
func withThird(t *testing.T) (b *bench, all []catalog.Publication) {
	t.Helper()
	b = newWard(t, pgtest.Shared(t))
	b.provide(pgtest.Shared(t), b.three())
	all = b.config.Tables
	b.config.Tables = all[:2]
	return b, all
}

// TestReloadLeavesOthersAlone adds, changes and removes a table at run time; the others
// are neither published anew nor taken from their readers for a moment.
func TestReloadLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	l := b.start()
	l.inStep()
	generations := [2]int{b.generationOf("ward"), b.generationOf("visits")}
	ends := []func(){b.reads(wardTable), b.reads(visitsTable)}
	third := all[2].Policy.Table
	reload := func(tables []catalog.Publication) {
		t.Helper()
		b.config.Tables = tables
		l.Reload(tables)
		b.alter()
		b.exec("UPDATE third SET age = (age + 1) % 80")
		l.inStep()
	}
	reload(all)
	added := b.generationOf("third")
	changed := append([]catalog.Publication(nil), all...)
	policy := changed[2].Policy
	policy.Constraints = append(policy.Constraints[:0:0], policy.Constraints...)
	policy.Constraints[0].K = 7
	changed[2].Policy = policy
	reload(changed)
	l.eventually("it is published with the new policy", func() bool { return b.generationOf("third") > added })
	l.inStep()
	reload(all[:2])
	l.eventually("the table that was taken out is dropped", func() bool {
		return !scanned[bool](b, "SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_name = 'third') OR to_regclass($1) IS NOT NULL", catalog.Published(third).SQL())
	})
	if _, told := l.Status().Tables[third]; told {
		t.Error("the status still tells of the table")
	}
	if left := scanned[int](b, "SELECT count(*) FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relname ~ '^records_[0-9]+$'"); left != 2 {
		t.Errorf("%d private stores for 2 tables", left)
	}
	for _, end := range ends {
		end()
	}
	if generations != [2]int{b.generationOf("ward"), b.generationOf("visits")} {
		t.Error("another table was published afresh")
	}
}

// TestReloadsComeFast reloads twenty times without waiting for anything, in the middle of
// publications.
func TestReloadsComeFast(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	l := b.start()
	l.inStep()
	end := b.reads(wardTable)
	generation := b.generationOf("ward")
	for i := range 20 {
		l.Reload(all[:2+i%2])
		b.alter()
		time.Sleep(time.Duration(i*7) * time.Millisecond)
	}
	b.config.Tables = all
	l.Reload(all)
	l.inStep()
	end()
	if b.generationOf("ward") != generation {
		t.Error("another table was published afresh")
	}
	if left := scanned[int](b, "SELECT count(*) FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relname ~ '^records_[0-9]+$'"); left != 3 {
		t.Errorf("%d private stores for 3 tables", left)
	}
}

// TestGuardedTableIsPutBack takes a guarded table out of the configuration, which ends its
// lineage: readers and store have nothing of it, and what is published once it is back begins a new one.
func TestGuardedTableIsPutBack(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	l := b.start()
	l.inStep()
	all := slices.Clone(b.config.Tables)
	before := b.generationOf("visits")
	b.config.Tables = slices.DeleteFunc(slices.Clone(all), func(p catalog.Publication) bool { return p.Policy.Table == visitsTable })
	l.Reload(b.config.Tables)
	stored := fmt.Sprintf("_%d$", before)
	l.eventually("nothing of the table is left", func() bool {
		return scanned[int](b, "SELECT (SELECT count(*) FROM kproxy_store.generation WHERE table_name = 'visits') + (SELECT count(*) FROM pg_class WHERE oid = to_regclass($1) "+
			"OR relnamespace = 'kproxy_store'::regnamespace AND relkind IN ('r', 'v') AND relname ~ $2)", catalog.Published(visitsTable).SQL(), stored) == 0
	})
	b.script("DELETE FROM visits WHERE id % 5 = 2; UPDATE visits SET age = age + 1 WHERE id % 4 = 1")
	b.config.Tables = all
	gone := scanned[time.Time](b, "SELECT now()")
	l.Reload(all)
	l.inStep()
	if !scanned[bool](b, "SELECT created_at > $1 FROM kproxy_store.generation WHERE table_name = 'visits'", gone) {
		t.Error("the table goes on as it was")
	}
	if ghosts := scanned[int](b, "SELECT ghosts FROM kproxy_store.generation WHERE table_name = 'visits'"); ghosts != 0 {
		t.Errorf("%d rows of the deleted are published", ghosts)
	}
	b.alter()
	l.inStep()
}
