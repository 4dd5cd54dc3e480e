package sync

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// layout is a table's shape: its columns, their roles and its policy. It does not change after
// newTable, so any goroutine may read it.
type layout struct {
	publication catalog.Publication
	kept        catalog.Publication // with all columns that its rows have: see keptOf
	digest      string              // of what is published, and of what
	former      string              // the digest that stores of earlier versions may have
	// lineageDigest is that of all but the audiences; empty where updates are not guarded.
	lineageDigest string
	lineage       *catalog.Lineage    // by which a guarded table goes on; nil where its links are the policy's audiences
	configured    catalog.Publication // the publication without links that nobody sees, where there is a lineage
	unlinked      string              // why the lineage cannot go on, where only audiences have changed
	promise       promise
	columns       storedColumns
	key           []int // indexes into columns
	qi            []int // indexes into columns, one for each attribute
	sensitive     []int // indexes into columns, one for each attribute that constraints speak of
	subject       int   // index into columns, -1 where each record is another person's
	copied        []int // indexes into columns of what is published as it is; only for guarded publication
	kin           kinColumns
	attributes    []anonymizer.Attribute
	constraints   privacy.ConstraintSet
	method        anonymizer.Method
	audiences     []audience
}

// layOut fills columns and the indexes into them.
func (t *layout) layOut() {
	stored := t.publication.StoredColumns()
	for _, c := range t.publication.Relation.Columns {
		isKey := slices.Contains(t.publication.Relation.Key, c.Name)
		if isKey || slices.ContainsFunc(stored, func(s catalog.Column) bool { return s.Name == c.Name }) {
			t.columns = append(t.columns, c)
		}
	}
	for _, name := range t.publication.Relation.Key {
		t.key = append(t.key, t.columns.index(name))
	}
	for _, a := range t.publication.Attributes {
		t.qi = append(t.qi, t.columns.index(a.Column))
	}
	for _, s := range t.publication.Sensitive {
		t.sensitive = append(t.sensitive, t.columns.index(s.Column))
	}
	t.subject = t.columns.index(t.publication.Policy.Subject)
	if t.isGuarded() && !t.isLinked() {
		for _, c := range t.publication.Copied() {
			t.copied = append(t.copied, t.columns.index(c.Source))
		}
	}
	t.kin = t.kinColumns()
}

func (t *layout) name() catalog.Name { return t.publication.Policy.Table }

func (t *layout) isGuarded() bool { return t.publication.Policy.Updates.Mode == catalog.Guarded }

// isLinked tells whether the table is released together with others.
func (t *layout) isLinked() bool { return t.publication.Membership != nil }

// codedColumns are the indexes of the columns that the stage or the key map
// needs, each once: what has to travel from the server into memory.
func (t *layout) codedColumns() []int {
	wanted := make([]bool, len(t.columns))
	for _, list := range [][]int{t.key, t.qi, t.sensitive, t.subjectColumn(), t.copied, t.kin.own, t.kin.of} {
		for _, i := range list {
			wanted[i] = true
		}
	}
	var columns []int
	for i, w := range wanted {
		if w {
			columns = append(columns, i)
		}
	}
	return columns
}

// subjectColumn is the index of the column that names the person, if there is one.
func (t *layout) subjectColumn() []int {
	if t.subject < 0 {
		return nil
	}
	return []int{t.subject}
}

// storedColumns are those that the store keeps: key and stored columns, in the order of the
// source.
type storedColumns []catalog.Column

// index is that of the column with a name; -1 for none.
func (c storedColumns) index(name string) int {
	return slices.IndexFunc(c, func(column catalog.Column) bool { return column.Name == name })
}

// list quotes and joins the columns, each behind prefix.
func (c storedColumns) list(prefix string) string {
	return sqlList(c, func(_ int, column catalog.Column) string { return prefix + catalog.QuoteIdentifier(column.Name) })
}

// listOf quotes and joins the columns with these indexes.
func (c storedColumns) listOf(indexes []int) string {
	return sqlList(indexes, func(_, index int) string { return catalog.QuoteIdentifier(c[index].Name) })
}
