package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// A policy names columns, and whoever may alter the table can give a name to another column. So
// the store keeps the columns by their numbers as the operator accepted them (package accept),
// and nothing of a table is compared, stored or published before a later look at the
// catalogs has found them unchanged.

// sourceTable reads the source of a table: what the catalogs say of it, compared with the
// policy and with what the operator accepted.
type sourceTable struct{ layout *layout }

func (t *layout) source() sourceTable { return sourceTable{t} }

// needs reports whether the policy names the column, in any role, or the store keeps it.
func (s sourceTable) needs(column string) bool {
	_, named := s.layout.publication.Policy.Column(column)
	return named || s.layout.columns.index(column) >= 0
}

// endPause is the interval at which examine checks whether a transaction has ended.
const endPause = 2 * time.Millisecond

// examine reads the table's columns after the transactions in after have ended for all sessions.
// A transaction can be in the log long before, if it waits for a synchronous standby.
func (s sourceTable) examine(ctx context.Context, on querier, detail accept.Detail, after ...uint32) (accept.Named, error) {
	for {
		now, err := accept.ReadTable(ctx, on, s.layout.publication.Relation.OID, detail, after...)
		switch {
		case errors.Is(err, accept.ErrNoTable):
			return now, errDropped(s.layout.name())
		case err != nil || now.Ended:
			return now, err
		}
		if err := sleep(ctx, endPause); err != nil {
			return now, err
		}
	}
}

// judge compares what the table is with what was accepted. The error is a *TableError.
func (s sourceTable) judge(now accept.Named, bound accept.Table) error {
	if now.Name != s.layout.name() {
		return errRenamed(s.layout, now.Name)
	}
	if changes := bound.Changes(now.Table, s.needs); len(changes) > 0 {
		return errChanged(s.layout.name(), changes)
	}
	return nil
}

// accepted returns what was accepted of the table. If nothing was, and the store does not know
// the table or knows it as configured, the table is accepted as it is now.
func (s *store) accepted(ctx context.Context, t *table, g generation, known bool) (bound accept.Table, err error) {
	now, err := t.layout.source().examine(ctx, s.source, accept.Whole)
	if err != nil {
		return bound, err
	}
	if !t.layout.source().isAsConfigured(now.Table) {
		// The policy was compared with another table.
		err = &TableError{Table: t.layout.name(), What: "it is not as it was when the configuration was compared with it", Fix: fixReload, heals: true}
	}
	found, loading := accept.Load(ctx, s.conn, accept.KindTable, t.layout.name(), &bound)
	if loading == nil && !found {
		_, found, loading = accept.LoadAs(ctx, s.conn, accept.KindTable, t.layout.publication.Relation.OID, &bound)
	}
	if loading != nil {
		return bound, loading
	}
	if found {
		return bound, errors.Join(t.layout.source().judge(now, bound), err)
	}
	if err == nil && known && !g.isMark() && !t.layout.fits(g) {
		err = &TableError{
			Table: t.layout.name(), What: "what its columns were when it was published is not known, and its policy or its columns have changed since",
			Fix: fixAccept,
		}
	}
	if err != nil {
		return bound, err
	}
	return now.Table, accept.Save(ctx, s.conn, accept.KindTable, t.layout.name(), now.Table)
}

// isAsConfigured reports whether the table still has the columns that the policy was compared
// with.
func (s sourceTable) isAsConfigured(now accept.Table) bool {
	return !slices.ContainsFunc(s.layout.publication.Relation.Columns, func(c catalog.Column) bool {
		column, there := now.Column(c.Name)
		return s.needs(c.Name) && (!there || column.Number != c.Number || column.TypeOID != c.TypeOID || column.Modifier != c.Modifier)
	})
}

// settle binds a table while its definition is locked. Queries are parsed by the present columns,
// whatever the snapshot shows; both must be the same, so that no column was added or dropped
// since the snapshot.
func (t *table) settle(ctx context.Context, present querier, snapshot accept.Table) error {
	now, err := t.layout.source().examine(ctx, present, accept.Whole)
	if err != nil {
		return err
	}
	if err := t.layout.source().judge(now, t.definition.bound); err != nil {
		return err
	}
	if !now.Table.Equal(snapshot) {
		return errRewritten
	}
	leaves, err := leavesEver(ctx, present, t.definition.bound, now.Table)
	t.definition.bound, t.definition.bound.Leaves = now.Table, leaves
	return err
}

// definitionCheck compares a table with what was accepted before anything of it is published.
type definitionCheck struct {
	table  *table
	bound  accept.Table
	sent   sentList
	detail accept.Detail
	after  []uint32 // transactions that may have altered it
}

// run reads the table later than all changes that are to be published. The error is a
// *TableError if it is not what was accepted, or if a column was dropped whose place in the
// description decided how rows of the stream were read.
func (p definitionCheck) run(ctx context.Context, on querier, publication string) error {
	now, err := p.table.layout.source().examine(ctx, on, p.detail, p.after...)
	if err == nil {
		err = p.table.layout.source().judge(now, p.bound)
	}
	if err == nil && !p.bound.Holds(now.Table) {
		err = errDifferent(p.table.layout.name(), "a column was dropped")
	}
	if err == nil {
		err = p.sent.stays(ctx, on, p.table, publication)
	}
	if halt := (*TableError)(nil); err != nil && !errors.As(err, &halt) {
		return fmt.Errorf("looking at the columns of %s: %w", p.table.layout.name(), err)
	}
	return err
}
