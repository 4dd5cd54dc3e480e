package metric

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Queries describes random count queries, after LeFevre, DeWitt and Ramakrishnan
// 2006 and Xiao and Tao 2006: SELECT count(*) WHERE some attributes lie in a
// random range, or equal a random value for attributes without ranges. The same
// description asks the same queries of all releases of a table.
type Queries struct {
	Seed uint64
	// Count is the number of queries; 0 means 1000.
	Count int
	// Attributes is how many attributes a query restricts; 0 means 2. A query
	// restricts at most as many as the table has.
	Attributes int
	// Selectivity is the share of all combinations of values that a query on
	// ranges alone selects, above 0 and at most 1; 0 means 0.05. Each range has the
	// same share of its attribute's different values, at least one.
	Selectivity float64
	// Sanity bounds from below the count by which the error is divided, as a share
	// of the records; 0 means 0.001. Without it, queries that almost no record
	// satisfies would decide.
	Sanity float64
}

func (q Queries) withDefaults() Queries {
	if q.Count <= 0 {
		q.Count = 1000
	}
	if q.Attributes <= 0 {
		q.Attributes = 2
	}
	if !(q.Selectivity > 0 && q.Selectivity <= 1) {
		q.Selectivity = 0.05
	}
	if !(q.Sanity > 0) {
		q.Sanity = 0.001
	}
	return q
}

// QueryError is the median of |estimate - count| / max(count, Sanity * n) over the
// queries: count is of the original records, the estimate takes the records of
// each class as evenly spread over its box (see Divergence); withheld records
// are not found. Range 0 to about 1/Sanity; lower is better. An empty table and
// one without attributes have 0. Time: Count times the records and classes.
func QueryError(t *anonymizer.Table, r *anonymizer.Release, q Queries) float64 {
	errs := QueryErrors(t, r, q)
	if len(errs) == 0 {
		return 0
	}
	slices.Sort(errs)
	middle := len(errs) / 2
	if len(errs)%2 == 1 {
		return errs[middle]
	}
	return (errs[middle-1] + errs[middle]) / 2
}

// QueryErrors are the relative errors of all queries, in the order in which they
// are asked; see QueryError. Nil for an empty table and one without attributes.
func QueryErrors(t *anonymizer.Table, r *anonymizer.Release, q Queries) []float64 {
	attributes := len(t.Attributes())
	if t.Len() == 0 || attributes == 0 {
		return nil
	}
	q = q.withDefaults()
	over := make([]int, attributes)
	for a := range over {
		over[a] = a
	}
	axes := axesOf(t, r, over)
	covered := boxes(r, axes, over)
	random := rand.New(rand.NewPCG(q.Seed, 0))
	errs := make([]float64, q.Count)
	for i := range errs {
		asked := q.draw(random, t, axes)
		count := countRecords(axes, asked, t.Len())
		off := math.Abs(estimate(r, covered, asked) - float64(count))
		errs[i] = off / max(float64(count), q.Sanity*float64(t.Len()))
	}
	return errs
}

// restriction is a query's demand of one attribute.
type restriction struct {
	attribute int
	span
}

func (q Queries) draw(random *rand.Rand, t *anonymizer.Table, axes []*axis) []restriction {
	number := min(q.Attributes, len(axes))
	share := math.Pow(q.Selectivity, 1/float64(number))
	asked := make([]restriction, number)
	for i, a := range random.Perm(len(axes))[:number] {
		if !ranges(t.Attributes()[a].Hierarchy.Kind()) {
			rank := axes[a].ranks[random.IntN(t.Len())]
			asked[i] = restriction{a, span{rank, rank}}
			continue
		}
		width := min(max(1, int(math.Round(share*float64(axes[a].values)))), axes[a].values)
		low := random.IntN(axes[a].values - width + 1)
		asked[i] = restriction{a, span{int32(low), int32(low + width - 1)}}
	}
	return asked
}

func countRecords(axes []*axis, asked []restriction, records int) int {
	count := 0
records:
	for i := range records {
		for _, a := range asked {
			if rank := axes[a.attribute].ranks[i]; rank < a.low || a.high < rank {
				continue records
			}
		}
		count++
	}
	return count
}

func estimate(r *anonymizer.Release, covered [][]span, asked []restriction) float64 {
	sum := 0.0
	for e, class := range r.Classes {
		part := float64(len(class))
		for _, a := range asked {
			box := covered[e][a.attribute]
			if part *= box.common(a.span) / box.width(); part == 0 {
				break
			}
		}
		sum += part
	}
	return sum
}
