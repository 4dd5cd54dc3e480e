package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// relation is one relation as the stream describes it.
type relation struct {
	table *table // nil: none that is applied
	leaf  bool   // it is a partition of the table
	place []int  // for each stored column, its place in the stream's tuple
	// stored is for each column of the stream's tuple its index among the stored ones, -1
	// for none.
	stored []int
	// err is why its rows cannot be applied. It counts once a row is to be: what is
	// described may lie before the table's position.
	err     error
	message *pglogrepl.RelationMessage
}

// describe takes note of a relation.
func (a *applier) describe(ctx context.Context, m *pglogrepl.RelationMessage) error {
	r, err := a.bind(ctx, m)
	a.relations[m.RelationID] = r
	return err
}

// bindAgain finds the tables of all relations anew, after some have come or gone.
func (a *applier) bindAgain(ctx context.Context) error {
	for _, r := range a.relations {
		if err := a.describe(ctx, r.message); err != nil {
			return err
		}
	}
	return nil
}

// bind finds the table that a relation is, or is a partition of. A protected table must
// be the one that was published, with the columns that the store keeps.
func (a *applier) bind(ctx context.Context, m *pglogrepl.RelationMessage) (*relation, error) {
	r := &relation{message: m}
	oid, named, partitioned := catalog.OID(m.RelationID), catalog.Name{Schema: m.Namespace, Relation: m.RelationName}, false
	for _, t := range a.session.tables {
		partitioned = partitioned || t.layout.publication.Relation.Kind == catalog.KindPartitionedTable
		switch {
		case t.layout.publication.Relation.OID == oid:
			if r.table = t; t.layout.name() != named {
				r.err = errRenamed(&t.layout, named)
				return r, nil
			}
		case slices.Contains(t.definition.leaves, uint32(oid)):
			r.table, r.leaf = t, true
		case t.layout.name() == named:
			r.table, r.err = t, &TableError{Table: t.layout.name(), What: "it was replaced by another of its name", Fix: fixReload}
			return r, nil
		}
	}
	if r.table == nil && partitioned {
		var err error
		if r.table, err = a.attached(ctx, oid); err != nil || r.table == nil {
			return r, err
		}
		r.leaf, r.err = true, errDifferent(r.table.layout.name(), "a partition was attached")
		return r, nil
	}
	if r.table != nil {
		if !r.described() {
			r.err = errDifferent(r.table.layout.name(), "the stream describes its columns otherwise than they were when its rows were compared with their source")
			return r, nil
		}
		r.place, r.err = r.table.layout.source().places(m.Columns)
		r.stored = make([]int, len(m.Columns))
		for i := range r.stored {
			r.stored[i] = slices.Index(r.place, i)
		}
	}
	return r, nil
}

// described tells whether the stream describes the columns that were accepted of the table,
// by their names, types and order.
func (r *relation) described() bool {
	sent, leaf := make([]accept.Sent, len(r.message.Columns)), uint32(0)
	for i, c := range r.message.Columns {
		sent[i] = accept.Sent{Name: c.Name, TypeOID: c.DataType, Modifier: c.TypeModifier}
	}
	if r.leaf {
		leaf = r.message.RelationID
	}
	return r.table.definition.bound.Describes(leaf, sent)
}

// attached finds the table that a partition belongs to which was attached after the
// table had been looked at; nil for none.
func (a *applier) attached(ctx context.Context, leaf catalog.OID) (*table, error) {
	if err := a.awaitBatches(ctx); err != nil {
		return nil, err
	}
	var root uint32
	err := a.session.store.conn.QueryRow(ctx, "SELECT coalesce(pg_catalog.pg_partition_root($1::oid::regclass)::oid, 0)", uint32(leaf)).Scan(&root)
	if err != nil {
		return nil, fmt.Errorf("looking for the table of a partition: %w", err)
	}
	for _, t := range a.session.tables {
		if t.layout.publication.Relation.OID == catalog.OID(root) {
			return t, nil
		}
	}
	return nil, nil
}

// places finds the stored columns among those of the stream.
func (s sourceTable) places(columns []*pglogrepl.RelationMessageColumn) ([]int, error) {
	at := make(map[string]int, len(columns))
	for i, c := range columns {
		at[c.Name] = i
	}
	places := make([]int, len(s.layout.columns))
	for i, c := range s.layout.columns {
		place, ok := at[c.Name]
		if !ok {
			return nil, errColumnGone(s.layout.name(), c.Name)
		}
		if now := columns[place]; catalog.OID(now.DataType) != c.TypeOID || now.TypeModifier != c.Modifier {
			return nil, errRetyped(s.layout.name(), c.Name)
		}
		places[i] = place
	}
	return places, nil
}

func (a *applier) relation(id uint32) (*relation, error) {
	r, described := a.relations[id]
	if !described {
		return nil, internal(errors.New("the stream speaks of a relation it did not describe"))
	}
	return r, nil
}

func quotePublication(name string) string {
	return `'` + strings.ReplaceAll(catalog.QuoteIdentifier(name), `'`, `''`) + `'`
}
