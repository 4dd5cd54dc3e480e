package sync

import (
	"context"
	"fmt"
	"slices"
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

// toShow are the tables whose generations have caught up at a commit, those of a group together.
func (t tables) toShow(upTo pglogrepl.LSN) (groups []tables) {
	for i, of := range t {
		switch {
		case of.release.showAt == 0 || of.release.showAt > upTo || time.Since(of.release.postponed) < postponement:
		case of.group == nil:
			groups = append(groups, tables{of})
		case of.group.ready && !slices.ContainsFunc(t[:i], func(other *table) bool { return other.group == of.group }):
			groups = append(groups, slices.DeleteFunc(slices.Clone(t), func(other *table) bool { return other.group != of.group }))
		}
	}
	return groups
}

// tryShow shows generations that have caught up, all or none, unless a reader's open transaction
// keeps an earlier one for longer than the other tables can wait.
func (w *writer) tryShow(ctx context.Context, tx pgx.Tx, of tables, making []int64) error {
	shown, err := briefly(ctx, tx, func(tx pgx.Tx) error {
		for _, t := range of {
			if err := w.store.show(ctx, tx, t, making); err != nil {
				return err
			}
		}
		return nil
	})
	for _, t := range of {
		if t.release.shown = shown && err == nil; !t.release.shown && err == nil {
			t.release.postponed = time.Now()
			w.config.Logger.Warn("a new release waits for readers whose transactions have read the earlier one", "relation", t.layout.name())
		}
	}
	return err
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
