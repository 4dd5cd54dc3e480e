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
	// Count is the number of queries; 0 means 1000, and over more than 300,000 records as
	// many fewer as keep the time within bounds, 100 from three million on. The
	// median of 100 queries is off by about an eighth of the errors' spread, that of
	// 1000 by a twenty-fifth; all releases of a table are asked the same ones.
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

// Bounds of the default number of queries, and of the records that all of them
// together look at.
const (
	mostQueries  = 1000
	leastQueries = 100
	mostLooks    = 300_000_000
)

func (q Queries) withDefaults(records int) Queries {
	if q.Count <= 0 {
		q.Count = max(leastQueries, min(mostQueries, mostLooks/records))
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
// one without attributes have 0. Time: Count times the records and classes, about a
// nanosecond each.
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
	q = q.withDefaults(t.Len())
	over := make([]int, attributes)
	for a := range over {
		over[a] = a
	}
	axes := axesOf(t, r, over)
	covered := byAttribute(boxes(r, axes, over), attributes)
	random := rand.New(rand.NewPCG(q.Seed, 0))
	errs := make([]float64, q.Count)
	for i := range errs {
		asked := q.draw(random, t, axes)
		count := countRecords(axes, asked)
		off := math.Abs(estimate(r, covered, asked) - float64(count))
		errs[i] = off / max(float64(count), q.Sanity*float64(t.Len()))
	}
	return errs
}

// byAttribute turns boxes around, so that a query reads only what it asks for.
func byAttribute(boxes [][]span, attributes int) [][]span {
	turned := make([][]span, attributes)
	for a := range turned {
		turned[a] = make([]span, len(boxes))
		for e, box := range boxes {
			turned[a][e] = box[a]
		}
	}
	return turned
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

// block is how many records or classes a query looks at together; what it finds
// stays in the processor's cache.
const block = 2048

// countRecords narrows each block down, restriction by restriction, without a
// branch that depends on the records.
func countRecords(axes []*axis, asked []restriction) int {
	count := 0
	var chosen [block]int32
	for from, ranks := 0, axes[asked[0].attribute].ranks; from < len(ranks); from += block {
		n := 0
		for i := range min(block, len(ranks)-from) {
			chosen[n] = int32(from + i)
			n += asked[0].holds(ranks[from+i])
		}
		for _, a := range asked[1:] {
			kept, column := 0, axes[a.attribute].ranks
			for _, i := range chosen[:n] {
				chosen[kept] = i
				kept += a.holds(column[i])
			}
			n = kept
		}
		count += n
	}
	return count
}

// holds is 1 for a rank in the span and 0 for another.
func (s span) holds(rank int32) int {
	var in int
	if uint32(rank-s.low) <= uint32(s.high-s.low) {
		in = 1
	}
	return in
}

// estimate finds the classes that a query touches as countRecords finds records.
func estimate(r *anonymizer.Release, covered [][]span, asked []restriction) float64 {
	sum := 0.0
	var touched [block]int32
	for from, boxes := 0, covered[asked[0].attribute]; from < len(boxes); from += block {
		n := 0
		for i := range min(block, len(boxes)-from) {
			touched[n] = int32(from + i)
			n += asked[0].meets(boxes[from+i])
		}
		for _, a := range asked[1:] {
			kept := 0
			for _, e := range touched[:n] {
				touched[kept] = e
				kept += a.meets(covered[a.attribute][e])
			}
			n = kept
		}
		for _, e := range touched[:n] {
			part := float64(len(r.Classes[e]))
			for _, a := range asked {
				box := covered[a.attribute][e]
				part *= box.common(a.span) / box.width()
			}
			sum += part
		}
	}
	return sum
}

// meets is 1 for a span that has a number in common and 0 for another.
func (s span) meets(o span) int {
	var meet int
	if min(s.high, o.high) >= max(s.low, o.low) {
		meet = 1
	}
	return meet
}
