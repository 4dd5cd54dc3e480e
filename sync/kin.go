package sync

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// kin says what a row of a linked table belongs to.
type kin struct {
	own, of people.Key
	window  int32
}

// kinColumns are the columns that say it, as indexes into the stored ones.
type kinColumns struct {
	own, of []int
	order   int // -1 where windows do not go by a column
	per     catalog.Period
}

func (t *layout) kinColumns() kinColumns {
	k := kinColumns{order: -1}
	m := t.publication.Membership
	if m == nil {
		return k
	}
	for _, name := range m.Key() {
		k.own = append(k.own, t.columns.index(name))
	}
	for _, name := range m.Link() {
		k.of = append(k.of, t.columns.index(name))
	}
	direct := m.Table != people.Root && m.People.Tables[m.Table].Direct()
	if k.per = m.People.Knows.Per; k.per > 0 && direct {
		k.order = t.columns.index(m.Order())
	}
	return k
}

// kinOf is the kin of a row. Values that the stream left out are those of the row as it
// stood.
func (t *layout) kinOf(values []value, before *coded) (k kin) {
	if !t.isLinked() {
		return k
	}
	kept := func(columns []int) bool {
		return before != nil && slices.ContainsFunc(columns, func(i int) bool { return values[i].kept })
	}
	if k.own = t.keyDigest(values, t.kin.own); kept(t.kin.own) {
		k.own = before.kin.own
	}
	if k.of = t.keyDigest(values, t.kin.of); kept(t.kin.of) {
		k.of = before.kin.of
	}
	switch at := t.kin.order; {
	case at < 0:
	case before != nil && values[at].kept:
		k.window = before.kin.window
	default:
		k.window = t.windowOf(values[at])
	}
	return k
}

// keyDigest stands for a key; the zero one is that of a key with a NULL, and of none.
func (t *layout) keyDigest(values []value, columns []int) people.Key {
	if len(columns) == 0 {
		return people.Key{}
	}
	texts := make([]string, len(columns))
	for i, column := range columns {
		if values[column].null || values[column].kept {
			return people.Key{}
		}
		texts[i] = catalog.Canonical(t.columns[column].BaseType, values[column].text)
	}
	return catalog.KeyDigest(texts...)
}

// noWindow is that of rows without a date.
const noWindow = math.MinInt32

func (t *layout) windowOf(v value) int32 {
	if month, dated := catalog.MonthOf(v.text); dated && !v.null {
		return int32(t.kin.per.Window(0, int(month)+1))
	}
	return noWindow
}
