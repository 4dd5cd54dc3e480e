package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// A table that somebody has altered is halted, and the configuration is compared with what
// it has become: at the next audit, by a reload, at a start. When the alteration is taken
// back that comparison is out of date. So the definitions of halted tables are looked at
// more often than they are audited, and audited at once where they have changed.

// haltedTimeout bounds one look at them.
const haltedTimeout = 5 * time.Second

// shapes are the definitions of halted tables, as texts that can be compared; empty of one
// that is not there.
type shapes map[catalog.Name]string

// halted are the halted tables as this process knows them. It belongs to watch, which has
// one look at a time run in a goroutine of its own.
type halted struct {
	// audited are the shapes that the last audit has seen, or later ones.
	audited shapes
	looking bool
	looked  chan shapes // nil where they could not be read
}

func newHalted() halted { return halted{looked: make(chan shapes, 1)} }

// beginLookAtHalted has the definitions of halted tables read, if they are not at the
// moment. What comes of it is given to changedWhileHalted.
func (d *Daemon) beginLookAtHalted(ctx context.Context) {
	names := d.haltedTables()
	if d.halted.looking || len(names) == 0 {
		return
	}
	d.halted.looking = true
	c := d.config
	go func() {
		ctx, cancel := context.WithTimeout(ctx, haltedTimeout)
		defer cancel()
		d.halted.looked <- shapesNow(ctx, c, names)
	}()
}

// changedWhileHalted takes in what a look has found. It tells whether a halted table is not
// what the last audit has seen, if that has seen it.
func (h *halted) changedWhileHalted(found shapes) bool {
	h.looking = false
	if found == nil {
		return false
	}
	before := h.audited
	h.audited = found
	for name, shape := range found {
		if was, known := before[name]; !known || was != shape {
			return true
		}
	}
	return false
}

func (d *Daemon) haltedTables() []catalog.Name {
	var names []catalog.Name
	tables := d.syncer.Status().Tables
	for _, t := range d.config.Policy.Tables {
		if tables[t.Table].State == ksync.Halted {
			names = append(names, t.Table)
		}
	}
	if len(names) == 0 {
		d.halted.audited = nil // whichever is halted next is audited
	}
	return names
}

// shapesSQL reads what samePublication compares: the table itself, its columns and its keys.
const shapesSQL = `SELECT w.schema, w.relation, coalesce((SELECT pg_catalog.concat_ws(' ', c.oid, c.relkind,
		(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation, a.attnotnull), ',' ORDER BY a.attnum)
			FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
		(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', i.indexrelid, i.indkey, i.indisprimary, i.indisreplident), ',' ORDER BY i.indexrelid)
			FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique))
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = w.schema AND c.relname = w.relation), '')
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS w(schema, relation)`

// shapesNow is nil where the shapes cannot be read, which the next audit tells of.
func shapesNow(ctx context.Context, c *config.Config, names []catalog.Name) shapes {
	conn, err := connectOwner(ctx, c)
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
	rows, err := conn.Query(ctx, shapesSQL, schemas, relations)
	if err != nil {
		return nil, fmt.Errorf("looking at halted tables: %w", err)
	}
	found := make(shapes, len(names))
	var name catalog.Name
	var shape string
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &shape}, func() error {
		found[name] = shape
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at halted tables: %w", err)
	}
	return found, nil
}

// heal has replication look again at tables that were halted while the configuration did
// not fit them, and that it fits now: whoever altered a table has taken that back.
func (d *Daemon) heal(now []catalog.Publication) {
	tables := d.syncer.Status().Tables
	healed := false
	next := slices.Clone(d.publications)
	for i, before := range next {
		at := slices.IndexFunc(now, func(p catalog.Publication) bool { return p.Policy.Table == before.Policy.Table })
		if at < 0 || tables[before.Policy.Table].State != ksync.Halted || samePublication(before, now[at]) {
			continue
		}
		next[i], healed = now[at], true
		delete(d.broken, before.Policy.Table)
	}
	if healed {
		d.publications = next
		d.syncer.Reload(next)
	}
}
