package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

func leavesOf(d definition, leaves ...uint32) definition {
	d.leaves = leaves
	d.states, d.by = nil, nil
	for _, leaf := range leaves {
		d.states, d.by = append(d.states, fmt.Sprint("file ", leaf)), append(d.by, 7)
	}
	return d
}

// TestDefinitionsDiffer changes one thing of a definition at a time: each makes another text,
// but for what is no part of it, and what the text tells can be read from it.
func TestDefinitionsDiffer(t *testing.T) {
	t.Parallel()
	before := leavesOf(definition{root: 4000000000, rest: "rest", labels: []string{"calm", "wild"}}, 1, 2)
	stored := before.text()
	if rootOf(stored) != 4000000000 || rootOf("") != 0 || rootOf("digest/no number []") != 0 {
		t.Errorf("the relation of %q is %d", stored, rootOf(stored))
	}
	of := memoryTable(t, sizeOnly(3))
	guarded := memoryTable(t, sizeOnly(3))
	guarded.layout.publication.Policy.Updates.Mode = catalog.Guarded
	for name, test := range map[string]struct {
		change          func(*definition)
		same, relabeled bool
	}{
		"nothing":         {func(*definition) {}, true, false},
		"transactions":    {func(d *definition) { d.by = []int64{8, 9} }, true, false},
		"what was bound":  {func(d *definition) { d.bound = accept.Table{OID: 9} }, true, false},
		"relation":        {func(d *definition) { d.root = 5 }, false, false},
		"rest":            {func(d *definition) { d.rest = "other" }, false, false},
		"a leaf more":     {func(d *definition) { *d = leavesOf(*d, 1, 2, 3) }, false, false},
		"a leaf less":     {func(d *definition) { *d = leavesOf(*d, 1) }, false, false},
		"another file":    {func(d *definition) { d.states[1] = "file 3" }, false, false},
		"a label renamed": {func(d *definition) { d.labels = []string{"calm", "mad"} }, false, true},
		"a label more":    {func(d *definition) { d.labels = []string{"calm", "sad", "wild"} }, false, false},
		"a label less":    {func(d *definition) { d.labels = []string{"wild"} }, false, true},
	} {
		now := leavesOf(before, before.leaves...)
		now.labels = slices.Clone(before.labels)
		if test.change(&now); (now.text() == stored) != test.same || now.relabeled(stored) != test.relabeled {
			t.Errorf("%s: %q and %q, relabeled %t", name, stored, now.text(), now.relabeled(stored))
		}
		// Labels that were renamed are published as they were: a guarded table cannot go on.
		if e := of.layout.source().differs(now, stored); !e.resync || e.afresh != test.relabeled || e.Table != of.layout.name() {
			t.Errorf("%s: %+v", name, e)
		}
		if e := guarded.layout.source().differs(now, stored); e.resync == test.relabeled || e.afresh != test.relabeled {
			t.Errorf("%s of a guarded table: %+v", name, e)
		}
	}
}

// TestGrown tells which leaves have come where nothing else has changed.
func TestGrown(t *testing.T) {
	t.Parallel()
	before := leavesOf(definition{rest: "rest"}, 1, 2)
	for _, test := range []struct {
		now  definition
		more []uint32
		only bool
	}{
		{leavesOf(before, 1, 2), nil, true},
		{leavesOf(before, 1, 2, 3, 4), []uint32{3, 4}, true},
		{leavesOf(before, 0, 1, 2), []uint32{0}, true},
		{leavesOf(before, 1, 3), nil, false},
		{leavesOf(before, 1), nil, false},
		{leavesOf(definition{rest: "other"}, 1, 2, 3), nil, false},
		{definition{rest: "rest", leaves: []uint32{1, 2}, states: []string{"file 1", "rewritten"}}, nil, false},
	} {
		if more, only := test.now.grown(before); only != test.only || only && !slices.Equal(more, test.more) {
			t.Errorf("%+v has grown by %v, %t", test.now, more, only)
		}
	}
}

// describedAs is how the stream describes a table with these columns, each of its accepted
// type.
func (t *layout) describedAs(oid uint32, columns ...string) *pglogrepl.RelationMessage {
	m := &pglogrepl.RelationMessage{RelationID: oid, Namespace: "public", RelationName: "visits"}
	for _, name := range columns {
		c, known := t.publication.Relation.Column(name)
		if !known {
			c = catalog.Column{TypeOID: 25, Modifier: -1}
		}
		m.Columns = append(m.Columns, &pglogrepl.RelationMessageColumn{Name: name, DataType: uint32(c.TypeOID), TypeModifier: c.Modifier})
	}
	return m
}

// boundTable is a table that was accepted with the columns of its relation.
func boundTable(t *testing.T) *table {
	t.Helper()
	return boundAs(t, sizeOnly(3))
}

