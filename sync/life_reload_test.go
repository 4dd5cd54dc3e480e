package sync

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
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

// TestChangedPoliciesTakeNothingAway changes the policy of a table in ways that its release covers, and
// in one that it does not: until the new release is ready readers have the one before, or nothing.
func TestChangedPoliciesTakeNothingAway(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	b.config.Tables = all
	third := all[2].Policy.Table
	var published atomic.Pointer[live]
	during := make(chan TableStatus, 1)
	b.config.Failpoint = func(name string) {
		if l := published.Load(); l != nil && name == FailRecordsFilled {
			during <- l.Status().Tables[third]
		}
	}
	l := b.start()
	l.inStep()
	published.Store(l)
	change := func(change func(*catalog.TablePolicy)) (at, then TableStatus) {
		t.Helper()
		before := b.generationOf("third")
		changed := slices.Clone(b.config.Tables)
		policy := &changed[2].Policy
		policy.Constraints = slices.Clone(policy.Constraints)
		change(policy)
		b.config.Tables = changed
		l.Reload(changed)
		at = l.Status().Tables[third]
		b.alter()
		then = <-during
		l.inStep()
		l.eventually("the release of the changed policy is shown", func() bool {
			s := l.Status().Tables[third]
			return s.State == Published && !s.Preparing && b.generationOf("third") > before
		})
		return at, then
	}
	end := b.reads(third)
	for name, looser := range map[string]func(*catalog.TablePolicy){
		"a smaller k":    func(p *catalog.TablePolicy) { p.Constraints[0].K-- },
		"another method": func(p *catalog.TablePolicy) { p.Method = "lookahead-partition" },
	} {
		if at, then := change(looser); at.State != Published || then.State != Published || !then.Preparing {
			t.Errorf("%s: readers have %+v at once, and %+v while the release is made", name, at, then)
		}
	}
	l.Supersede(KeepAny)
	if at, then := change(func(p *catalog.TablePolicy) { p.Constraints[0].K = 6 }); at.State != Published || then.State != Published {
		t.Errorf("weaker releases stand: readers have %+v at once, and %+v while the release is made", at, then)
	}
	end()
	l.Supersede(KeepStrong)
	if at, then := change(func(p *catalog.TablePolicy) { p.Constraints[0].K = 8 }); at.State != Unpublished || then.State != Unpublished {
		t.Errorf("a larger k: readers have %+v at once, and %+v while the release is made", at, then)
	}
	if kept, known := readPromise(scanned[string](b, "SELECT promise FROM kproxy_store.generation WHERE table_name = 'third'")); !known || kept.Constraints[0].K != 8 {
		t.Errorf("the store has the promise %+v", kept)
	}
}
