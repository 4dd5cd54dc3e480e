package people

import (
	"cmp"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Where all is known, the persons of a union have one tree: a slot of the union unites one slot of each of its classes. It is
// found as a class's own slots are (align.go), by what is published of the finer ones.

// align finds slots of all classes: each unites a slot of every class, in their order. There are as many as the class
// with the fewest has.
func (u *coarserUnit) align(table int, of []*atom) [][]*atom {
	a := newSlotAligner(u.attributes[table+1], of, func(slot *atom) []hierarchy.Generalization { return slot.values })
	a.sort(of, u.of.tables[table].order)
	byClass := make(map[incremental.ClassID][]*atom)
	for _, slot := range of {
		byClass[slot.unit.class] = append(byClass[slot.unit.class], slot)
	}
	if len(byClass) < len(u.classes) {
		return nil
	}
	lists := make([][]*atom, len(u.classes))
	for i, class := range u.classes {
		lists[i] = byClass[class]
	}
	return a.align(lists)
}

// slotAligner aligns lists of slots.
type slotAligner[S comparable] struct {
	axes  []hierarchy.Spans
	spans map[S][]hierarchy.Span
}

func newSlotAligner[S comparable](attributes []anonymizer.Attribute, of []S, values func(slot S) []hierarchy.Generalization) *slotAligner[S] {
	a := &slotAligner[S]{spans: make(map[S][]hierarchy.Span, len(of))}
	labels := make([]hierarchy.Generalization, len(of))
	for i, attribute := range attributes {
		for j, slot := range of {
			labels[j] = values(slot)[i]
		}
		axis := hierarchy.SpansOf(attribute.Hierarchy, labels)
		for j, slot := range of {
			a.spans[slot] = append(a.spans[slot], axis.Of[j])
		}
		axis.Of = nil
		a.axes = append(a.axes, axis)
	}
	return a
}

// put places one more slot on the axes.
func (a *slotAligner[S]) put(slot S, values []hierarchy.Generalization) {
	spans := make([]hierarchy.Span, len(a.axes))
	for i := range a.axes {
		spans[i] = a.axes[i].Place(values[i])
	}
	a.spans[slot] = spans
}

// sort brings slots into the order of an attribute; below 0, all stay where they are.
func (a *slotAligner[S]) sort(of []S, order int) {
	if order >= 0 {
		slices.SortStableFunc(of, func(x, y S) int { return cmp.Compare(a.middle(order, x), a.middle(order, y)) })
	}
}

// middle is where a slot is on an axis; what is hidden is behind all.
func (a *slotAligner[S]) middle(axis int, slot S) float64 {
	span := a.spans[slot][axis]
	if span.Hidden {
		return math.Inf(1)
	}
	return span.Least/2 + span.Greatest/2
}

// lost is what a slot loses that covers some spans and those of one more, if any.
func (a *slotAligner[S]) lost(covered, more []hierarchy.Span) (sum float64) {
	for i, span := range joined(covered, more) {
		sum += a.axes[i].Lost(span)
	}
	return sum
}

// joined covers both; without the first it is the second.
func joined(covered, more []hierarchy.Span) []hierarchy.Span {
	if covered == nil {
		return more
	}
	all := slices.Clone(covered)
	for i := range more {
		all[i] = all[i].Join(more[i])
	}
	return all
}

// align gives every slot of the shortest list one of each other list, and then, while others stay, assigns the slots of each again.
func (a *slotAligner[S]) align(lists [][]S) [][]S {
	slices.SortStableFunc(lists, func(x, y []S) int { return len(x) - len(y) })
	slots := make([][]S, len(lists[0]))
	covered := make([][]hierarchy.Span, len(slots))
	for _, list := range lists {
		for j, slot := range a.assign(covered, list) {
			slots[j] = append(slots[j], slot)
			covered[j] = joined(covered[j], a.spans[slot])
		}
	}
	for range refinements {
		for i, list := range lists {
			if len(list) == len(slots) {
				continue
			}
			for j := range slots {
				covered[j] = nil
				for other, slot := range slots[j] {
					if other != i {
						covered[j] = joined(covered[j], a.spans[slot])
					}
				}
			}
			for j, slot := range a.assign(covered, list) {
				slots[j][i] = slot
			}
		}
	}
	return slots
}

// assign picks a slot of the list for each of those that cover something, in their order, for the least added loss: see aligner.assign.
func (a *slotAligner[S]) assign(covered [][]hierarchy.Span, list []S) []S {
	width := len(list) - len(covered) + 1
	cost, skip := make([]float64, (len(covered)+1)*width), make([]bool, (len(covered)+1)*width)
	for j, slot := range covered {
		before, last := 0.0, math.Inf(1)
		if slot != nil {
			before = a.lost(slot, nil)
		}
		for s := range width {
			added := cost[j*width+s] + a.lost(slot, a.spans[list[j+s]]) - before
			at := (j+1)*width + s
			skip[at] = last <= added
			last = min(last, added)
			cost[at] = last
		}
	}
	picked := make([]S, len(covered))
	s := width - 1
	for j := len(covered) - 1; j >= 0; j-- {
		for skip[(j+1)*width+s] {
			s--
		}
		picked[j] = list[j+s]
	}
	return picked
}

// slots are the features of a class.
func (c *Coarser) slots(class *atom) []float64 {
	f := newSlotFeatures(&c.of.source, c.attributes)
	for a := range c.units[unitKey{class.id, 0}] {
		f.add(a.table, a.values)
	}
	return f.features()
}
