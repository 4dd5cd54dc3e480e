package privacy

import (
	"fmt"
	"math"
	"math/big"
)

// TCloseness demands that the distribution of one sensitive attribute in every
// class is within T of that in the whole table (Li, Li and Venkatasubramanian
// 2007), measured by the Earth Mover's Distance over a ground distance between
// values:
//
//   - EqualDistance: 1 between any two values. The distance is half the sum of
//     |q - p|.
//   - OrderedDistance: the difference of the ranks among the m different values
//     of the table, divided by m-1. Values at one place of the axis count as one.
//     NULL and what else is off the scale lies a whole range beyond the last
//     value, so at least 1 from every other.
//   - HierarchicalDistance: 1 - depth/height, where depth is that of the lowest
//     common ancestor below the root, and height that of the hierarchy
//     (hierarchy.LevelsOf over the table's values). Where all values are equally
//     deep it is the ancestor's height by the whole height, as in the paper, else
//     at least that. Off the scale is 1 from everything else.
//
// With subjects q and p are shares of persons and may add up to more than 1, to
// the persons' mean number of different values: Q in the class, P in the table.
// The distance is then Q times that of the distributions divided by Q and P, and
// |Q - P| as well: a person with more or fewer values than usual is not close.
//
// A class with a value that the table lacks is refused. T counts as the decimal
// that it is written as; the comparison is exact.
type TCloseness struct {
	T         float64 // 0 to 1
	Attribute int     // index into Summary.Sensitive
	Name      string  // the attribute's name, for messages
	Distance  Distance
	// Scale is the order or the taxonomy; nil for EqualDistance. Without it the
	// others satisfy nothing.
	Scale *Scale
}

// Satisfied reports whether the distance is at most T; a summary of no records
// or without the attribute satisfies nothing, nor does any without a population.
func (c TCloseness) Satisfied(class Summary, whole *Population) bool {
	m, ok := c.measure(class, whole)
	if !ok {
		return false
	}
	t := decimalOf(c.T)
	d := m.distance()
	if near := 1e-9 * (1 + d); math.Abs(d-float64(t.num)/float64(t.den)) > near {
		return d < float64(t.num)/float64(t.den)
	}
	return m.exact().Cmp(t.rat()) <= 0
}

// DistanceOf is the Earth Mover's Distance of the class, with a relative error
// below 1e-12; false where Satisfied finds nothing to compare. Range 0 to 1, to 2
// with values off an order, and more with subjects.
func (c TCloseness) DistanceOf(class Summary, whole *Population) (float64, bool) {
	m, ok := c.measure(class, whole)
	return m.distance(), ok
}

func (c TCloseness) measure(class Summary, whole *Population) (measured, bool) {
	counts, _, ok := compare(class, whole, c.Attribute)
	if !ok || c.Distance != EqualDistance && c.Scale == nil {
		return measured{}, false
	}
	g := whole.ground(c)
	m := measured{persons: uint64(class.Records), whole: uint64(whole.Records), overall: uint64(g.total), unit: uint64(g.unit)}
	for code, count := range counts {
		if _, known := g.place[code]; !known {
			return measured{}, false
		}
		m.values += uint64(count)
	}
	m.work = g.work(counts, m.values)
	return m, true
}

// measured is a distance as a fraction of whole numbers. The numbers of values
// and persons differ with subjects only.
type measured struct {
	work           wide   // the distance of the distributions times values*overall*unit
	values         uint64 // of the class: each person's different ones
	persons        uint64 // in the class
	overall, whole uint64 // the same of the whole table
	unit           uint64 // the greatest ground distance in whole numbers
}

// surplus is |Q - P| times persons*whole.
func (m measured) surplus() uint64 {
	q, p := m.values*m.whole, m.overall*m.persons
	return max(q, p) - min(q, p)
}

func (m measured) distance() float64 {
	if m.persons == 0 {
		return 0
	}
	return m.work.float()/(float64(m.persons)*float64(m.overall)*float64(m.unit)) +
		float64(m.surplus())/(float64(m.persons)*float64(m.whole))
}

func (m measured) exact() *big.Rat {
	den := product(m.persons, m.overall).big()
	moved := new(big.Rat).SetFrac(m.work.big(), den.Mul(den, new(big.Int).SetUint64(m.unit)))
	return moved.Add(moved, new(big.Rat).SetFrac(new(big.Int).SetUint64(m.surplus()), product(m.persons, m.whole).big()))
}

// String returns for example "0.2-closeness of salary", "0.2-closeness of salary
// (ordered distance)".
func (c TCloseness) String() string {
	if c.Distance == EqualDistance {
		return fmt.Sprintf("%s-closeness of %s", number(c.T), c.Name)
	}
	return fmt.Sprintf("%s-closeness of %s (%v distance)", number(c.T), c.Name, c.Distance)
}

// MinRecords is 1: how many records a class needs depends on the table.
func (c TCloseness) MinRecords() int { return 1 }

// Feasible holds for every table with the attribute: as one class it has a
// distance of 0 from itself.
func (c TCloseness) Feasible(table Summary) error {
	if table.Records == 0 {
		return nil
	}
	if _, ok := table.counts(c.Attribute); !ok {
		return missing(c)
	}
	if c.Distance != EqualDistance && c.Scale == nil {
		return fmt.Errorf("%v cannot hold: the attribute has no order or taxonomy; give it a hierarchy, or take the equal distance", c)
	}
	return nil
}
