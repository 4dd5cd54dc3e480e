package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// begin opens the transaction that the next batch takes over.
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

// spill writes rows of a source transaction that goes on. They become part of the store
// when it commits; until then no reader and no other process sees them.
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

// tableFailure halts the table that an error concerns which another attempt would meet again.
func tableFailure(t *table, err error) error {
	if stop := (*StopError)(nil); transient(err) || errors.As(err, &stop) {
		return err
	}
	return errHalted(t.layout.name(), err)
}
