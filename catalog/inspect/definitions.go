package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Definitions are the definitions of views as they were last read. They are used while a session holds an
// exclusive lock on a view, or on what it reads, as long as nothing that they are written from
// has changed. The zero value has none.
type Definitions struct{ last map[catalog.OID]definition }

type definition struct {
	OID         uint32
	Rule, Made  string // see catalog.ReadableRelation
	WrittenFrom string
	Blocker     string // who keeps it from being read, in words; empty for nobody
	Definition  string
}

// definitionWait bounds the wait for a lock that was taken a moment ago.
const definitionWait = "SET LOCAL lock_timeout = '300ms'"

// read reads the definitions of the views, in a transaction. If a lock keeps it from one for too long, it
// returns an error with the code 55P03.
func (d *Definitions) read(ctx context.Context, conn *pgx.Conn, views []catalog.OID) error {
	if len(views) == 0 {
		d.last = nil
		return nil
	}
	if _, err := conn.Exec(ctx, definitionWait); err != nil {
		return fmt.Errorf("bounding how long locks are waited for: %w", err)
	}
	rows, err := collect[definition](ctx, conn, "definitions", views)
	if err != nil {
		return err
	}
	before := d.last
	d.last = make(map[catalog.OID]definition, len(rows))
	for _, row := range rows {
		known, was := before[catalog.OID(row.OID)]
		if row.Blocker != "" && was && known.Blocker == "" && known.WrittenFrom == row.WrittenFrom {
			row = known
		}
		d.last[catalog.OID(row.OID)] = row
	}
	return nil
}
