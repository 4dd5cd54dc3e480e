package weighted

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// condition is what a query asks of one axis: an interval from low up to, but not
// including, high, a label or one below it, or a beginning.
type condition struct {
	axis      int
	ordered   bool
	low, high float64
	discrete  bool
	label     string
	prefix    bool
	taxonomy  taxonomy
}

// query is a conjunction.
type query []condition

// holds says whether a record is meant.
func (c condition) holds(a axis, record int) bool {
	switch {
	case c.ordered:
		return a.positions[record] >= c.low && a.positions[record] < c.high
	case c.prefix:
		return strings.HasPrefix(a.labels[record], c.label)
	default:
		return c.taxonomy.below(a.labels[record], c.label)
	}
}

// represented says whether a filter on what stands for a class finds it.
func (c condition) represented(of cell) bool {
	switch {
	case of.hidden:
		return false
	case c.ordered:
		return of.value >= c.low && of.value < c.high
	case c.prefix:
		return strings.HasPrefix(of.label, c.label)
	default:
		return c.taxonomy.below(of.label, c.label)
	}
}

// share is kproxy.overlap, but for * of codes and of labels without a taxonomy: what it
// stands for is one of the values that the column has, which analysts know from other rows.
func (c condition) share(of cell) float64 {
	switch {
	case of.hidden:
		return 0
	case c.ordered:
		return c.overlap(of.low, of.high)
	case c.prefix:
		return overlapOfCodes(of.label, c.label)
	case c.taxonomy.below(of.label, c.label):
		return 1
	case c.taxonomy.below(c.label, of.label):
		return float64(c.taxonomy.leaves[c.label]) / float64(c.taxonomy.leaves[of.label])
	default:
		return 0
	}
}

// overlap is the share of a closed range that the interval has.
func (c condition) overlap(low, high float64) float64 {
	if c.discrete {
		return max(0, min(high+1, c.high)-max(low, c.low)) / (high + 1 - low)
	}
	if low >= c.low && high < c.high {
		return 1
	}
	if low == high {
		return 0
	}
	return max(0, min(high, c.high)-max(low, c.low)) / (high - low)
}

// overlapOfCodes is the share of the codes of a label that begin with what is wanted, each
// character of ten digits.
func overlapOfCodes(label, wanted string) float64 {
	known := kept(label)
	switch {
	case strings.HasPrefix(known, wanted):
		return 1
	case strings.HasPrefix(wanted, known) && known != label:
		return math.Pow10(len(known) - len(wanted))
	default:
		return 0
	}
}

// The least and the greatest share of the records that a query may be about.
const (
	leastSelective = 0.001
	mostSelective  = 0.5
)

// maxColumns is how many columns a query is over at most.
const maxColumns = 3

// draw draws n queries of each number of columns. A query is about a random record, so that
// none is about nothing; those beyond the bounds are drawn again, for as long as makes sense.
func draw(axes []axis, n int, seed uint64) []query {
	random := rand.New(rand.NewPCG(seed, 0))
	records := len(axes[0].positions)
	var queries []query
	for columns := 1; columns <= min(maxColumns, len(axes)); columns++ {
		for drawn, tried := 0, 0; drawn < n && tried < 100*n; tried++ {
			target := math.Exp(math.Log(leastSelective) + random.Float64()*math.Log(mostSelective/leastSelective))
			q := drawQuery(random, axes, columns, math.Pow(target, 1/float64(columns)))
			if share := q.truth(axes, nil).count / float64(records); share >= leastSelective && share <= mostSelective {
				queries = append(queries, q)
				drawn++
			}
		}
	}
	return queries
}

// drawQuery draws conditions that each have about the share given, one of them over an
// order where there is any.
func drawQuery(random *rand.Rand, axes []axis, columns int, share float64) query {
	record := random.IntN(len(axes[0].positions))
	chosen := random.Perm(len(axes))
	if first := slices.IndexFunc(chosen, func(a int) bool { return axes[a].sorted != nil }); first >= 0 {
		chosen[0], chosen[first] = chosen[first], chosen[0]
	}
	q := make(query, 0, columns)
	for _, a := range chosen[:columns] {
		q = append(q, axes[a].about(random, a, record, share))
	}
	return q
}

// about is a condition that the record meets and about so many others.
func (a axis) about(random *rand.Rand, at, record int, share float64) condition {
	c := condition{axis: at, discrete: a.discrete, prefix: a.prefix, taxonomy: a.taxonomy}
	switch {
	case a.sorted != nil:
		c.ordered = true
		n := len(a.sorted)
		width := max(1, int(share*float64(n)))
		rank, _ := slices.BinarySearch(a.sorted, a.positions[record])
		from := max(0, min(n-width, rank-random.IntN(width)))
		c.low, c.high = a.sorted[from], after(a.sorted, from+width-1)
	case a.prefix:
		c.label = a.labels[record][:1+random.IntN(len(a.labels[record]))]
	default:
		c.label = a.labels[record]
		for random.IntN(2) == 0 && a.taxonomy.above[c.label] != hierarchy.Root {
			c.label = a.taxonomy.above[c.label]
		}
	}
	return c
}

// after is the least value above that at a rank, or just beyond the last one.
func after(sorted []float64, rank int) float64 {
	next, _ := slices.BinarySearchFunc(sorted, sorted[rank], func(value, than float64) int {
		if value <= than {
			return -1
		}
		return 1
	})
	if next < len(sorted) {
		return sorted[next]
	}
	return sorted[len(sorted)-1] + 1
}
