package sync

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// flushIfDue starts a batch with the group at a commit boundary, unless the next transaction has
// been received already and the group is still small and young. While another batch is being
// written, the group grows.
func (a *applier) flushIfDue(ctx context.Context) error {
	switch {
	case a.transaction.open:
		return nil
	case a.group.rows == 0 && len(a.writer.batches) > 0:
		return nil
	case a.group.rows == 0:
		if err := a.advance(ctx, a.end); err != nil {
			return err
		}
		return a.atCommit(ctx)
	case a.isAwaited():
		if err := a.flush(ctx, a.end); err != nil {
			return err
		}
		if err := a.renewer.step(ctx); err != nil {
			return err
		}
		return a.atCommit(ctx)
	case !a.group.isComplete(a.session.tables, len(a.writer.batches)):
		if !a.group.moreReceived && len(a.writer.batches) == 0 {
			a.grown.Reset(a.group.wait()) // nothing else may come
		}
		return nil
	}
	return a.startBatch(ctx, a.end)
}

// isAwaited reports whether something waits for tables and store to agree.
func (a *applier) isAwaited() bool {
	return a.joiner.prepared != nil || a.found != nil || a.renewer.ready != nil || a.leaves
}

// batchWritten records that the oldest batch has been written, and continues with the next group.
func (a *applier) batchWritten(ctx context.Context) error {
	if err := a.writer.awaitOldest(ctx); err != nil {
		return err
	}
	if err := a.renewer.step(ctx); err != nil {
		return err
	}
	return a.flushIfDue(ctx)
}

// atCommit does what waits for a commit boundary.
func (a *applier) atCommit(ctx context.Context) error {
	if err := a.react(ctx); err != nil {
		return err
	}
	if a.leaves && a.atBoundary() {
		return errReload
	}
	return a.joinPrepared(ctx)
}

// keepalive moves the position over WAL without changes of the tables.
func (a *applier) keepalive(ctx context.Context, end pglogrepl.LSN) error {
	if !a.atBoundary() {
		return nil
	}
	a.session.consume(end)
	if err := a.advance(ctx, end); err != nil {
		return err
	}
	return a.atCommit(ctx)
}

// advance moves the position over WAL without changes: at each heartbeat, after idleBytes, or if
// a generation is to be shown at that position.
func (a *applier) advance(ctx context.Context, end pglogrepl.LSN) error {
	if end <= a.session.position {
		return nil
	}
	due := end-a.session.position >= idleBytes || time.Since(a.moved) >= a.session.syncer.config.Heartbeat
	for _, t := range a.session.tables {
		due = due || t.waits(end)
	}
	if !due {
		return nil
	}
	return a.flush(ctx, end)
}

// flush writes store, release and position up to a commit boundary, and waits for it.
func (a *applier) flush(ctx context.Context, to pglogrepl.LSN) error {
	if err := a.startBatch(ctx, to); err != nil {
		return err
	}
	return a.writer.awaitAll(ctx)
}

// startBatch writes what has changed up to a commit boundary, without waiting for the
// commit.
func (a *applier) startBatch(ctx context.Context, to pglogrepl.LSN) error {
	for len(a.writer.batches) == maxBatches || len(a.writer.batches) > 0 && a.session.tables.awaitShowing() {
		if err := a.writer.awaitOldest(ctx); err != nil {
			return err
		}
	}
	a.session.tables.markDue(a.session.syncer.config.Now())
	a.session.tables.prepare(to)
	steps := maxSteps
	if slices.ContainsFunc(a.session.tables, func(t *table) bool { return t.pending.spilled }) {
		steps = maxSpilledSteps
	}
	b := &batch{
		from: a.session.position, to: to, started: time.Now(), changes: a.group.rows > 0,
		steps: make(chan step, steps), ended: make(chan struct{}), checks: a.session.tables.definitionChecks(),
	}
	a.writer.start(ctx, b)
	err := a.fillBatch(ctx, b)
	b.complete = err == nil
	close(b.steps)
	a.group.rows = 0
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
			return b.add(func(ctx context.Context, tx pgx.Tx) error { return tableFailure(t, c.send(ctx, tx)) })
		}}
		if err := t.write(ctx, to, max(b.to, t.release.position)); err != nil {
			return tableFailure(t, err)
		}
		if err := to.close(); err != nil {
			return err
		}
		t.written()
	}
	b.status = a.session.figures()
	making := a.session.making()
	for _, shown := range a.session.tables.toShow(b.to) {
		err := b.add(func(ctx context.Context, tx pgx.Tx) error { return a.writer.tryShow(ctx, tx, shown, making) })
		if err != nil {
			return err
		}
	}
	outcomes := &statements{send: func(c chunk) error { return b.add(c.send) }}
	a.renewer.writeOutcomes(outcomes)
	a.renewer.outcomes = nil
	return outcomes.close()
}

// batchCommitted records what the store has after a batch.
func (a *applier) batchCommitted(ctx context.Context, b *batch) error {
	a.session.position, a.moved = b.to, time.Now()
	a.group.writeTime = min(time.Since(b.started), maxGroupTime)
	for _, t := range a.session.tables {
		t.release.stored(b.to)
	}
	a.session.shared.ack.stored.Store(uint64(b.to))
	a.session.report(b.status)
	if b.changes {
		a.waitForDue()
	}
	if a.renewer.readDue {
		return a.renewer.readRequests(ctx)
	}
	return nil
}
