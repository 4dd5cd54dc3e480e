package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog/accept"
)

// react does what the watcher's finding asks for, at a commit boundary: one table is
// halted, or compared with its source, while the others go on in the same session.
func (a *applier) react(ctx context.Context) error {
	if a.found == nil {
		return nil
	}
	f, halt := *a.found, (*TableError)(nil)
	if errors.As(f.err, &halt) && halt.resync && max(a.streamPosition(), pglogrepl.LSN(a.session.shared.consumed.Load())) < f.at {
		return nil // the stream may tell of it yet
	}
	a.found = nil
	if f.err == nil {
		return a.adopt(ctx, f)
	}
	if halt == nil {
		return f.err
	}
	t := a.session.table(halt.Table)
	if t == nil {
		return nil // it is not applied any more
	}
	if f.table == t.layout.name() && t.truncations.explain(t.definition, f.definition) {
		return a.adopt(ctx, f)
	}
	if !halt.resync {
		if err := a.session.halt(ctx, halt); err != nil {
			return err
		}
	} else if err := a.withdraw(ctx, t, halt); err != nil {
		return err
	}
	a.session.watch()
	return a.bindAgain(ctx)
}

// withdraw takes a table out of the stream and has it compared with its source.
func (a *applier) withdraw(ctx context.Context, t *table, halt *TableError) error {
	a.session.syncer.config.Logger.Info("a table is compared with its source", "table", t.layout.name(), "reason", halt.What)
	if err := a.session.store.stopApplying(ctx, t.layout.name()); err != nil {
		return err
	}
	if err := a.session.store.recordHalt(ctx, a.session.store.conn, halt); err != nil {
		return err
	}
	a.session.tables = slices.DeleteFunc(a.session.tables, func(other *table) bool { return other == t })
	a.session.enqueue(t, halt.kind())
	status := a.session.syncer.Status().Tables[t.layout.name()]
	status.Preparing = true
	a.session.syncer.setTable(t.layout.name(), status)
	a.startJob()
	return nil
}

// adopt takes note of a definition that changes nothing in the rows that are known.
func (a *applier) adopt(ctx context.Context, f finding) error {
	t := a.session.table(f.table)
	if t == nil {
		return nil
	}
	t.definition = f.definition
	if err := accept.Save(ctx, a.session.store.conn, accept.KindTable, t.layout.name(), t.definition.bound); err != nil {
		return err
	}
	_, err := a.session.store.conn.Exec(ctx, `UPDATE kproxy_store.generation SET definition = $3 WHERE table_schema = $1 AND table_name = $2
		AND EXISTS (SELECT FROM kproxy_store.position WHERE slot = $4 AND epoch = $5)`,
		f.table.Schema, f.table.Relation, f.definition.text(), a.session.store.slot, a.session.store.epoch)
	if err != nil {
		return fmt.Errorf("noting the partitions of %s: %w", f.table, err)
	}
	a.session.watch()
	return a.bindAgain(ctx)
}
