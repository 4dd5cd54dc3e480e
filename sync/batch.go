package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// batch is a group of source transactions that is written to the store in one transaction. Its life:
//
//  1. The applier's goroutine starts it and adds steps, all before it applies the next change, so
//     that the batch has nothing of the changes that follow.
//  2. The batch's own goroutine waits for the commit of the earlier batch, which has the connection
//     to itself until then, and runs the steps as they come.
//  3. The applier's goroutine sets complete and closes steps; without complete nothing is committed.
//  4. The batch's goroutine commits, sets err and closes ended.
//  5. The applier's goroutine takes over position, acknowledgement and status.
//
// Meanwhile the applier applies the next group in memory. If a batch fails, so do all that follow,
// and the session with them.
//
// Until steps is closed, the applier's goroutine alone writes the fields other than err; the batch's
// goroutine alone writes err, which is valid once ended is closed.
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

// add adds a step. It blocks while the channel of steps is full, and fails if the batch has ended.
func (b *batch) add(s step) error {
	select {
	case b.steps <- s:
		return nil
	case <-b.ended:
		return errors.Join(b.err, errIncomplete)
	}
}

// writer commits batches in their order. Its methods other than write are called from the applier's
// goroutine. Until awaitAll has returned, only the goroutine of the oldest batch uses the connection.
type writer struct {
	config *Config
	store  *store
	// committed is called for each batch after its commit, in their order.
	committed func(context.Context, *batch) error
	batches   []*batch // under way, oldest first
	spilled   pgx.Tx   // open while rows were spilled that no batch has taken over
}

func newWriter(s *session, committed func(context.Context, *batch) error) writer {
	return writer{config: &s.syncer.config, store: &s.store, committed: committed}
}

// start starts the goroutine of a batch; steps are added afterwards.
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

// write writes store, release and position in one transaction, and commits it. It is called from the
// batch's goroutine alone.
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
		if err := p.run(ctx, w.store.lookingFrom(tx), w.store.publication); err != nil {
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

// oldestEnded returns a channel that is closed when the oldest batch has ended; nil without batches.
func (w *writer) oldestEnded() <-chan struct{} {
	if len(w.batches) == 0 {
		return nil
	}
	return w.batches[0].ended
}

// fail waits for all batches to end. It returns the error of the first batch that failed, from which
// err followed, or err without one.
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

// awaitOldest waits for the oldest batch and calls committed, or returns its error.
func (w *writer) awaitOldest(ctx context.Context) error {
	b := w.batches[0]
	<-b.ended // soon after ctx ends
	if b.err != nil {
		return w.fail(b.err)
	}
	w.batches = w.batches[1:]
	return w.committed(ctx, b)
}

// awaitAll waits for all batches under way; then the connection is free.
func (w *writer) awaitAll(ctx context.Context) error {
	for len(w.batches) > 0 {
		if err := w.awaitOldest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin opens a transaction, unless one is open, that the next batch takes over.
func (w *writer) begin(ctx context.Context) error {
	if err := w.awaitAll(ctx); err != nil || w.spilled != nil {
		return err
	}
	tx, err := w.store.conn.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("opening a transaction on the store: %w", err)
	}
	w.spilled = tx
	return nil
}

// spill writes rows of a source transaction that has not ended. They become part of the store when the
// transaction commits; until then no reader and no other process sees them.
func (w *writer) spill(ctx context.Context, t *table) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := t.spill(ctx, sendTo(ctx, w.spilled)); err != nil {
		return tableFailure(t, err)
	}
	w.config.Failpoint(FailSpilled)
	return nil
}

// tableFailure returns a *TableError for an error that concerns the table and would occur again.
func tableFailure(t *table, err error) error {
	stop, halt := (*StopError)(nil), (*TableError)(nil)
	if transient(err) || errors.As(err, &stop) || errors.As(err, &halt) {
		return err
	}
	return errHalted(t.layout.name(), err)
}
