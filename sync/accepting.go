package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// Unaccepted is a protected table that is not what the operator accepted.
type Unaccepted struct {
	Table catalog.Name
	// Changes are what differs, in words.
	Changes []string
	// NewRelease says that the release changes with it, and Guarded that this ends a lineage.
	NewRelease, Guarded bool

	now accept.Table
}

// FindUnaccepted compares tables, as the policy was just compared with them, with what the
// operator accepted. A table that was never accepted is not told of: it is when it is first
// published. The connections are the owner's to the store and that to the source, which are
// one where both are in one database.
func FindUnaccepted(ctx context.Context, conn, source *pgx.Conn, tables []catalog.Publication) (found []Unaccepted, err error) {
	err = pgx.BeginTxFunc(ctx, source, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL search_path = pg_catalog"); err != nil {
			return err
		}
		for _, p := range tables {
			u, err := findUnaccepted(ctx, conn, tx, p)
			if err != nil {
				return err
			}
			if len(u.Changes) > 0 {
				found = append(found, u)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("comparing the tables with what was accepted: %w", err)
	}
	return found, nil
}

func findUnaccepted(ctx context.Context, store querier, source pgx.Tx, p catalog.Publication) (u Unaccepted, err error) {
	t, err := newTable(p)
	if err != nil {
		return u, err
	}
	now, err := t.layout.source().examine(ctx, source, accept.Whole)
	if err != nil {
		return u, err
	}
	if now.Name != t.layout.name() || !t.layout.source().isAsConfigured(now.Table) {
		return u, fmt.Errorf("table %s is being altered; try again", t.layout.name())
	}
	u.Table, u.now = t.layout.name(), now.Table
	var digest, updates string
	err = store.QueryRow(ctx, "SELECT policy_digest, coalesce(updates, '') FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2 AND generation <> $3",
		t.layout.name().Schema, t.layout.name().Relation, markNumber).Scan(&digest, &updates)
	published := err == nil
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return u, err
	}
	u.NewRelease = published && !t.layout.fits(generation{digest: digest})
	u.Guarded = updates == catalog.Guarded.String()
	var bound accept.Table
	known, err := accept.Load(ctx, store, accept.KindTable, t.layout.name(), &bound)
	if err == nil && !known {
		_, known, err = accept.LoadAs(ctx, store, accept.KindTable, p.Relation.OID, &bound)
	}
	switch {
	case err != nil:
		return u, err
	case known:
		u.Changes = bound.Changes(now.Table, t.layout.source().needs)
	case u.NewRelease:
		u.Changes = []string{"what its columns were when it was published is not known"}
	}
	return u, nil
}

// Accept notes that the tables are what the operator wants to be published, as they were
// looked at: what has changed since then halts them again. They are published afresh, or
// compared with their sources where their releases stay as they are. A guarded table whose
// lineage would end waits for 'kproxy rebuild --new-lineage'.
func Accept(ctx context.Context, on beginner, tables []Unaccepted) error {
	err := pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
		for _, u := range tables {
			if err := accept.Save(ctx, tx, accept.KindTable, u.Table, u.now); err != nil {
				return err
			}
			ask := askResync
			if u.NewRelease && !u.Guarded {
				ask = askRebuild
			}
			_, err := tx.Exec(ctx, `UPDATE kproxy_store.generation SET asked = $3, heals = false
				WHERE table_schema = $1 AND table_name = $2 AND NOT needs_consent`, u.Table.Schema, u.Table.Relation, ask)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting what is accepted: %w", err)
	}
	return nil
}
