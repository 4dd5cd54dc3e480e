package people

import (
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// known are the attributes by which cells of a table are united: its own and, of classes of persons where all is known, features
// of the slots that wait with them, to which those of a group are aligned.
func (c *GuardedCoarser) known(table int) []anonymizer.Attribute {
	attributes := slices.Clone(c.attributes.of(table))
	if table == Root && c.of.knows.All {
		for range c.of.numberOfSlotFeatures() {
			attributes = append(attributes, feature())
		}
	}
	return attributes
}

// knownOf is what is published of a cell, by the known attributes of its table.
func (c *GuardedCoarser) knownOf(cell *finerCell) []hierarchy.Generalization {
	values := slices.Clone(cell.values)
	if cell.table != Root || !c.of.knows.All {
		return values
	}
	f := newSlotFeatures(c.of, c.attributes)
	for slot := range c.waiting[cell.class].cells {
		f.add(slot.table, slot.values)
	}
	for _, number := range f.features() {
		values = append(values, feature().Hierarchy.Generalize([]hierarchy.Cell{number}))
	}
	return values
}

// align unites slots of all classes of a group that wait, as many as the class with the fewest has: those in which least is lost
// in their order. The others wait for more.
func (c *GuardedCoarser) align(table int, group *coarserGroup, cells []*finerCell) [][]*finerCell {
	a := newSlotAligner(c.attributes.of(table), cells, func(slot *finerCell) []hierarchy.Generalization { return slot.values })
	a.sort(cells, c.of.tables[table].order)
	byClass := make(map[int64][]*finerCell)
	for _, cell := range cells {
		byClass[cell.class] = append(byClass[cell.class], cell)
	}
	for _, class := range group.classOf {
		if len(byClass[class]) == 0 { // of one that is not there any more, too
			return nil
		}
	}
	var lists [][]*finerCell
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		lists = append(lists, byClass[class])
	}
	return a.align(lists)
}
