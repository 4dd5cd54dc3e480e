package nested

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/internal/loss"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// units are the classes of the finer release as its readers see them: boxes of ranks, numbers of
// records and sensitive values. Nothing that decides about groups reads anything else.
type units struct {
	table   *anonymizer.Table
	classes []anonymizer.EquivalenceClass // in an order that follows from what is published
	order   []int32                       // of each, its place among those that were given
	scales  []loss.Scale
	low     []int32 // ranks by unit and attribute
	high    []int32
	records int
	counts  []privacy.Summary // of each class, where the table does not have the values; nil where it has
}

// newUnits reads the classes, of which shown are the labels by attribute. Their order is that of what is
// published of them, and then drawn.
func newUnits(ctx context.Context, t *anonymizer.Table, finer []anonymizer.EquivalenceClass, shown func(a int) []hierarchy.Generalization, seed uint64) *units {
	u := &units{table: t, scales: make([]loss.Scale, len(t.Attributes()))}
	d, n := len(u.scales), len(finer)
	low, high := make([]int32, n*d), make([]int32, n*d)
	cores.Each(d, func(a int) {
		if ctx.Err() == nil {
			u.scales[a] = readAxis(t.Attributes()[a].Hierarchy, shown(a), func(i int, least, greatest int32) {
				low[i*d+a], high[i*d+a] = least, greatest
			})
		}
	})
	order := published(t, finer, low, high)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	u.order = order
	u.classes, u.low, u.high = make([]anonymizer.EquivalenceClass, n), make([]int32, 0, n*d), make([]int32, 0, n*d)
	for place, i := range order {
		u.classes[place] = finer[i]
		u.records += len(finer[i])
		u.low, u.high = append(u.low, low[int(i)*d:int(i)*d+d]...), append(u.high, high[int(i)*d:int(i)*d+d]...)
	}
	return u
}

// readAxis ranks what is published of an attribute.
func readAxis(h hierarchy.Hierarchy, shown []hierarchy.Generalization, set func(i int, least, greatest int32)) loss.Scale {
	spans := hierarchy.SpansOf(h, shown)
	var positions []float64
	hidden := false
	for _, s := range spans.Of {
		if hidden = hidden || s.Hidden; !s.Hidden {
			positions = append(positions, s.Least, s.Greatest)
		}
	}
	slices.Sort(positions)
	positions = slices.Compact(positions)
	for i, s := range spans.Of {
		least, greatest := len(positions), len(positions)
		if !s.Hidden {
			least, greatest = sort.SearchFloat64s(positions, s.Least), sort.SearchFloat64s(positions, s.Greatest)
		}
		set(i, int32(least), int32(greatest))
	}
	return loss.New(spans.Ranged, positions, hidden, spans.Share)
}

// labels are what is published of an attribute.
func labels(t *anonymizer.Table, a int, classes []anonymizer.EquivalenceClass) []hierarchy.Generalization {
	labels, cells := make([]hierarchy.Generalization, len(classes)), []hierarchy.Cell{}
	column := t.Cells(a)
	for i, class := range classes {
		cells = cells[:0]
		for _, r := range class {
			cells = append(cells, column[r])
		}
		labels[i] = t.Attributes()[a].Hierarchy.Generalize(cells)
	}
	return labels
}

// published orders the classes by what is published of them. Of those of which the same is, it does
// not matter which one comes first.
func published(t *anonymizer.Table, finer []anonymizer.EquivalenceClass, low, high []int32) []int32 {
	order := make([]int32, len(finer))
	for i := range order {
		order[i] = int32(i)
	}
	d := len(t.Attributes())
	sensitive := make([][][]uint32, len(finer)) // of those that were looked at
	of := func(x int32) [][]uint32 {
		if sensitive[x] == nil {
			sensitive[x] = rows(t, finer[x])
		}
		return sensitive[x]
	}
	slices.SortFunc(order, func(x, y int32) int {
		i, j := int(x)*d, int(y)*d
		if c := slices.Compare(low[i:i+d], low[j:j+d]); c != 0 {
			return c
		}
		if c := slices.Compare(high[i:i+d], high[j:j+d]); c != 0 {
			return c
		}
		if c := cmp.Compare(len(finer[x]), len(finer[y])); c != 0 {
			return c
		}
		return slices.CompareFunc(of(x), of(y), slices.Compare[[]uint32])
	})
	return order
}

// rows are the sensitive values of a class's records, in order.
func rows(t *anonymizer.Table, class anonymizer.EquivalenceClass) [][]uint32 {
	rows := make([][]uint32, len(class))
	for i, r := range class {
		for a := range t.SensitiveLen() {
			rows[i] = append(rows[i], t.Sensitive(a)[r])
		}
	}
	slices.SortFunc(rows, slices.Compare[[]uint32])
	return rows
}

func (u *units) len() int { return len(u.classes) }

// count sets what the classes count for constraints, each at its index among the given ones.
func (u *units) count(counts []privacy.Summary) *units {
	for _, i := range u.order {
		if counts != nil {
			u.counts = append(u.counts, counts[i])
		}
	}
	return u
}

// summarize counts units for constraints.
func (u *units) summarize(members []int32) privacy.Summary {
	if u.counts == nil {
		return u.table.Summarize(u.recordsOf(members))
	}
	s := privacy.NewSummary(len(u.counts[0].Sensitive))
	for _, m := range members {
		s.Merge(u.counts[m])
	}
	return s
}

// box is what a unit covers.
func (u *units) box(unit int32) (low, high []int32) {
	d := len(u.scales)
	return u.low[int(unit)*d : int(unit)*d+d], u.high[int(unit)*d : int(unit)*d+d]
}

// size is the number of records of units.
func (u *units) size(members []int32) int {
	n := 0
	for _, m := range members {
		n += len(u.classes[m])
	}
	return n
}

// recordsOf are the records of units.
func (u *units) recordsOf(members []int32) anonymizer.EquivalenceClass {
	records := make(anonymizer.EquivalenceClass, 0, u.size(members))
	for _, m := range members {
		records = append(records, u.classes[m]...)
	}
	return records
}
