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

// flushIfDue writes the group at a commit boundary, unless the next transaction
// is here already and the group is still small and young.
func (a *applier) flushIfDue(ctx context.Context) error {
	if a.inTransaction {
		return nil
	}
	if a.rows == 0 {
		if err := a.advance(ctx, a.end); err != nil {
			return err
		}
		return a.pause(ctx)
	}
	if len(a.stream.messages) > 0 && a.rows < groupRows && time.Since(a.since) < max(groupTime, a.wrote) && a.newcomer == nil && a.found == nil {
		return nil
	}
	if err := a.flush(ctx, a.end); err != nil {
		return err
	}
	a.mixer.changed(a.moved)
	a.waitForDue()
	if err := a.renewer.step(ctx); err != nil {
		return err
	}
	return a.pause(ctx)
}

// pause does what waits for a commit boundary.
func (a *applier) pause(ctx context.Context) error {
	if err := a.react(ctx); err != nil {
		return err
	}
	return a.welcome(ctx)
}

// keepalive moves the position over WAL that holds nothing for the tables.
func (a *applier) keepalive(ctx context.Context, end pglogrepl.LSN) error {
	if !a.atBoundary() {
		return nil
	}
	a.consumed.Store(uint64(end))
	if err := a.advance(ctx, end); err != nil {
		return err
	}
	return a.pause(ctx)
}

// advance moves the position over WAL without changes, now and then, or where a table
// waits for that to be shown.
func (a *applier) advance(ctx context.Context, end pglogrepl.LSN) error {
	if end <= a.position {
		return nil
	}
	due := end-a.position >= idleBytes || time.Since(a.moved) >= a.Heartbeat
	for _, t := range a.tables {
		due = due || (t.shows != 0 && t.shows <= end && time.Since(t.postponed) >= postponement)
	}
	if !due {
		return nil
	}
	return a.flush(ctx, end)
}

// begin opens the transaction that the next flush will end.
func (a *applier) begin(ctx context.Context) error {
	if a.tx != nil {
		return nil
	}
	tx, err := a.control.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("opening a transaction on the store: %w", err)
	}
	a.tx = tx
	return nil
}

// spill writes rows of a source transaction that goes on. They become part of the store
// when it commits; until then no reader and no other process sees them.
func (a *applier) spill(ctx context.Context, t *table) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	if err := t.spill(ctx, a.tx); err != nil {
		return a.blame(t, err)
	}
	a.Failpoint(FailSpilled)
	return nil
}

// blame halts the table that an error concerns which another attempt would meet again.
func (a *applier) blame(t *table, err error) error {
	if stop := (*StopError)(nil); transient(err) || errors.As(err, &stop) {
		return err
	}
	return t.halted(err)
}

// flush writes store, release and position up to a commit boundary.
func (a *applier) flush(ctx context.Context, to pglogrepl.LSN) error {
	began := time.Now()
	defer func() { a.wrote = min(time.Since(began), groupMost) }()
	if err := a.begin(ctx); err != nil {
		return err
	}
	defer func() {
		if a.tx != nil {
			_ = a.tx.Rollback(context.WithoutCancel(ctx))
			a.tx = nil
		}
	}()
	if err := a.movePosition(ctx, a.tx, to); err != nil {
		return err
	}
	for _, t := range a.tables {
		if err := a.writeTable(ctx, t, to); err != nil {
			return err
		}
	}
	outcomes := &sink{ctx: ctx, tx: a.tx}
	a.renewer.writeOutcomes(outcomes)
	if err := outcomes.close(); err != nil {
		return err
	}
	a.Failpoint(FailBeforeCommit)
	if err := a.tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing the store: %w", err)
	}
	a.tx = nil
	a.Failpoint(FailAfterCommit)
	a.position, a.rows, a.moved = to, 0, time.Now()
	for _, t := range a.tables {
		t.flushed(to)
	}
	a.renewer.outcomes = nil
	a.ack.stored.Store(uint64(to))
	a.report()
	return nil
}

// writeTable writes what has changed of a table, and shows a generation that has caught
// up.
func (a *applier) writeTable(ctx context.Context, t *table, to pglogrepl.LSN) error {
	if t.changed {
		if err := t.write(ctx, a.tx); err != nil {
			return a.blame(t, err)
		}
		_, err := a.tx.Exec(ctx, "UPDATE kproxy_store.generation SET lsn = $3::text::pg_lsn WHERE table_schema = $1 AND table_name = $2",
			t.name().Schema, t.name().Relation, max(to, t.lsn).String())
		if err != nil {
			return fmt.Errorf("moving the position of %s: %w", t.name(), err)
		}
	}
	if t.shows == 0 || t.shows > to || time.Since(t.postponed) < postponement {
		return nil
	}
	shown, err := a.tryShow(ctx, t)
	if err != nil {
		return err
	}
	t.appears = shown
	return nil
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
func (a *applier) tryShow(ctx context.Context, t *table) (shown bool, err error) {
	shown, err = briefly(ctx, a.tx, func(tx pgx.Tx) error { return a.show(ctx, tx, t) })
	if err == nil && !shown {
		t.postponed = time.Now()
		a.Logger.Warn("a new release waits for readers whose transactions have read the earlier one", "table", t.name())
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

// flushed notes that the store has what the table has, up to a position.
func (t *table) flushed(to pglogrepl.LSN) {
	t.written()
	t.lsn = max(t.lsn, to)
	if t.appears {
		t.shows, t.previous, t.appears = 0, 0, false
	}
}
