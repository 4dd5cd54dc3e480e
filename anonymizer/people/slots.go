package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Where all is known, classes of persons are united by what is published of their slots, too.

// ends are where the slots of a class are looked at. Three places, or the logarithm of the number of slots, had root rows lose more, and
// fewer rows keep their keys, for rows that are hardly narrower.
var ends = [...]float64{0.25, 0.75}

// slotFeatures collects the features of a class by its slots: of each table, how many they are, as many as the class with the
// fewest has in a union, and where they are at the ends of their order, if they have one.
type slotFeatures struct {
	of         *source
	attributes shownAttributes // as they are shown
	numbers    []float64
	places     [][]float64
}

func newSlotFeatures(of *source, attributes shownAttributes) *slotFeatures {
	return &slotFeatures{of: of, attributes: attributes, numbers: make([]float64, len(of.tables)), places: make([][]float64, len(of.tables))}
}

// numberOfSlotFeatures is how many features a class has.
func (m *source) numberOfSlotFeatures() (features int) {
	for i := range m.tables {
		if features++; m.hasOrderedSlots(i) {
			features += len(ends)
		}
	}
	return features
}

// hasOrderedSlots reports whether slots of a table have an order of their own.
func (m *source) hasOrderedSlots(table int) bool {
	t := &m.tables[table]
	return t.order >= 0 && t.parent == Root && !t.unknown
}

// add adds a slot by what is published of it.
func (f *slotFeatures) add(table int, values []hierarchy.Generalization) {
	t := &f.of.tables[table]
	if t.unknown {
		return
	}
	f.numbers[table]++
	if f.of.hasOrderedSlots(table) {
		f.places[table] = append(f.places[table], middleOf(f.attributes.of(table)[t.order].Hierarchy, values[t.order]))
	}
}

func (f *slotFeatures) features() []float64 {
	features := make([]float64, 0, f.of.numberOfSlotFeatures())
	for table, number := range f.numbers {
		if features = append(features, number); !f.of.hasOrderedSlots(table) {
			continue
		}
		slices.SortFunc(f.places[table], compareOffLast)
		rows := make([]int32, len(f.places[table]))
		for i := range rows {
			rows[i] = int32(i)
		}
		for _, share := range ends {
			features = append(features, quantile(f.places[table], rows, share))
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
