package people

import "slices"

// trees aligns the trees of several persons and computes the loss. Each goroutine has its own.
type trees struct {
	*releasing
	aligners []aligner
}

func newTrees(r *releasing) *trees {
	t := &trees{releasing: r}
	for i := range r.tables {
		t.aligners = append(t.aligners, aligner{table: &r.tables[i]})
	}
	return t
}

// loss is what the persons lose as a class: of root values, of values in slots, and
// 1 for each row without a slot; a mean over the attributes, summed over records and
// rows. Every table has the same weight altogether, however many rows it has,
// and the root Options.RootWeight times that.
func (t *trees) loss(persons []int32) float64 {
	sum := t.o.rootWeight() * t.root.lossOfRows(persons) * float64(len(persons))
	for _, table := range t.roots() {
		sum += t.lossOf(table, persons)
	}
	return sum
}

func (t *trees) lossOf(table int, parents []int32) float64 {
	b := &t.tables[table]
	if b.Unknown {
		return 0 // all rows keep their keys
	}
	a := &t.aligners[table]
	members, all := a.below(parents), 0
	for _, rows := range members {
		all += len(rows)
	}
	slots := a.align(members)
	sum := float64(all - len(slots)*len(parents))
	for _, s := range slots {
		sum += b.loss(s.boxes) * float64(len(parents))
	}
	sum *= b.weight
	for _, s := range slots {
		for _, child := range b.children {
			sum += t.lossOf(child, s.rows)
		}
	}
	return sum
}

// cells adds the slots of a class to the release.
func (t *trees) cells(table int, class int32, parents []int32, into []TableRelease) {
	b := &t.tables[table]
	if b.Unknown {
		t.unknown(table, class, parents, into)
		return
	}
	a := &t.aligners[table]
	for _, s := range a.align(a.below(parents)) {
		into[table].Cells = append(into[table].Cells, Cell{Rows: slices.Clone(s.rows), Class: class})
		for _, child := range b.children {
			t.cells(child, class, s.rows, into)
		}
	}
}

// unknown adds all rows below some parents that no outsider knows, and the rows below those.
func (t *trees) unknown(table int, class int32, parents []int32, into []TableRelease) {
	b := &t.tables[table]
	var rows []int32
	for _, parent := range parents {
		rows = append(rows, b.below.of(parent)...)
	}
	if len(rows) == 0 {
		return
	}
	into[table].Cells = append(into[table].Cells, Cell{Rows: rows, Class: class})
	for _, child := range b.children {
		t.unknown(child, class, rows, into)
	}
}
