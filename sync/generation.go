package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// generation is one table's row of kproxy_store.generation.
type generation struct {
	number     int64
	digest     string
	nextClass  incremental.ClassID
	nextRecord incremental.RecordID
}

// generations reads what the store holds.
func (s *session) generations(ctx context.Context) (map[catalog.Name]generation, error) {
	rows, err := s.control.Query(ctx, `SELECT table_schema, table_name, generation, policy_digest, next_class, next_record
		FROM kproxy_store.generation`)
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	found := make(map[catalog.Name]generation)
	var name catalog.Name
	var g generation
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &g.number, &g.digest, &g.nextClass, &g.nextRecord}, func() error {
		found[name] = g
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	return found, nil
}

// fits tells whether the store holds exactly the tables of the policy, in the
// shape the policy asks for.
func (s *session) fits(found map[catalog.Name]generation) bool {
	if len(found) != len(s.tables) {
		return false
	}
	for _, t := range s.tables {
		if g, ok := found[t.name()]; !ok || g.digest != t.digest {
			return false
		}
	}
	return true
}

// dropGenerations removes all earlier generations with their published views;
// readers keep seeing them until the transaction commits.
func (s *session) dropGenerations(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = 'kproxy_store'::pg_catalog.regnamespace AND c.relkind = 'r'
		AND c.relname ~ '^(records|release|source|member|class)_[0-9]+$'`)
	if err != nil {
		return fmt.Errorf("listing earlier generations: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("listing earlier generations: %w", err)
	}
	for _, name := range tables {
		// The only dependants are the published views, which are made anew.
		if _, err := tx.Exec(ctx, "DROP TABLE "+name+" CASCADE"); err != nil {
			return fmt.Errorf("dropping an earlier generation: %w", err)
		}
	}
	if _, err := tx.Exec(ctx, "DELETE FROM kproxy_store.generation"); err != nil {
		return fmt.Errorf("forgetting earlier generations: %w", err)
	}
	return nil
}
