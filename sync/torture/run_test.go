package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
)

// runLimit bounds one run, and apartLimit one in which both servers fail, which waits more.
const (
	runLimit   = 3 * time.Minute
	apartLimit = 8 * time.Minute
)

// run is one run of a plan.
type run struct {
	*bench
	relays   []*relay // one for each child, to the source's server
	stores   []*relay // likewise, to that of the store; relays where that is the same
	comparer *comparer

	mu       sync.Mutex
	children []*process
	notes    []string // what happened
	logs     []string // of children that are no more

	fail    context.CancelCauseFunc
	working sync.WaitGroup
	gate    sync.RWMutex // writers pass it with each transaction
	done    atomic.Int64 // transactions of the writers
	refused atomic.Int64
	polled  atomic.Int64
	states  int
}

// outcome is what a run has to tell.
type outcome struct {
	plan         *plan
	notes        []string
	transactions int   // of the source that changed a protected table
	refused      int64 // that the server rolled back, by deadlock for example
	compared     int
	polled       int64
	took         time.Duration
	err          error
	logs         []string // of the children, where there is an error
}

// torture makes one run.
func torture(ctx context.Context, server, other *seat, p *plan) outcome {
	start := time.Now()
	r := &run{}
	o := outcome{plan: p}
	limit := runLimit
	if p.moves() {
		limit = apartLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &mistake{fmt.Sprintf("the run did not end within %s", limit)})
	defer cancel()
	ctx, r.fail = context.WithCancelCause(ctx)
	defer r.fail(nil)
	store := server
	if o.plan.apart {
		store = other
	}
	if r.bench, o.err = newBench(ctx, server, store, o.plan); o.err != nil {
		return o
	}
	if p.moves() {
		o.err = r.apart(ctx)
	} else {
		o.err = r.whole(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		o.err = cause
	}
	r.fail(o.err) // ends whoever still works
	r.working.Wait()
	o.err = errors.Join(o.err, r.end(o.err != nil))
	o.transactions, o.refused, o.polled = int(r.done.Load()), r.refused.Load(), r.polled.Load()
	if r.oracle != nil {
		o.transactions = r.oracle.transactions
	}
	o.compared, o.notes = r.states, r.notes
	if o.err != nil {
		o.logs = r.logs
	}
	o.err = errors.Join(o.err, r.close())
	o.took = time.Since(start)
	return o
}

// whole goes through the run. Errors of what works beside it end ctx.
func (r *run) whole(ctx context.Context) error {
	p := r.plan
	if err := r.openRelays(ctx); err != nil {
		return err
	}
	if p.apart {
		r.note("two servers")
	}
	if p.jumps {
		r.note("clock jumps")
	}
	stop := make(chan struct{})
	compare := &comparer{bench: r.bench, logged: r.logged}
	r.comparer = compare
	var looking, writing sync.WaitGroup
	r.work(&looking, func() error { return compare.run(ctx, rand.New(rand.NewPCG(p.seed, 1<<32)), stop) })
	for i := range 2 {
		reader := poller{bench: r.bench, states: &r.polled}
		r.work(&looking, func() error { return reader.run(ctx, rand.New(rand.NewPCG(p.seed, uint64(2+i)<<32)), stop) })
	}
	r.work(&looking, func() error { return r.watch(ctx, stop) })
	if p.early {
		r.write(ctx, &writing)
	}
	if err := r.startAll(ctx); err != nil {
		return err
	}
	if !p.early {
		if err := r.caughtUp(ctx); err != nil {
			return err
		}
		r.write(ctx, &writing)
	}
	if err := r.conduct(ctx); err != nil {
		return err
	}
	writing.Wait()
	if err := r.caughtUp(ctx); err != nil {
		return err
	}
	close(stop)
	looking.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.finish(ctx, compare)
}

// openRelays opens the relays for all children.
func (r *run) openRelays(ctx context.Context) error {
	for range r.plan.children {
		source, err := newRelay(ctx, r.server.address)
		if err != nil {
			return err
		}
		store := source
		if r.isApart() {
			if store, err = newRelay(ctx, r.store.address); err != nil {
				return err
			}
		}
		r.relays, r.stores, r.children = append(r.relays, source), append(r.stores, store), append(r.children, nil)
	}
	return nil
}

// network is one of the two networks between children and servers.
func (r *run) network(rng *rand.Rand) []*relay {
	if r.isApart() && rng.IntN(2) == 0 {
		return r.stores
	}
	return r.relays
}

// oneServer is one of the two servers.
func (r *run) oneServer(rng *rand.Rand) *seat {
	if r.isApart() && rng.IntN(2) == 0 {
		return r.store
	}
	return r.server
}

// work runs something beside; an error ends the run.
func (r *run) work(group *sync.WaitGroup, do func() error) {
	r.working.Add(1)
	group.Add(1)
	go func() {
		defer r.working.Done()
		defer group.Done()
		if err := do(); err != nil {
			r.fail(err)
		}
	}()
}

func (r *run) write(ctx context.Context, writing *sync.WaitGroup) {
	settings := []string{"SET lock_timeout = '2s'", "SET lock_timeout = '2s'; SET synchronous_commit = off"}
	for i := range r.plan.writers {
		w := &writer{
			dsn: r.sourceDSN, script: newScript(r.plan.seed, i, r.plan.shapes), count: r.plan.transactions,
			settings: settings[i%2], done: &r.done, refused: &r.refused,
		}
		r.work(writing, func() error { return w.run(ctx) })
	}
}

// startAll starts the children; the first one may have to die on its way.
func (r *run) startAll(ctx context.Context) error {
	if r.plan.first != "" {
		if err := r.launch(0, r.plan.first, r.plan.pass); err != nil {
			return err
		}
		r.note("start dies at " + r.plan.first)
		r.dies(ctx, 0, 3*time.Second)
	}
	for i := range r.children {
		if err := r.launch(i, "", 0); err != nil {
			return err
		}
	}
	return nil
}

// conduct has the faults happen, spread over the transactions.
func (r *run) conduct(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(r.plan.seed, 1<<40))
	total := int64(r.plan.writers * r.plan.transactions)
	for i, f := range r.plan.faults {
		due := total * int64(2*i+1) / int64(2*len(r.plan.faults))
		for r.done.Load() < due && ctx.Err() == nil {
			pause(ctx, 5*time.Millisecond)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.note(f.name)
		if err := f.do(ctx, r, rng); err != nil {
			return fmt.Errorf("fault %q: %w", f.name, err)
		}
	}
	return nil
}

func (r *run) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, what)
}

