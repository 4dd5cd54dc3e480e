package people

import (
	"cmp"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// unitedTrees computes what classes lose as a group if everything is known, from what is published
// of them.
type unitedTrees struct {
	of       *Coarser
	measured int                         // how many classes there were when the axes were measured
	at       map[incremental.ClassID]int // places of the classes that have been looked at
	persons  []int                       // of each of them
	root     []rootAxis
	tables   []unitedSlots // of tables whose rows belong to persons
}

// rootAxis is an attribute of the root, with the spans of all classes.
type rootAxis struct {
	axis hierarchy.Spans
	of   []hierarchy.Span
}

// unitedSlots are the slots of one table.
type unitedSlots struct {
	*slotAligner[*atom]
	table  int
	of     [][]*atom // of each class, in their order
	weight float64   // of a row: persons by rows
}

// newUnitedTrees measures the axes by all classes that are there.
func newUnitedTrees(c *Coarser) *unitedTrees {
	ids := slices.Sorted(slices.Values(c.classes.list))
	t := &unitedTrees{of: c, measured: len(ids), at: make(map[incremental.ClassID]int)}
	labels := make([]hierarchy.Generalization, len(ids))
	for a, attribute := range c.attributes.of(Root) {
		for i, id := range ids {
			labels[i] = c.classes.byID[id].values[a]
		}
		axis := hierarchy.SpansOf(attribute.Hierarchy, labels)
		axis.Of = nil
		t.root = append(t.root, rootAxis{axis: axis})
	}
	for _, table := range c.of.root.children {
		if c.of.tables[table].unknown {
			continue
		}
		slots, rows := unitedSlots{table: table}, 0
		var all []*atom
		for _, id := range ids {
			of := c.slotsOf(table, id)
			all = append(all, of...)
			rows += len(of) * c.classes.Size(id)
		}
		slots.slotAligner = newSlotAligner(c.attributes.of(table), all, func(slot *atom) []hierarchy.Generalization { return slot.values })
		slots.weight = float64(c.classes.whole.Records) / float64(max(1, rows))
		t.tables = append(t.tables, slots)
	}
	t.forget()
	return t
}

// slotsOf are the slots of a class in a table.
func (c *Coarser) slotsOf(table int, class incremental.ClassID) (slots []*atom) {
	for a := range c.units[unitKey{class, 0}] {
		if a.table == table {
			slots = append(slots, a)
		}
	}
	slices.SortFunc(slots, func(x, y *atom) int { return cmp.Compare(x.id, y.id) })
	return slots
}

// place looks at a class, unless it has been looked at.
func (t *unitedTrees) place(class incremental.ClassID) int {
	if at, known := t.at[class]; known {
		return at
	}
	at := len(t.persons)
	t.at[class], t.persons = at, append(t.persons, t.of.classes.Size(class))
	for a := range t.root {
		t.root[a].of = append(t.root[a].of, t.root[a].axis.Place(t.of.classes.byID[class].values[a]))
	}
	for i := range t.tables {
		s := &t.tables[i]
		slots := t.of.slotsOf(s.table, class)
		for _, slot := range slots {
			s.put(slot, slot.values)
		}
		s.sort(slots, t.of.of.tables[s.table].order)
		s.of = append(s.of, slots)
	}
	return at
}

// forget keeps nothing of classes, which others may take the places of.
func (t *unitedTrees) forget() {
	clear(t.at)
	t.persons = nil
	for a := range t.root {
		t.root[a].of = nil
	}
	for i := range t.tables {
		t.tables[i].of = nil
		clear(t.tables[i].spans)
	}
}

// loss is what classes lose as a group: of root values, of values in slots, and of rows without a slot; means over the attributes, summed over
// records and rows.
func (t *unitedTrees) loss(places []int) float64 {
	sum, persons := 0.0, t.size(places)
	for a := range t.root {
		covered := t.root[a].of[places[0]]
		for _, at := range places[1:] {
			covered = covered.Join(t.root[a].of[at])
		}
		sum += t.root[a].axis.Lost(covered)
	}
	sum *= weightOfRoot * float64(persons) / float64(max(1, len(t.root)))
	for i := range t.tables {
		s := &t.tables[i]
		lists, rows := make([][]*atom, len(places)), 0
		for j, at := range places {
			lists[j] = s.of[at]
			rows += t.persons[at] * len(lists[j])
		}
		sum += s.loss(lists, rows, persons)
	}
	return sum
}

func (t *unitedTrees) size(places []int) (persons int) {
	for _, at := range places {
		persons += t.persons[at]
	}
	return persons
}

// loss is that of the slots of one table, of so many rows and persons.
func (s *unitedSlots) loss(lists [][]*atom, rows, persons int) float64 {
	slots, lost := s.align(lists), 0.0
	for _, slot := range slots {
		var covered []hierarchy.Span
		for _, of := range slot {
			covered = joined(covered, s.spans[of])
		}
		lost += s.lost(covered, nil)
	}
	lost *= float64(persons) / float64(max(1, len(s.axes)))
	return s.weight * (lost + weightOfKeyless*float64(rows-len(slots)*persons))
}

// united are the trees of the classes that there are, on axes that are measured again when there are twice or half as many.
func (c *Coarser) united() *unitedTrees {
	if n := len(c.classes.list); c.trees == nil || n > 2*c.trees.measured || 2*n < c.trees.measured {
		c.trees = newUnitedTrees(c)
	}
	return c.trees
}

// lossTogether is what classes lose as a group.
func (c *Coarser) lossTogether(classes []incremental.ClassID) float64 {
	t, places := c.united(), make([]int, len(classes))
	for i, class := range classes {
		places[i] = t.place(class)
	}
	return t.loss(places)
}
