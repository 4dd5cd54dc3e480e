package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// A table that somebody has altered is halted, and the configuration is compared with what
// it has become: at the next audit, by a reload, at a start. When the alteration is taken
// back that comparison is out of date, and so is an audit's finding about a table that has
// gone on meanwhile. So the definitions of tables that are halted, or about which an audit
// found errors, are looked at more often than they are audited, and audited at once where
// they have changed.

// unservedTimeout bounds one look at them.
const unservedTimeout = 5 * time.Second

// shapes are the definitions of such tables, as texts that can be compared; empty of one
// that is not there.
type shapes map[catalog.Name]string

// unserved are such tables as this process knows them. It belongs to watch, which has
// one look at a time run in a goroutine of its own.
type unserved struct {
	// audited are the shapes that the last audit has seen, or later ones.
	audited shapes
	looking bool
	looked  chan shapes // nil where they could not be read
}

func newUnserved() unserved { return unserved{looked: make(chan shapes, 1)} }

// begin has the definitions of tables read that are halted or broken, unless that is under
// way. The result goes to takeIn.
func (u *unserved) begin(ctx context.Context, c *config.Config, tables map[catalog.Name]ksync.TableStatus, broken map[catalog.Name]inspect.Report) {
	var names []catalog.Name
	for _, t := range c.Policy.Tables {
		if tables[t.Table].State == ksync.Halted || len(broken[t.Table]) > 0 {
			names = append(names, t.Table)
		}
	}
	if len(names) == 0 {
		u.audited = nil // a table that is added later is audited
	}
	if u.looking || len(names) == 0 {
		return
	}
	u.looking = true
	go func() {
		ctx, cancel := context.WithTimeout(ctx, unservedTimeout)
		defer cancel()
		u.looked <- shapesNow(ctx, c, names)
	}()
}

// takeIn takes what was read, and reports whether a table is not what the last audit has
// seen, or has not been audited.
func (u *unserved) takeIn(found shapes) bool {
	u.looking = false
	if found == nil {
		return false
	}
	before := u.audited
	u.audited = found
	for name, shape := range found {
		if was, known := before[name]; !known || was != shape {
			return true
		}
	}
	return false
}

// shapesSQL reads what samePublication compares: the table itself, its columns and its keys; and
// whether its rows can be read and replicated.
const shapesSQL = `SELECT w.schema, w.relation, coalesce((SELECT pg_catalog.concat_ws(' ', c.oid, c.relkind, c.relpersistence,
		pg_catalog.row_security_active(c.oid), pg_catalog.has_table_privilege(c.oid, 'SELECT'), pg_catalog.has_schema_privilege(n.oid, 'USAGE'),
		(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation, a.attnotnull), ',' ORDER BY a.attnum)
			FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
		(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', i.indexrelid, i.indkey, i.indisprimary, i.indisreplident), ',' ORDER BY i.indexrelid)
			FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique))
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = w.schema AND c.relname = w.relation), '')
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS w(schema, relation)`

// shapesNow is nil where the shapes cannot be read, which the next audit tells of.
func shapesNow(ctx context.Context, c *config.Config, names []catalog.Name) shapes {
	conn, err := upstream.ConnectSource(ctx, c)
	if err != nil {
		return nil
	}
	defer conn.Close(context.WithoutCancel(ctx))
	found, err := readShapes(ctx, conn, names)
	if err != nil {
		return nil
	}
	return found
}

func readShapes(ctx context.Context, conn *pgx.Conn, names []catalog.Name) (shapes, error) {
	schemas, relations := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		schemas[i], relations[i] = name.Schema, name.Relation
	}
	rows, _ := conn.Query(ctx, shapesSQL, schemas, relations) // the rows carry its error
	found := make(shapes, len(names))
	var name catalog.Name
	var shape string
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &shape}, func() error {
		found[name] = shape
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at tables that are not served: %w", err)
	}
	return found, nil
}

// heal returns the publications with those of tables replaced that were halted while the
// configuration did not fit them, and that it fits now: somebody has taken an alteration back.
// It reports whether there are any.
func (s *served) heal(now []catalog.Publication, tables map[catalog.Name]ksync.TableStatus) (next []catalog.Publication, healed bool) {
	next = slices.Clone(s.publications)
	for i, before := range next {
		at := slices.IndexFunc(now, func(p catalog.Publication) bool { return p.Policy.Table == before.Policy.Table })
		if at < 0 || tables[before.Policy.Table].State != ksync.Halted || samePublication(before, now[at]) {
			continue
		}
		next[i], healed = now[at], true
		delete(s.broken, before.Policy.Table)
	}
	s.publications = next
	return next, healed
}

// changed reports the tables that are no longer the ones being applied: the
// stream tells nothing of columns that were dropped and added again, or of a
// table that was put in another's place.
func (s *served) changed(now []catalog.Publication) inspect.Report {
	var report inspect.Report
	for _, applied := range s.publications {
		if !slices.ContainsFunc(now, func(p catalog.Publication) bool { return samePublication(p, applied) }) {
			report = append(report, inspect.Finding{
				Severity: inspect.Error, Code: check.CodeTableChanged, Table: applied.Policy.Table,
				What: "the table is not as it was when it was published", Fix: "run 'kproxy reload': kproxy looks at the table afresh",
			})
		}
	}
	return report
}

// samePublication tells whether the table is the same, as far as its release depends
// on it.
func samePublication(a, b catalog.Publication) bool {
	return a.Policy.Table == b.Policy.Table && a.Relation.OID == b.Relation.OID &&
		slices.Equal(a.Relation.Key, b.Relation.Key) && slices.Equal(a.StoredColumns(), b.StoredColumns())
}
