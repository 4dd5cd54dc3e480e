package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// flushIfDue sends the group on its way at a commit boundary, unless the next transaction
// is here already and the group is still small and young. While another group is on its
// way, this one grows.
func (a *applier) flushIfDue(ctx context.Context) error {
	switch {
	case a.inTransaction:
		return nil
	case a.rows == 0 && len(a.writer.batches) > 0:
		return nil
	case a.rows == 0:
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
	case !a.isComplete():
		return nil
	}
	return a.startBatch(ctx, a.end)
}

// isComplete says that the group need not wait for more of the stream. While another one
// is on its way, it is settled ahead where it is worth a batch and nothing else has come.
func (a *applier) isComplete() bool {
	switch {
	case a.isFull():
		return true
	case len(a.writer.batches) == 0:
		return !a.moreReceived || time.Since(a.groupBegan) >= max(groupTime, a.writeTime)
	default:
		return !a.moreReceived && a.rows >= aheadRows() && len(a.writer.batches) < maxBatches && !a.awaitsShowing()
	}
}

// isFull says that the group is as large as memory and readers' patience allow.
func (a *applier) isFull() bool {
	full := a.rows >= groupRows
	for _, t := range a.session.tables {
		full = full || t.pending.bytes >= groupBytes
	}
	return full
}

// isAwaited says that something waits for tables and store to agree.
func (a *applier) isAwaited() bool {
	return a.prepared != nil || a.found != nil || a.renewer.ready != nil
}

// batchWritten takes note of a group that has been written, and goes on with the next.
func (a *applier) batchWritten(ctx context.Context) error {
	if err := a.awaitBatch(ctx); err != nil {
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
	return a.joinPrepared(ctx)
}

// keepalive moves the position over WAL that holds nothing for the tables.
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

// advance moves the position over WAL without changes, now and then, or where a table
// waits for that to be shown.
func (a *applier) advance(ctx context.Context, end pglogrepl.LSN) error {
	if end <= a.session.position {
		return nil
	}
	due := end-a.session.position >= idleBytes || time.Since(a.moved) >= a.session.syncer.config.Heartbeat
	for _, t := range a.session.tables {
		due = due || (t.release.showAt != 0 && t.release.showAt <= end && time.Since(t.release.postponed) >= postponement)
	}
	if !due {
		return nil
	}
	return a.flush(ctx, end)
}

// begin opens the transaction that the next flush will end.
func (a *applier) begin(ctx context.Context) error {
	if err := a.awaitBatches(ctx); err != nil || a.writer.spilled != nil {
		return err
	}
	tx, err := a.session.store.conn.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("opening a transaction on the store: %w", err)
	}
	a.writer.spilled = tx
	return nil
}

// spill writes rows of a source transaction that goes on. They become part of the store
// when it commits; until then no reader and no other process sees them.
func (a *applier) spill(ctx context.Context, t *table) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	if err := t.spill(ctx, sendTo(ctx, a.writer.spilled)); err != nil {
		return a.tableFailure(t, err)
	}
	a.session.syncer.config.Failpoint(FailSpilled)
	return nil
}

// tableFailure halts the table that an error concerns which another attempt would meet again.
func (a *applier) tableFailure(t *table, err error) error {
	if stop := (*StopError)(nil); transient(err) || errors.As(err, &stop) {
		return err
	}
	return errHalted(t.layout.name(), err)
}

// flush writes store, release and position up to a commit boundary, and waits for it.
func (a *applier) flush(ctx context.Context, to pglogrepl.LSN) error {
	if err := a.startBatch(ctx, to); err != nil {
		return err
	}
	return a.awaitBatches(ctx)
}

const (
	// postponement is how long a generation is not shown after readers had to be waited for.
	postponement = 5 * time.Second
	// readersWait is how long they are waited for, by all tables.
	readersWait = "500ms"
	// lockNotAvailable is the SQLSTATE of what was waited for in vain.
	lockNotAvailable = "55P03"
)

// tryShow shows a generation that has caught up, unless a reader's open transaction keeps
// the earlier one for longer than the other tables can wait.
func (a *applier) tryShow(ctx context.Context, tx pgx.Tx, t *table, making []int64) (shown bool, err error) {
	shown, err = briefly(ctx, tx, func(tx pgx.Tx) error { return a.session.store.show(ctx, tx, t, making) })
	if err == nil && !shown {
		t.release.postponed = time.Now()
		a.session.syncer.config.Logger.Warn("a new release waits for readers whose transactions have read the earlier one", "table", t.layout.name())
	}
	return shown, err
}

// briefly does a part of a transaction that takes locks of readers, or leaves it out where
// they would have to be waited for.
func briefly(ctx context.Context, tx pgx.Tx, do func(pgx.Tx) error) (done bool, err error) {
	part, err := tx.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("beginning a part of a transaction: %w", err)
	}
	if _, err = part.Exec(ctx, "SET LOCAL lock_timeout = '"+readersWait+"'"); err == nil {
		err = do(part)
	}
	server := (*pgconn.PgError)(nil)
	if errors.As(err, &server) && server.Code == lockNotAvailable {
		return false, part.Rollback(ctx)
	}
	if err != nil {
		return false, err
	}
	if _, err := part.Exec(ctx, "SET LOCAL lock_timeout = 0"); err != nil {
		return false, err
	}
	return true, part.Commit(ctx)
}

// stored notes that the store has what the table had, up to a position.
func (t *releaseState) stored(to pglogrepl.LSN) {
	t.position = max(t.position, to)
	if t.shown {
		t.showAt, t.previous, t.shown = 0, 0, false
	}
}
