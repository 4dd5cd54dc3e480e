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
	a := newSlotAligner(u.attributes[table+1], of)
	if order := u.of.tables[table].order; order >= 0 {
		slices.SortStableFunc(of, func(x, y *atom) int { return cmp.Compare(a.middle(order, x), a.middle(order, y)) })
	}
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
	slices.SortStableFunc(lists, func(x, y []*atom) int { return len(x) - len(y) })
	return a.align(lists)
}

// slotAligner aligns lists of slots, the one with the fewest first.
type slotAligner struct {
	axes  []hierarchy.Spans
	spans map[*atom][]hierarchy.Span
}

func newSlotAligner(attributes []anonymizer.Attribute, of []*atom) *slotAligner {
	a := &slotAligner{spans: make(map[*atom][]hierarchy.Span, len(of))}
	labels := make([]hierarchy.Generalization, len(of))
	for i, attribute := range attributes {
		for j, slot := range of {
			labels[j] = slot.values[i]
		}
		a.axes = append(a.axes, hierarchy.SpansOf(attribute.Hierarchy, labels))
		for j, slot := range of {
			a.spans[slot] = append(a.spans[slot], a.axes[i].Of[j])
		}
	}
	return a
}

// middle is where a slot is on an axis; what is hidden is behind all.
func (a *slotAligner) middle(axis int, slot *atom) float64 {
	span := a.spans[slot][axis]
	if span.Hidden {
		return math.Inf(1)
	}
	return span.Least/2 + span.Greatest/2
}

// lost is what a slot loses that covers some spans and those of one more, if any.
func (a *slotAligner) lost(covered, more []hierarchy.Span) (sum float64) {
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
func (a *slotAligner) align(lists [][]*atom) [][]*atom {
	slots := make([][]*atom, len(lists[0]))
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
func (a *slotAligner) assign(covered [][]hierarchy.Span, list []*atom) []*atom {
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
	picked := make([]*atom, len(covered))
	s := width - 1
	for j := len(covered) - 1; j >= 0; j-- {
		for skip[(j+1)*width+s] {
			s--
		}
		picked[j] = list[j+s]
	}
	return picked
}

// ends are where the slots of a class are looked at. Three places, or the logarithm of the number of slots, had root rows lose more, and
// fewer rows keep their keys, for rows that are hardly narrower.
var ends = [...]float64{0.25, 0.75}

// slotFeatures is how many features a class has by its slots: of each table, how many they are, as many as the class with the
// fewest has in a union, and where they are at the ends of their order, if they have one.
func (c *Coarser) slotFeatures() (features int) {
	for i := range c.of.tables {
		if features++; c.isOrdered(i) {
			features += len(ends)
		}
	}
	return features
}

// isOrdered reports whether slots of a table have an order of their own.
func (c *Coarser) isOrdered(table int) bool {
	t := &c.of.tables[table]
	return t.order >= 0 && t.parent == Root && !t.unknown
}

// slots are the features of a class.
func (c *Coarser) slots(class *atom) []float64 {
	numbers, places := make([]float64, len(c.tables)), make([][]float64, len(c.tables))
	for a := range c.units[unitKey{class.id, 0}] {
		if t := &c.of.tables[a.table]; !t.unknown {
			numbers[a.table]++
			if c.isOrdered(a.table) {
				places[a.table] = append(places[a.table], middleOf(c.attributes[a.table+1][t.order].Hierarchy, a.values[t.order]))
			}
		}
	}
	features := make([]float64, 0, c.slotFeatures())
	for table, number := range numbers {
		if features = append(features, number); !c.isOrdered(table) {
			continue
		}
		slices.SortFunc(places[table], compareOffLast)
		rows := make([]int32, len(places[table]))
		for i := range rows {
			rows[i] = int32(i)
		}
		for _, share := range ends {
			features = append(features, quantile(places[table], rows, share))
		}
	}
	return features
}

// middleOf is the middle of what is published, off the scale where it is hidden.
func middleOf(h hierarchy.Hierarchy, g hierarchy.Generalization) float64 {
	if g.Hidden {
		return hierarchy.OffScale()
	}
	return h.Encode(g.Lower)/2 + h.Encode(g.Upper)/2
}