func (r *run) child(i int) *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.children[i]
}

// logged is what the children have logged, those that are no more among them.
func (r *run) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := slices.Clone(r.logs)
	for _, p := range r.children {
		if p != nil {
			texts = append(texts, p.logged())
		}
	}
	return strings.Join(texts, "\n")
}

// launch starts a child in the place of one that is no more.
func (r *run) launch(i int, failpoint string, pass int) error {
	var names []string
	for _, s := range r.plan.shapes {
		names = append(names, s.name)
	}
	source := ""
	if r.isApart() {
		source = r.login(r.sourceRole(), r.relays[i].port())
	}
	p, err := start(job{
		DSN: r.login(r.owner(), r.stores[i].port()), Source: source, Reader: r.reader(), Publication: publication, Slot: r.slot(), Seed: r.plan.seed,
		Shapes: names, Failpoint: failpoint, Pass: pass, Jumps: r.plan.jumps,
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.children[i]; before != nil {
		r.logs = append(r.logs, fmt.Sprintf("child %d, which ended (%s):\n%s", i, before.cmd.ProcessState, before.logged()))
	}
	r.children[i] = p
	return nil
}

// dies waits for a child to kill itself, and kills it where it does not.
func (r *run) dies(ctx context.Context, i int, patience time.Duration) {
	select {
	case <-r.child(i).exited:
		return
	case <-time.After(patience):
	case <-ctx.Done():
	}
	r.note("not reached")
	r.child(i).kill()
}

// applying is a child that applies.
func (r *run) applying() (int, bool) {
	for i := range r.relays {
		if r.child(i).applies() {
			return i, true
		}
	}
	return 0, false
}

// applier waits for a child that applies.
func (r *run) applier(ctx context.Context) (int, error) {
	const patience = 45 * time.Second
	for start := time.Now(); time.Since(start) < patience; pause(ctx, 10*time.Millisecond) {
		if i, ok := r.applying(); ok {
			return i, nil
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return 0, &mistake{fmt.Sprintf("no child applies within %s", patience)}
}

// watch has the run fail when a child ends by itself.
func (r *run) watch(ctx context.Context, stop <-chan struct{}) error {
	for {
		pause(ctx, 30*time.Millisecond)
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		for i := range r.relays {
			if p := r.child(i); p != nil {
				if err := p.died(); err != nil {
					return err
				}
			}
		}
	}
}

// execute runs a statement in the source's database.
func (r *run) execute(ctx context.Context, sql string) error {
	return executeOn(ctx, r.server.DSN(r.database), sql)
}

func executeOn(ctx context.Context, dsn, sql string) error {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// positionNow is the position of the store.
func (r *run) positionNow(ctx context.Context) (lsn pglogrepl.LSN, err error) {
	conn, err := connect(ctx, r.store.DSN(r.database))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, "SELECT coalesce(max(lsn), '0/0')::text FROM kproxy_store.position").Scan(&lsn)
	return lsn, err
}

// makeChange commits something that has to be replicated.
func (r *run) makeChange(ctx context.Context) (err error) {
	s := r.plan.shapes[0]
	for range 20 {
		err = r.execute(ctx, fmt.Sprintf("UPDATE %[1]s SET %[2]s = %[2]s", s.sql(), quoted([]string{s.columns[0].name}, "")))
		if err == nil || !survivable(err) {
			return err
		}
	}
	return err
}
