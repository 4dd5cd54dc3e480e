package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// batch is a group of source transactions on its way into the store: one transaction of
// the store, which a goroutine sends to the server while the applier takes the next group
// into memory. One batch is being sent and has the connection to itself; another one may be
// ready and wait for it.
//
// The applier fills a batch before it applies the next change, so a batch knows nothing of
// the changes that follow. Position, acknowledgement and status wait for its commit. Where
// one fails, so do all that follow, and the session with them.
//
// The applier's goroutine writes the fields until it closes steps, the batch's goroutine
// writes err; after ended is closed, the applier's goroutine reads it.
type batch struct {
	from, to pglogrepl.LSN
	tx       pgx.Tx // begun by rows that were spilled; else nil
	earlier  *batch // has to commit first; else nil
	started  time.Time
	changes  bool                   // it has changes of the source
	checks   []definitionCheck      // of the tables that it changes
	status   map[*table]TableStatus // of the state that it writes
	steps    chan step
	complete bool // all steps were added; else nothing is committed
	ended    chan struct{}
	err      error // valid once ended is closed
}

// step is a part of what a batch writes.
type step func(ctx context.Context, tx pgx.Tx) error

const (
	// maxBatches bounds the batches under way. With two, the server need not wait for the
	// next one.
	maxBatches = 2
	// maxSteps bounds the steps that wait for the server. Those of a usual batch all fit.
	// A large transaction does not fit into memory, and its batch has maxSpilledSteps.
	maxSteps        = 64
	maxSpilledSteps = 2
)

// errIncomplete ends a batch whose steps could not all be added.
var errIncomplete = errors.New("the batch is incomplete")

// add adds a step, and waits while the server is behind.
func (b *batch) add(s step) error {
	select {
	case b.steps <- s:
		return nil
	case <-b.ended:
		return errors.Join(b.err, errIncomplete)
	}
}

// writer commits batches in their order. Its methods are for the applier's goroutine; only
// the goroutine of the oldest batch uses the connection until awaitAll has returned.
type writer struct {
	config  *Config
	store   *store
	batches []*batch // under way, oldest first
	spilled pgx.Tx   // open while rows were spilled that no batch has taken over
}

func newWriter(s *session) writer {
	return writer{config: &s.syncer.config, store: &s.store}
}

// start begins to send a batch, whose steps are added meanwhile.
func (w *writer) start(ctx context.Context, b *batch) {
	if last := len(w.batches) - 1; last >= 0 {
		b.earlier, b.from = w.batches[last], w.batches[last].to
	}
	b.tx, w.spilled = w.spilled, nil
	w.batches = append(w.batches, b)
	go func() {
		b.err = guard(w.config.Logger, func() error { return w.write(ctx, b) })
		close(b.ended)
	}()
}

// write writes store, release and position in one transaction. It runs on the batch's
// goroutine.
func (w *writer) write(ctx context.Context, b *batch) error {
	if b.earlier != nil {
		if <-b.earlier.ended; b.earlier.err != nil {
			return errIncomplete
		}
		b.earlier = nil
	}
	tx := b.tx
	if tx == nil {
		var err error
		if tx, err = w.store.conn.BeginTx(ctx, pgx.TxOptions{}); err != nil {
			return fmt.Errorf("opening a transaction on the store: %w", err)
		}
	}
	committed := false
	defer func() {
		if !committed {
			_ = tx.Rollback(context.WithoutCancel(ctx))
		}
	}()
	if err := w.store.movePosition(ctx, tx, b.from, b.to); err != nil {
		return err
	}
	for _, p := range b.checks {
		if err := p.run(ctx, tx); err != nil {
			return err
		}
	}
	for do := range b.steps {
		if err := do(ctx, tx); err != nil {
			return err
		}
	}
	if !b.complete {
		return errIncomplete
	}
	w.config.Failpoint(FailBeforeCommit)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing the store: %w", err)
	}
	committed = true
	w.config.Failpoint(FailAfterCommit)
	return nil
}

// oldestEnded is closed when the oldest batch has ended; nil without batches.
func (w *writer) oldestEnded() <-chan struct{} {
	if len(w.batches) == 0 {
		return nil
	}
	return w.batches[0].ended
}

