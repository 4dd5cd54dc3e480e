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
	// err is why its rows cannot be applied. It is returned when a row is to be applied, as the
	// description may be before the table's position.
	err     error
	message *pglogrepl.RelationMessage
}

// relations are those that the stream has described, and their tables. They belong to the
// applier's goroutine.
type relations struct {
	session *session
	// release waits until the store's connection is free.
	release    func(context.Context) error
	known      map[uint32]*relation
	lastChange map[uint32]pglogrepl.LSN // of each relation: where the last commit begins that changed it
}

func newRelations(s *session, release func(context.Context) error) relations {
	return relations{session: s, release: release, known: make(map[uint32]*relation), lastChange: make(map[uint32]pglogrepl.LSN)}
}

// describe records the description of a relation.
func (r *relations) describe(ctx context.Context, m *pglogrepl.RelationMessage) error {
	of, err := r.bind(ctx, m)
	r.known[m.RelationID] = of
	return err
}

// bindAgain finds the tables of all relations anew, after some have come or gone.
func (r *relations) bindAgain(ctx context.Context) error {
	for _, of := range r.known {
		if err := r.describe(ctx, of.message); err != nil {
			return err
		}
	}
	return nil
}

// bind finds the table that a relation is, or is a partition of. A protected table must
// be the one that was published, with the columns that the store keeps.
func (r *relations) bind(ctx context.Context, m *pglogrepl.RelationMessage) (*relation, error) {
	of := &relation{message: m}
	oid, named, partitioned := catalog.OID(m.RelationID), catalog.Name{Schema: m.Namespace, Relation: m.RelationName}, false
	for _, t := range r.session.tables {
		partitioned = partitioned || t.layout.publication.Relation.Kind == catalog.KindPartitionedTable
		switch {
		case t.layout.publication.Relation.OID == oid:
			if of.table = t; t.layout.name() != named {
				of.err = errRenamed(&t.layout, named)
				return of, nil
			}
		case slices.Contains(t.definition.leaves, uint32(oid)):
			of.table, of.leaf = t, true
		case t.layout.name() == named:
			of.table, of.err = t, &TableError{Table: t.layout.name(), What: "it was replaced by another of its name", Fix: fixReload}
			return of, nil
		}
	}
	if of.table == nil && partitioned {
		var err error
		if of.table, err = r.attached(ctx, oid); err != nil || of.table == nil {
			return of, err
		}
		of.leaf, of.err = true, errDifferent(of.table.layout.name(), "a partition was attached")
		return of, nil
	}
	if of.table != nil {
		if !of.described() {
			of.err = errDifferent(of.table.layout.name(), "the stream describes its columns otherwise than they were when its rows were compared with their source")
			return of, nil
		}
		of.place, of.err = of.table.layout.source().places(m.Columns)
		of.stored = make([]int, len(m.Columns))
		for i := range of.stored {
			of.stored[i] = slices.Index(of.place, i)
		}
	}
	return of, nil
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
	return r.table.definition.sent.of(r.table.definition.bound).Describes(leaf, sent)
}

// attached finds the table of a partition that was attached after the definition of the table
// was read; nil for none.
func (r *relations) attached(ctx context.Context, leaf catalog.OID) (*table, error) {
	if err := r.release(ctx); err != nil {
		return nil, err
	}
	var root uint32
	err := r.session.store.source.QueryRow(ctx, "SELECT coalesce(pg_catalog.pg_partition_root($1::oid::regclass)::oid, 0)", uint32(leaf)).Scan(&root)
	if err != nil {
		return nil, fmt.Errorf("looking for the table of a partition: %w", err)
	}
	for _, t := range r.session.tables {
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

// tableOf is the table that a relation's changes belong to in a transaction of the source, and
// records that the relation has changed; see [transaction.tableOf].
func (r *relations) tableOf(of *relation, in *transaction) (*table, error) {
	r.lastChange[of.message.RelationID] = in.commitAt
	return in.tableOf(of)
}

func (r *relations) find(id uint32) (*relation, error) {
	of, described := r.known[id]
	if !described {
		return nil, internal(errors.New("the stream speaks of a relation it did not describe"))
	}
	return of, nil
}

// missed reports whether the stream has had changes of the table since its snapshot. The
// partitions of a partitioned table are not known for certain meanwhile.
func (r *relations) missed(n *preparedTable) bool {
	relation := n.job.publication.Relation
	for oid, last := range r.lastChange {
		if last < n.at {
			continue
		}
		of := r.known[oid]
		another := of != nil && of.table != nil && of.table.layout.name() != n.job.publication.Policy.Table
		if catalog.OID(oid) == relation.OID || relation.Kind == catalog.KindPartitionedTable && !another {
			return true
		}
	}
	return false
}

// adopt records a definition that leaves the known rows as they are.
func (r *relations) adopt(ctx context.Context, f finding) error {
	t := r.session.tables.find(f.table)
	if t == nil {
		return nil
	}
	t.definition = f.definition
	if err := accept.Save(ctx, r.session.store.conn, accept.KindTable, t.layout.name(), t.definition.bound); err != nil {
		return err
	}
	_, err := r.session.store.conn.Exec(ctx, `UPDATE kproxy_store.generation SET definition = $3 WHERE table_schema = $1 AND table_name = $2
		AND EXISTS (SELECT FROM kproxy_store.position WHERE slot = $4 AND epoch = $5)`,
		f.table.Schema, f.table.Relation, f.definition.text(), r.session.store.slot, r.session.store.epoch)
	if err != nil {
		return fmt.Errorf("noting the partitions of %s: %w", f.table, err)
	}
	r.session.watch()
	return r.bindAgain(ctx)
}

func quotePublication(name string) string {
	return `'` + strings.ReplaceAll(catalog.QuoteIdentifier(name), `'`, `''`) + `'`
}
