package sync

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestStatementsOfReactions follows what becomes of what the watcher has found: of a table, or of
// something else, before the stream has told of it and afterwards.
func TestStatementsOfReactions(t *testing.T) {
	t.Parallel()
	react := func(change func(a *applier, of *table, f *finding)) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			a := memoryApplier()
			a.use(s)
			s.tables, a.session.position = []*table{of}, 100
			s.watch()
			a.relations.known[1000] = &relation{message: of.layout.describedAs(1000, "id", "person", "age", "zip", "sex", "job", "illness", "cost")}
			halt := &TableError{Table: of.layout.name(), What: "what", Fix: "fix", resync: true}
			a.found = &finding{table: of.layout.name(), err: halt, at: 100, definition: definition{root: 1000, rest: "other", bound: of.definition.bound}}
			change(a, of, a.found)
			err := a.react(ctx)
			bound := a.relations.known[1000].table == of
			return fmt.Sprintf("found %t, %d tables, %d jobs, %d ordered, %d watched, rest %q, bound %t; %s", a.found != nil, len(a.session.tables), len(a.session.jobs), len(a.joiner.worker.jobs),
				len(*a.session.shared.watching.Load()), of.definition.rest, bound, toldOf(a.session.syncer.Status().Tables)), err
		}
	}
	halt := func(f *finding) *TableError { return f.err.(*TableError) } //nolint:errorlint,forcetypeassert // as it was set
	holdConversations(t, "react.txt", []conversation{
		{name: "differs", do: react(func(*applier, *table, *finding) {})},
		{name: "differs, and is to be made afresh", do: react(func(_ *applier, _ *table, f *finding) { halt(f).afresh = true })},
		{name: "ahead of the stream", do: react(func(_ *applier, _ *table, f *finding) { f.at = 101 })},
		{name: "ahead of the position", do: react(func(a *applier, _ *table, f *finding) { f.at = 101; a.end = 101 })},
		{name: "ahead, but consumed", do: react(func(a *applier, _ *table, f *finding) { f.at = 101; a.session.shared.consumed.Store(101) })},
		{name: "halts", do: react(func(_ *applier, _ *table, f *finding) { halt(f).resync, f.at = false, 101 })},
		{name: "more partitions", do: react(func(_ *applier, _ *table, f *finding) { f.err = nil })},
		{name: "more partitions of what is not applied", do: react(func(a *applier, _ *table, f *finding) { f.err, a.session.tables = nil, nil })},
		{name: "what is not applied", do: react(func(a *applier, _ *table, _ *finding) { a.session.tables = nil })},
		{name: "something else", do: react(func(_ *applier, _ *table, f *finding) { f.err = errors.New("something else") })},
		{name: "truncated", do: react(func(_ *applier, of *table, f *finding) {
			of.definition = leavesOf(definition{rest: "rest"}, 1)
			f.definition = leavesOf(of.definition, 1)
			of.truncations = truncations{uint32(f.definition.by[0])}
		})},
		{name: "another one was truncated", do: react(func(_ *applier, of *table, f *finding) {
			of.definition = leavesOf(definition{rest: "rest"}, 1)
			f.definition = leavesOf(of.definition, 1)
			of.truncations = truncations{uint32(f.definition.by[0])}
			f.table = catalog.Name{Relation: "other"}
		})},
	})
	a := memoryApplier()
	if err := a.react(t.Context()); err != nil {
		t.Errorf("nothing is found: %v", err)
	}
}

// TestPartitionsAreBound has the stream describe relations that may be partitions of a table: one
// that was there is its leaf; of one that was attached since nothing can be applied.
func TestPartitionsAreBound(t *testing.T) {
	t.Parallel()
	columns := []string{"id", "person", "age", "zip", "sex", "job", "illness", "cost"}
	for _, test := range []struct {
		name        string
		kind        catalog.Kind
		oid         uint32
		root        int
		refused     bool
		bound, leaf bool
		err         bool
		asked       bool
	}{
		{name: "a leaf", kind: catalog.KindPartitionedTable, oid: 1001, bound: true, leaf: true},
		{name: "attached", kind: catalog.KindPartitionedTable, oid: 1002, root: 1000, bound: true, leaf: true, err: true, asked: true},
		{name: "of another", kind: catalog.KindPartitionedTable, oid: 1002, root: 2000, asked: true},
		{name: "a plain table", kind: catalog.KindTable, oid: 1002, root: 1000},
		{name: "in vain", kind: catalog.KindPartitionedTable, oid: 1002, root: 1000, refused: true, asked: true},
	} {
		of, plain := boundTable(t), boundTable(t)
		of.layout.publication.Relation.Kind, of.definition.leaves = test.kind, []uint32{1001}
		plain.layout.publication.Policy.Table.Relation, plain.layout.publication.Relation.OID = "plain", 3000
		state := ""
		if test.refused {
			state = insufficientPrivilege
		}
		m := newMemoryServer(t, answer{words: "pg_partition_root", rows: [][]any{{test.root}}, state: state})
		a := memoryApplier()
		a.use(m.session())
		for i, tables := range [][]*table{{of, plain}, {plain, of}} {
			a.session.tables = tables
			m.begin(-1)
			as := of.layout.describedAs(test.oid, columns...)
			as.RelationName = "partition"
			r, err := a.relations.bind(t.Context(), as)
			if (err != nil) != test.refused || (r.table == of) != test.bound || r.leaf != test.leaf || r.table == plain || (m.log() != "") != test.asked {
				t.Errorf("%s: %+v, %v, asked %q", test.name, r, err, m.log())
			}
			if (r.err != nil) != test.err && test.name != "a leaf" {
				t.Errorf("%s, %d: its rows end in %v", test.name, i, r.err)
			}
		}
	}
}