// boundAs is such a table under some policy.
func boundAs(t *testing.T, policy catalog.TablePolicy) *table {
	t.Helper()
	of := memoryTable(t, policy)
	of.definition.bound.OID = of.layout.publication.Relation.OID
	for _, c := range of.layout.publication.Relation.Columns {
		of.definition.bound.Columns = append(of.definition.bound.Columns, accept.Column{Number: c.Number, Name: c.Name, Type: c.Type, TypeOID: c.TypeOID, Modifier: c.Modifier})
	}
	return of
}

// TestRelationsAreBound has the stream describe relations: rows are taken only of one that is
// the table by number and name, with all columns that were accepted, in their order and of
// their types. What cannot be taken ends in an error of the table when a row comes.
func TestRelationsAreBound(t *testing.T) {
	t.Parallel()
	columns := []string{"id", "person", "age", "zip", "sex", "job", "illness", "cost"}
	swapped := slices.Clone(columns)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	of := boundTable(t)
	for name, test := range map[string]struct {
		change      func(*pglogrepl.RelationMessage)
		columns     []string
		known, good bool
	}{
		"as accepted":        {nil, columns, true, true},
		"with one more":      {nil, append(slices.Clone(columns), "email"), true, true},
		"with one more amid": {nil, append([]string{"email"}, columns...), true, false},
		"with one less":      {nil, columns[:7], true, false},
		"swapped":            {nil, swapped, true, false},
		"retyped":            {func(m *pglogrepl.RelationMessage) { m.Columns[2].DataType = 20 }, columns, true, false},
		"another modifier":   {func(m *pglogrepl.RelationMessage) { m.Columns[7].TypeModifier = 8 }, columns, true, false},
		"renamed":            {func(m *pglogrepl.RelationMessage) { m.RelationName = "stays" }, columns, true, false},
		"moved":              {func(m *pglogrepl.RelationMessage) { m.Namespace = "private" }, columns, true, false},
		"replaced":           {func(m *pglogrepl.RelationMessage) { m.RelationID = 999 }, columns, true, false},
		"something else":     {func(m *pglogrepl.RelationMessage) { m.RelationID, m.RelationName = 999, "stays" }, columns, false, true},
	} {
		a := memoryApplier(of)
		m := of.layout.describedAs(1000, test.columns...)
		if test.change != nil {
			test.change(m)
		}
		if err := a.relations.describe(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		a.transaction.commitAt = 50
		r, err := a.relations.find(m.RelationID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.relations.tableOf(r, &a.transaction)
		if (got != nil) != test.known || (err == nil) != test.good {
			t.Errorf("%s: table %t, %v", name, got != nil, err)
		}
	}
	a := memoryApplier(of)
	if _, err := a.relations.find(1); err == nil {
		t.Error("a relation is known that was not described")
	}
}

// TestRowsAreReadByTheirColumns cuts rows of the stream whose columns stand in any order, with
// others among them: each value goes to the stored column of its name.
func TestRowsAreReadByTheirColumns(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	random := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		sent := []string{"id", "person", "age", "zip", "sex", "job", "illness", "cost", "email", "phone"}
		random.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
		m := of.layout.describedAs(1000, sent...)
		places, err := of.layout.source().places(m.Columns)
		if err != nil {
			t.Fatal(err)
		}
		r := &relation{table: of, place: places, message: m, stored: make([]int, len(sent))}
		text := []byte{newTuple, 0, byte(len(sent))}
		for i, name := range sent {
			r.stored[i] = slices.Index(places, i)
			text = append(append(text, textColumn, 0, 0, 0, byte(len(name))), name...)
		}
		c, err := r.change(&messageReader{rest: text})
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range of.layout.columns {
			if c.new[i] != (value{text: column.Name}) {
				t.Fatalf("column %s has the value of %q", column.Name, c.new[i].text)
			}
		}
	}
	for _, missing := range of.layout.columns {
		m := of.layout.describedAs(1000, "id", "person", "age", "zip", "sex", "job", "illness", "cost")
		m.Columns = slices.DeleteFunc(m.Columns, func(c *pglogrepl.RelationMessageColumn) bool { return c.Name == missing.Name })
		if _, err := of.layout.source().places(m.Columns); err == nil {
			t.Errorf("rows without %s are taken", missing.Name)
		}
		m = of.layout.describedAs(1000, "id", "person", "age", "zip", "sex", "job", "illness", "cost")
		for _, c := range m.Columns {
			if c.Name == missing.Name {
				c.TypeModifier = 77
			}
		}
		if _, err := of.layout.source().places(m.Columns); err == nil {
			t.Errorf("rows with another %s are taken", missing.Name)
		}
	}
}