// fail waits for the end of all batches after an error, and returns that of the first batch
// that has failed instead, as the other followed from it.
func (w *writer) fail(err error) error {
	batches := w.batches
	w.batches = nil
	for _, b := range batches {
		<-b.ended
	}
	for _, b := range batches {
		if b.err != nil && !errors.Is(b.err, errIncomplete) {
			return b.err
		}
	}
	return err
}

// startBatch writes what has changed up to a commit boundary, without waiting for the
// commit.
func (a *applier) startBatch(ctx context.Context, to pglogrepl.LSN) error {
	for len(a.writer.batches) == maxBatches || len(a.writer.batches) > 0 && a.awaitsShowing() {
		if err := a.awaitBatch(ctx); err != nil {
			return err
		}
	}
	a.markDue()
	a.mixWith()
	steps := maxSteps
	if slices.ContainsFunc(a.session.tables, func(t *table) bool { return t.pending.spilled }) {
		steps = maxSpilledSteps
	}
	b := &batch{
		from: a.session.position, to: to, started: time.Now(), changes: a.rows > 0,
		steps: make(chan step, steps), ended: make(chan struct{}), checks: a.definitionChecks(),
	}
	a.writer.start(ctx, b)
	err := a.fillBatch(ctx, b)
	b.complete = err == nil
	close(b.steps)
	a.rows = 0
	if err != nil {
		return a.writer.fail(err)
	}
	if a.renewer.running == nil {
		a.renewer.beginNext(ctx) // what is in memory is settled
	}
	return nil
}

// fillBatch adds the steps of a batch.
func (a *applier) fillBatch(ctx context.Context, b *batch) error {
	for _, t := range a.session.tables {
		if !t.pending.dirty {
			continue
		}
		to := &statements{send: func(c chunk) error {
			return b.add(func(ctx context.Context, tx pgx.Tx) error { return a.tableFailure(t, c.send(ctx, tx)) })
		}}
		if err := t.write(ctx, to); err != nil {
			return a.tableFailure(t, err)
		}
		to.Queue("UPDATE kproxy_store.generation SET lsn = $3::text::pg_lsn WHERE table_schema = $1 AND table_name = $2",
			t.layout.name().Schema, t.layout.name().Relation, max(b.to, t.release.position).String())
		if err := to.close(); err != nil {
			return err
		}
		t.written()
	}
	b.status = a.session.figures()
	making := a.session.making()
	for _, t := range a.session.tables {
		if t.release.showAt == 0 || t.release.showAt > b.to || time.Since(t.release.postponed) < postponement {
			continue
		}
		err := b.add(func(ctx context.Context, tx pgx.Tx) (err error) {
			t.release.shown, err = a.tryShow(ctx, tx, t, making)
			return err
		})
		if err != nil {
			return err
		}
	}
	outcomes := &statements{send: func(c chunk) error { return b.add(c.send) }}
	a.renewer.writeOutcomes(outcomes)
	a.renewer.outcomes = nil
	return outcomes.close()
}

// awaitsShowing reports whether readers are to see a generation that a batch may show.
func (a *applier) awaitsShowing() bool {
	return slices.ContainsFunc(a.session.tables, func(t *table) bool { return t.release.showAt != 0 })
}

// awaitBatches waits for all batches under way, so that the connection is free.
func (a *applier) awaitBatches(ctx context.Context) error {
	for len(a.writer.batches) > 0 {
		if err := a.awaitBatch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// awaitBatch waits for the oldest batch and records what the store has then.
func (a *applier) awaitBatch(ctx context.Context) error {
	b := a.writer.batches[0]
	<-b.ended // soon after ctx ends
	if b.err != nil {
		return a.writer.fail(b.err)
	}
	a.writer.batches = a.writer.batches[1:]
	a.session.position, a.moved = b.to, time.Now()
	a.writeTime = min(time.Since(b.started), maxGroupTime)
	for _, t := range a.session.tables {
		t.release.stored(b.to)
	}
	a.session.shared.ack.stored.Store(uint64(b.to))
	a.session.report(b.status)
	if b.changes {
		a.mixer.changed(a.moved)
		a.waitForDue()
	}
	if a.renewer.readDue {
		return a.renewer.readRequests(ctx)
	}
	return nil
}

// aheadRows is the number of changes from which a group is settled before the batch before
// it is committed, when no more of the stream has come.
func aheadRows() int { return groupRows / 12 }
