package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// apart goes through a run in which both servers fail. Writers write while a fault happens, and stop then: whatever
// happened, source, store and release have to agree before the next one.
func (r *run) apart(ctx context.Context) error {
	p := r.plan
	if err := r.openRelays(ctx); err != nil {
		return err
	}
	if p.jumps {
		r.note("clock jumps")
	}
	stop := make(chan struct{})
	compare := &comparer{bench: r.bench, logged: r.logged}
	r.comparer = compare
	var looking sync.WaitGroup
	r.work(&looking, func() error { return compare.run(ctx, rand.New(rand.NewPCG(p.seed, 1<<32)), stop) })
	for i := range 2 {
		reader := poller{bench: r.bench, states: &r.polled}
		r.work(&looking, func() error { return reader.run(ctx, rand.New(rand.NewPCG(p.seed, uint64(2+i)<<32)), stop) })
	}
	r.work(&looking, func() error { return r.watch(ctx, stop) })
	if err := r.startAll(ctx); err != nil {
		return err
	}
	if err := r.caughtUp(ctx); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(p.seed, 1<<40))
	writers := r.apartWriters()
	for _, f := range p.faults {
		if err := r.phase(ctx, f, writers, rng); err != nil {
			return fmt.Errorf("fault %q: %w", f.name, err)
		}
	}
	close(stop)
	looking.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.states = compare.states
	return nil
}

// apartWriters are the writers of a run, and one that moves amounts of the ledger.
func (r *run) apartWriters() []*writer {
	var list []*writer
	for i := range r.plan.writers {
		list = append(list, &writer{script: newScript(r.plan.seed, i, r.plan.drawn())})
	}
	list = append(list, &writer{script: newScript(r.plan.seed, 100, nil)})
	for _, w := range list {
		w.dsn, w.settings, w.done, w.refused, w.gate = r.sourceDSN, "SET lock_timeout = '2s'", &r.done, &r.refused, &r.gate
	}
	return list
}

// phase has one fault happen while the writers write, and compares everything afterwards.
func (r *run) phase(ctx context.Context, f fault, writers []*writer, rng *rand.Rand) error {
	stop := make(chan struct{})
	var writing sync.WaitGroup
	for _, w := range writers {
		r.work(&writing, func() error { return w.until(ctx, stop) })
	}
	r.more(ctx, 10+rng.IntN(60))
	r.note(f.name)
	err := f.do(ctx, r, rng)
	if err == nil {
		r.more(ctx, rng.IntN(40))
	}
	close(stop)
	writing.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if r.plan.isMoving(f) {
		return r.settle(ctx)
	}
	if err := r.caughtUp(ctx); err != nil {
		return err
	}
	return r.finish(ctx, r.final())
}

// final is a comparer for the moments at which nobody writes.
func (r *run) final() *comparer { return &comparer{bench: r.bench, logged: r.logged} }

// settle waits until everything is in step with a server that has taken the place of another, and, after one more change,
// still is. It is the operator, too, who has guarded tables go on that wait for a word.
func (r *run) settle(ctx context.Context) error {
	const patience = 90 * time.Second
	for range 2 {
		if err := r.makeChange(ctx); err != nil {
			return err
		}
		var last error
		agreed := false
		for start := time.Now(); !agreed; pause(ctx, 100*time.Millisecond) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if time.Since(start) > patience {
				return &mistake{fmt.Sprintf("source, store and release do not agree %s after a server took the place of another: %v", patience, last)}
			}
			if last = r.consent(ctx); last == nil {
				last = r.agree(ctx)
			}
			agreed = last == nil
			if last != nil && !errors.As(last, new(*mistake)) && !passing(last) {
				return last
			}
		}
	}
	r.plan.moved.Store(false)
	return nil
}

// agree compares source, store and release once, and has the verifier prove the release.
func (r *run) agree(ctx context.Context) error {
	c := r.final()
	defer c.close(context.WithoutCancel(ctx))
	if err := c.compare(ctx, true); err != nil {
		return err
	}
	return c.verify(ctx)
}

// consent asks for the tables that wait for the operator.
func (r *run) consent(ctx context.Context) error {
	c := r.final()
	defer c.close(context.WithoutCancel(ctx))
	now, err := r.standingNow(ctx, c)
	if err != nil {
		return err
	}
	var waiting []catalog.Name
	for _, t := range r.tables {
		at := now.tables[t.Policy.Table.Relation]
		if at.halted != "" && !guarded(t) {
			return &mistake{fmt.Sprintf("table %s is halted, which is not guarded: %s", t.Policy.Table, at.halted)}
		}
		if at.halted != "" && at.asked == "" {
			waiting = append(waiting, t.Policy.Table)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	owner, err := pgx.ParseConfig(r.login(r.owner(), r.store.Port()))
	if err != nil {
		return err
	}
	r.note("the operator's word")
	return ksync.Resynchronize(ctx, owner, r.slot(), waiting)
}
