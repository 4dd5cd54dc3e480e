package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// A mark says of a table whether readers see what they saw before (kproxy_catalog.mark): the
// transaction that changes what they see draws another one, and the proxy keeps answers for as long
// as the marks of what they were read from stay. A mark is random, so that none comes back, not even
// after the store was restored from a backup: the same mark is the same rows.
//
// It moves with what readers see and with nothing else. Where updates are guarded, whoever could
// notice that it has moved, by the time that a question takes, would learn of changes that are not
// published yet.
//
// Rows are changed through visibleStatements, the published view by put, hide, grant and revoke.
// These move the mark; there is no other way to change what readers see.

// markMoved draws a new mark for a table.
const markMoved = `INSERT INTO kproxy_catalog.mark (table_schema, table_name, mark) VALUES ($1, $2, gen_random_uuid())
	ON CONFLICT (table_schema, table_name) DO UPDATE SET mark = excluded.mark`

// moveMark is part of the transaction that changes which rows readers see, or whether they may.
func moveMark(ctx context.Context, on executor, name catalog.Name) error {
	if _, err := on.Exec(ctx, markMoved, name.Schema, name.Relation); err != nil {
		return fmt.Errorf("moving the mark of %s: %w", name, err)
	}
	return nil
}

// queue takes statements that are to be written.
type queue interface {
	Queue(sql string, arguments ...any)
	Copy(into string, rows []byte)
	Do(do func(ctx context.Context, tx pgx.Tx) error)
	Fail(err error)
}

// visibleStatements change what readers see of a table: its rows and their weights.
type visibleStatements struct {
	statements *statements
	moved      bool // there was one
}

// Queue adds a statement.
func (v *visibleStatements) Queue(sql string, arguments ...any) {
	v.moved = true
	v.statements.Queue(sql, arguments...)
}

// Copy adds rows, as statements.Copy.
func (v *visibleStatements) Copy(into string, rows []byte) {
	v.moved = v.moved || len(rows) > 0
	v.statements.Copy(into, rows)
}

// Do adds what changes rows, as statements.Do.
func (v *visibleStatements) Do(do func(ctx context.Context, tx pgx.Tx) error) {
	v.moved = true
	v.statements.Do(do)
}

// Fail ends the writing with an error.
func (v *visibleStatements) Fail(err error) { v.statements.Fail(err) }

// recordsShown says that the records that were written are what readers see.
func (v *visibleStatements) recordsShown() { v.moved = true }

// unseen is for what kproxy notes beside the release, where no reader looks.
func (v *visibleStatements) unseen() *statements { return v.statements }

// writeVisible queues what brings the release to where it was settled, and moves the mark if that is
// anything.
func (t *table) writeVisible(to *statements) {
	visible := visibleStatements{statements: to}
	t.mode.writeRelease(&visible)
	if visible.moved {
		to.Queue(markMoved, t.layout.name().Schema, t.layout.name().Relation)
	}
}
