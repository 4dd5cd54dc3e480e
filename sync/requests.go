package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Rebuild asks for some tables to be published afresh from the source, a guarded one
// with a new lineage; no tables means all that are published. The process that
// applies does it soon, or the next one to start. Until the new release is there,
// readers see the old one. Owner connects as the role that owns the store.
func Rebuild(ctx context.Context, owner *pgx.ConnConfig, slot string, tables []catalog.Name) error {
	return requestRelease(ctx, owner, slot, tables, askRebuild)
}

// Resynchronize asks for the difference between some tables and their private stores to
// be applied; no tables means all that are published. It is for rows that the
// stream did not tell of, and accepts for a guarded table that it goes on from what this
// server knows.
func Resynchronize(ctx context.Context, owner *pgx.ConnConfig, slot string, tables []catalog.Name) error {
	return requestRelease(ctx, owner, slot, tables, askResync)
}

func requestRelease(ctx context.Context, owner *pgx.ConnConfig, slot string, tables []catalog.Name, what string) error {
	conn, err := pgx.ConnectConfig(ctx, owner)
	if err != nil {
		return fmt.Errorf("connecting as the owner ('kproxy setup' makes the role): %w", Reason(err))
	}
	defer closeConn(conn)
	s := &session{store: store{slot: slot, conn: conn}}
	if err := s.store.checkOwnership(ctx); err != nil {
		return err
	}
	schemas, names := []string{}, []string{}
	for _, t := range tables {
		schemas, names = append(schemas, t.Schema), append(names, t.Relation)
	}
	var found int
	err = conn.QueryRow(ctx, `WITH asked AS (UPDATE kproxy_store.generation SET asked = $1
		WHERE cardinality($2::text[]) = 0 AND generation <> $4 OR (table_schema, table_name) IN (SELECT * FROM unnest($2::text[], $3::text[])) RETURNING 1)
		SELECT count(*) FROM asked`, what, schemas, names, markNumber).Scan(&found)
	if err != nil {
		return fmt.Errorf("asking for tables to be made ready: %w", err)
	}
	if found < len(tables) {
		return &StopError{
			What: fmt.Sprintf("%d of the %d tables have never been published", len(tables)-found, len(tables)),
			Fix:  "see 'kproxy status'; 'kproxy reload' publishes what is new in the configuration",
		}
	}
	return nil
}

// Continues tells, without changing anything, whether Run could go on from where
// the store stands: nil also when nothing has been published yet. The error is a
// *StopError when the operator has to decide. The connections are the owner's to the store and
// that to the source, which are one where both are in one database; system is the system identifier
// of the source's server.
func Continues(ctx context.Context, conn, source *pgx.Conn, slot, system string, recovery Recovery) error {
	s := &session{store: store{slot: slot, conn: conn, source: source, system: system}}
	if err := s.store.checkPublished(ctx); err != nil {
		return err
	}
	if err := s.store.checkOwnership(ctx); err != nil {
		return err
	}
	state, err := s.store.slotState(ctx)
	if err != nil {
		return err
	}
	if err := state.checkForeign(slot, source.Config().Database); err != nil {
		return err
	}
	stored, known, err := s.store.storedPosition(ctx)
	if err != nil {
		return err
	}
	stored.timeline = 0 // a promotion alone loses nothing that the slot has
	loss := s.store.assess(state, stored, known, false)
	if loss == nil || loss.continuous || recovery != StopOnLoss {
		return nil
	}
	consent, err := s.store.allAsked(ctx)
	if err != nil || consent {
		return err
	}
	return &StopError{What: loss.what, Fix: fixResync}
}
