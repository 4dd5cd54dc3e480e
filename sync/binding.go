package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// A policy speaks of columns by their names, and whoever may alter the table can give a name
// to another column. So what a table's columns are by their numbers is kept from when the
// operator accepted it (package accept), and nothing of the table is compared, stored or
// published before a look at the catalogs, newer than that, has found it the same.

// sourceTable reads the source of a table: what the catalogs say of it, compared with the
// policy and with what the operator accepted.
type sourceTable struct{ layout *layout }

func (t *layout) source() sourceTable { return sourceTable{t} }

// needs tells whether the policy names the column, in whatever role, or the store keeps it.
func (s sourceTable) needs(column string) bool {
	_, named := s.layout.publication.Policy.Column(column)
	return named || s.layout.columns.index(column) >= 0
}

// endPause is how soon it is looked again whether a transaction has ended.
const endPause = 2 * time.Millisecond

// examine reads what the table's columns are, once the transactions of the log after have ended
// for everybody: that of a synchronous standby's primary, say, can be in the log for longer.
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

// accepted is what was accepted of the table; it is accepted now where nothing was, and the
// table is one that the store does not know, or knows as it is configured.
func (s *store) accepted(ctx context.Context, t *table, g generation, known bool) (bound accept.Table, err error) {
	now, err := t.layout.source().examine(ctx, s.conn, accept.Whole)
	if err != nil {
		return bound, err
	}
	if !t.layout.source().isAsConfigured(now.Table) {
		// What the policy was compared with is not there: whatever that was, it says nothing.
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
			Fix: strings.ReplaceAll(fixAccept, "TABLE", t.layout.name().String()),
		}
	}
	if err != nil {
		return bound, err
	}
	return now.Table, accept.Save(ctx, s.conn, accept.KindTable, t.layout.name(), now.Table)
}

// isAsConfigured tells whether the table still has the columns that the policy was compared
// with.
func (s sourceTable) isAsConfigured(now accept.Table) bool {
	return !slices.ContainsFunc(s.layout.publication.Relation.Columns, func(c catalog.Column) bool {
		column, there := now.Column(c.Name)
		return s.needs(c.Name) && (!there || column.Number != c.Number || column.TypeOID != c.TypeOID || column.Modifier != c.Modifier)
	})
}

// settle binds a table that a snapshot has been taken of, while its definition is locked:
// what its columns are for queries is what they are now, whatever the snapshot shows. Both
// have to be the same, so that no column has come or gone since the snapshot.
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

// definitionCheck is what has to be found of a table before something of it is published.
type definitionCheck struct {
	table  *table
	bound  accept.Table
	detail accept.Detail
	after  []uint32 // transactions that may have altered it
}

// run looks at the table, later than all that is to be published of it. The error is a
// *TableError where it is not what was accepted, or where a column has gone by whose place
// the rows of the stream were read.
func (p definitionCheck) run(ctx context.Context, on querier) error {
	now, err := p.table.layout.source().examine(ctx, on, p.detail, p.after...)
	if err == nil {
		err = p.table.layout.source().judge(now, p.bound)
	}
	if err == nil && !p.bound.Holds(now.Table) {
		err = errDifferent(p.table.layout.name(), "a column was dropped")
	}
	if halt := (*TableError)(nil); err != nil && !errors.As(err, &halt) {
		return fmt.Errorf("looking at the columns of %s: %w", p.table.layout.name(), err)
	}
	return err
}
