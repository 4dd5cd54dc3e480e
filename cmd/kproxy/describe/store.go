package describe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// describeAll writes the descriptions in one transaction, on a connection of its own, and removes
// those of all other tables. For descriptions that are written already, it only looks for new
// batches.
func describeAll(ctx context.Context, to toDescribe, written map[key]described) error {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	conn, err := upstream.ConnectOwner(ctx, to.config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var schemas, tables, audiences []string
		for k := range to.tables {
			schemas, tables, audiences = append(schemas, k.table.Schema), append(tables, k.table.Relation), append(audiences, k.audience)
		}
		for relation, audience := range map[string]string{
			"kproxy_catalog.described_key": "''", "kproxy_catalog.label": "d.audience", "kproxy_catalog.described_column": "d.audience",
			"kproxy_catalog.described": "d.audience", "kproxy_store.description": "''",
		} {
			_, err := tx.Exec(ctx, "DELETE FROM "+relation+` d WHERE NOT EXISTS (
				SELECT FROM unnest($1::text[], $2::text[], $3::text[]) AS n(s, t, a) WHERE (n.s, n.t, n.a) = (d.table_schema, d.table_name, `+audience+`))`, schemas, tables, audiences)
			if err != nil {
				return fmt.Errorf("forgetting the descriptions of other tables: %w", err)
			}
		}
		for _, k := range slices.SortedFunc(maps.Keys(to.tables), key.compare) {
			if to.tables[k].stays {
				continue
			}
			if err := describeTable(ctx, tx, k.audience, to.tables[k], sameDescription(to.tables[k], written[k])); err != nil {
				return fmt.Errorf("describing %s: %w", k.table, err)
			}
		}
		return nil
	})
}

// noted is the state of a table and of its description.
type noted struct {
	published time.Time // when the generation was made
	next      int64     // number of the next class
	// newest is the day of the newest batch. Each batch increases the numbers of classes.
	newest time.Time
	fresh  bool // there was no batch since
}

// notedSQL reads it. A batch that was published while no process looked counts as one of today,
// never as an older one.
const notedSQL = `SELECT g.created_at, g.next_class, CASE WHEN d.generation = g.generation AND d.next_class = g.next_class
		THEN coalesce(t.newest, g.created_at::date) WHEN d.generation = g.generation THEN now()::date ELSE g.created_at::date END,
		coalesce(d.generation = g.generation AND d.next_class = g.next_class AND t.k IS NOT NULL, false)
	FROM kproxy_store.generation g
	LEFT JOIN kproxy_store.description d ON d.table_schema = g.table_schema AND d.table_name = g.table_name
	LEFT JOIN kproxy_catalog.described t ON t.table_schema = g.table_schema AND t.table_name = g.table_name AND t.audience = $4
	WHERE g.table_schema = $1 AND g.table_name = $2 AND g.generation = $3`

// describeTable writes what is known of one table; nothing if its generation is gone, or if
// it is written and there was no new batch.
func describeTable(ctx context.Context, tx pgx.Tx, audience string, of described, written bool) error {
	d := of.description
	if _, err := tx.Exec(ctx, "SET LOCAL TimeZone = 'UTC'"); err != nil {
		return err
	}
	var n noted
	err := tx.QueryRow(ctx, notedSQL, d.Table.Schema, d.Table.Relation, of.generation, audience).Scan(&n.published, &n.next, &n.newest, &n.fresh)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && written && (n.fresh || d.Updates != catalog.Guarded) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading its generation: %w", err)
	}
	newest := &n.newest
	if d.Updates == catalog.Guarded {
		// Who waits is nobody's business, and the moment of a batch would tell since when.
		n.published = n.published.UTC().Truncate(24 * time.Hour)
	} else {
		newest = nil
	}
	batch := &pgx.Batch{}
	forTable := func(sql string, arguments ...any) {
		batch.Queue(sql, append([]any{d.Table.Schema, d.Table.Relation}, arguments...)...)
	}
	for _, relation := range []string{"label", "described_column", "described"} {
		forTable("DELETE FROM kproxy_catalog."+relation+" WHERE table_schema = $1 AND table_name = $2 AND audience = $3", audience)
	}
	forTable(`INSERT INTO kproxy_catalog.described (table_schema, table_name, audience, k, constraints, updates, published_at, newest, off_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, -1))`,
		audience, d.K, d.Constraints, d.Updates.String(), n.published, newest, d.OffBy)
	for i, c := range d.Columns {
		forTable(`INSERT INTO kproxy_catalog.described_column (table_schema, table_name, audience, position, column_name, type, role, form, hierarchy, k, constraints)
			VALUES ($1, $2, $3, $4, $5, $6, nullif($7, ''), $8, nullif($9, ''), nullif($10, 0), nullif($11, ''))`,
			audience, i+1, c.Name, c.Type, c.Role, c.Form, c.Hierarchy, c.K, c.Constraints)
	}
	for _, l := range d.Labels {
		forTable(`INSERT INTO kproxy_catalog.label (table_schema, table_name, audience, column_name, label, parent, leaves, span, ordered, hidden)
			VALUES ($1, $2, $3, $4, $5, nullif($6, ''), $7, int4range($8, $9), $10, $11)`,
			audience, l.Column, l.Label, l.Parent, l.Leaves, l.First, l.Beyond, l.Ordered, l.Hidden)
	}
	if audience == "" { // nothing of an audience's is released together, nor in batches
		describeGeneration(forTable, of, n.next)
	}
	// Plans know what labels mean (kproxy_catalog.meaning): those that do end with this.
	for _, name := range []string{"certain", "possible", "overlap"} {
		batch.Queue("ALTER FUNCTION kproxy." + name + "(text, text, text, text) IMMUTABLE")
	}
	return tx.SendBatch(ctx, batch).Close()
}

// describeGeneration writes the keys of a table, and what of it has been described.
func describeGeneration(forTable func(sql string, arguments ...any), of described, nextClass int64) {
	forTable("DELETE FROM kproxy_catalog.described_key WHERE table_schema = $1 AND table_name = $2")
	forTable(`INSERT INTO kproxy_store.description (table_schema, table_name, generation, next_class) VALUES ($1, $2, $3, $4)
		ON CONFLICT (table_schema, table_name) DO UPDATE SET generation = excluded.generation, next_class = excluded.next_class`,
		of.generation, nextClass)
	for _, k := range of.description.Keys {
		forTable(`INSERT INTO kproxy_catalog.described_key (table_schema, table_name, constraint_name, columns, foreign_schema, foreign_table, release_index)
			VALUES ($1, $2, $3, $4, nullif($5, ''), nullif($6, ''), $7)`,
			k.Name, k.Columns, k.References.Schema, k.References.Relation, fmt.Sprintf("release_%d_%s", of.generation, k.Index()))
	}
}
