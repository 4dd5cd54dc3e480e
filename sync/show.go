package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

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
func (w *writer) tryShow(ctx context.Context, tx pgx.Tx, t *table, making []int64) (shown bool, err error) {
	shown, err = briefly(ctx, tx, func(tx pgx.Tx) error { return w.store.show(ctx, tx, t, making) })
	if err == nil && !shown {
		t.release.postponed = time.Now()
		w.config.Logger.Warn("a new release waits for readers whose transactions have read the earlier one", "table", t.layout.name())
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
	if hasState(err, lockNotAvailable) {
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
