package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// generation is one table's row of kproxy_store.generation.
type generation struct {
	number     int64
	digest     string
	nextClass  incremental.ClassID
	nextRecord incremental.RecordID
	updates    string // the mode of updates it was made for
}

// generations reads what the store holds.
func (s *session) generations(ctx context.Context) (map[catalog.Name]generation, error) {
	rows, err := s.control.Query(ctx, `SELECT table_schema, table_name, generation, policy_digest, next_class, next_record, coalesce(updates, '')
		FROM kproxy_store.generation`)
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	found := make(map[catalog.Name]generation)
	var name catalog.Name
	var g generation
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &g.number, &g.digest, &g.nextClass, &g.nextRecord, &g.updates}, func() error {
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

// keepsLineages refuses to publish afresh, unasked, what a guarded table has published
// before: new classes of the same people tell more together with the old ones.
func keepsLineages(found map[catalog.Name]generation) error {
	for name, g := range found {
		if g.updates == catalog.Guarded.String() {
			return &StopError{
				What: fmt.Sprintf("the policy or a table has changed, and all tables would be published afresh; "+
					"readers who compare the new classes of the guarded table %s with the old ones could single people out", name),
				Fix: "take the change back, or run 'kproxy rebuild' to accept this and start a new lineage",
			}
		}
	}
	return nil
}

// swap points the published views at the new generation and drops the earlier
// ones. It comes last, because from here on readers have to wait for the commit.
func (s *session) swap(ctx context.Context, tx pgx.Tx) error {
	if err := s.dropGenerations(ctx, tx); err != nil {
		return err
	}
	for _, t := range s.tables {
		create := fmt.Sprintf("CREATE VIEW %s AS SELECT %s FROM %s", catalog.Published(t.name()).SQL(), t.publishedList(), t.releaseTable())
		if _, err := tx.Exec(ctx, create); err != nil {
			return fmt.Errorf("creating the published view of %s: %w", t.name(), err)
		}
		if err := t.grant(ctx, tx, s.Reader); err != nil {
			return err
		}
	}
	return nil
}

// executor is a connection or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}

// grant lets the reader read the published view.
func (t *table) grant(ctx context.Context, on executor, reader string) error {
	sql := fmt.Sprintf("GRANT SELECT ON %s TO %s", catalog.Published(t.name()).SQL(), catalog.QuoteIdentifier(reader))
	if _, err := on.Exec(ctx, sql); err != nil {
		return fmt.Errorf("granting the published view of %s: %w", t.name(), err)
	}
	return nil
}

// dropGenerations removes every generation but the new one, with the published
// views on them. Other views of the owner cannot stand on them.
func (s *session) dropGenerations(ctx context.Context, tx pgx.Tx) error {
	keep := make([]string, 0, 2*len(s.tables))
	for _, t := range s.tables {
		keep = append(keep, storeTable("records", t.generation).Relation, storeTable("release", t.generation).Relation)
	}
	rows, err := tx.Query(ctx, `SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = 'kproxy_store'::pg_catalog.regnamespace AND c.relkind = 'r'
		AND c.relname ~ '^(records|release|source|member|class)_[0-9]+$' AND c.relname <> ALL ($1::text[])`, keep)
	if err != nil {
		return fmt.Errorf("listing earlier generations: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("listing earlier generations: %w", err)
	}
	for _, name := range tables {
		if _, err := tx.Exec(ctx, "DROP TABLE "+name+" CASCADE"); err != nil {
			return fmt.Errorf("dropping an earlier generation: %w", err)
		}
	}
	return nil
}
