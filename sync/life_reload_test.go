package sync

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
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
