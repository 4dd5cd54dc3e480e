package metric

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Queries describes random count queries, SELECT count(*) WHERE a conjunction holds:
//
//   - a range of numbers, dates or ordered values, from one value of the column to
//     another one;
//   - a node of the hierarchy for categories and codes, at any level below the root:
//     a label of a taxonomy, a prefix, or a single value;
//   - sometimes a value of a sensitive attribute, which a release publishes as it is.
//
// A query is about a record drawn at random, which meets it, so that none is about
// nothing: it restricts 1 to Attributes of the quasi-identifiers in which the record is
// not NULL, each number being as likely, and aims at a share of the records between
// leastAsked and mostAsked, evenly on a logarithmic scale; a range has the aim's m-th
// root of the records, of m restrictions. Queries of fewer records than Sanity, or of
// more than mostAsked, are drawn again, up to 50 times. The same description asks the
// same queries of all releases of a table.
type Queries struct {
	Seed uint64
	// Count is the number of queries; 0 means 1000, and over more than 100,000 records as
	// many fewer as keep the time within bounds, 100 from a million on. The
	// median of 100 queries is off by about an eighth of the errors' spread, that of
	// 1000 by a twenty-fifth; all releases of a table are asked the same ones.
	Count int
	// Attributes is how many quasi-identifiers a query restricts at most; 0 means 3. A
	// query restricts at most as many as the table has.
	Attributes int
	// Sensitive is the share of the queries, 0 to 1, that ask for a sensitive value
	// besides, where the table has any; 0 means a quarter, a negative number none.
	Sensitive float64
	// Sanity bounds from below the count by which the error is divided, as a share
	// of the records; 0 means 0.001, and the bound is at least one record.
	Sanity float64
}

// Bounds of the default number of queries, and of the records that all of them
// together look at.
const (
	mostQueries  = 1000
	leastQueries = 100
	mostLooks    = 100_000_000
)

// The shares of the records at which a query aims, and how often one is drawn again.
const (
	leastAsked = 0.002
	mostAsked  = 0.5
	mostDraws  = 50
)

func (q Queries) withDefaults(records int) Queries {
	if q.Count <= 0 {
		q.Count = max(leastQueries, min(mostQueries, mostLooks/records))
	}
	if q.Attributes <= 0 {
		q.Attributes = 3
	}
	if q.Sensitive == 0 {
		q.Sensitive = 0.25
	}
	if !(q.Sanity > 0) {
		q.Sanity = 0.001
	}
	return q
}

// QueryError is the median of the relative errors of the queries (see QueryErrors), the
// measure of Xiao and Tao, "Anatomy: simple and effective privacy preservation", VLDB
// 2006. Range 0 (a release that loses nothing) to about 1/Sanity; 1 where nothing is
// published; lower is better. An empty table and one without attributes have 0. Time:
// some ten times Count the records and classes, about a nanosecond each.
func QueryError(t *anonymizer.Table, r *anonymizer.Release, q Queries) float64 {
	return median(QueryErrors(t, r, q))
}

// median is 0 of no errors.
func median(errs []float64) float64 {
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

// QueryErrors are the relative errors of all queries, in the order in which they are
// asked:
//
//	|estimate - count| / max(count, s),   s = max(1, Sanity * n)
//
// where count is of the n original records. The sanity bound s keeps queries that almost
// no record satisfies from deciding (Xiao, Wang and Gehrke, "Differential privacy via
// wavelet transforms", ICDE 2010, who take 0.1 % of the records, too).
//
// The estimate is a reader's. It takes the records of a class as evenly spread over what
// is published of them (LeFevre, DeWitt and Ramakrishnan, "Mondrian", ICDE 2006): in the
// published interval, whose whole numbers, days and microseconds are counted, whose
// decimals are measured; in the range of an order, below the node, or with the
// prefix, over the values that the column has. The share of a class is the product over
// the restrictions; its sensitive values are known. What is hidden may be anything that
// the column has, but classes of NULLs alone meet nothing; withheld records are not
// found. As for PublishedLoss, levels of the release do not count. Nil for an empty table, one without attributes, and one of NULLs alone.
func QueryErrors(t *anonymizer.Table, r *anonymizer.Release, q Queries) []float64 {
	return q.errorsOf(t, r, func(s *scale, _ int) []interval { return s.coveredBy(r) })
}

// errorsOf are the errors if readers know of each class, of the attribute of that index,
// what coveredBy gives.
func (q Queries) errorsOf(t *anonymizer.Table, r *anonymizer.Release, coveredBy func(s *scale, attribute int) []interval) []float64 {
	if t.Len() == 0 || len(t.Attributes()) == 0 {
		return nil
	}
	q = q.withDefaults(t.Len())
	scales := make([]*scale, len(t.Attributes()))
	covered := make([][]interval, len(scales))
	for a := range scales {
		scales[a] = newScale(t, a)
		covered[a] = coveredBy(scales[a], a)
	}
	source := newQuestioner(t, scales, q)
	bound := max(1, q.Sanity*float64(t.Len()))
	errs := make([]float64, 0, q.Count)
	for range q.Count {
		asked, count, found := source.draw()
		if !found {
			return nil
		}
		errs = append(errs, math.Abs(asked.estimate(r, scales, covered)-float64(count))/max(float64(count), bound))
	}
	return errs
}

// query is a conjunction of restrictions, and of a sensitive value where it has a column
// of their codes.
type query struct {
	restrictions []restriction
	column       []uint32
	code         uint32
}

// restriction is a query's demand of one attribute: of the records by their ranks, and of
// what is published by its place on the scale.
type restriction struct {
	attribute int
	span
	asked interval
}

// questioner draws queries about a table.
type questioner struct {
	Queries
	random    *rand.Rand
	table     *anonymizer.Table
	scales    []*scale
	sensitive int // how many sensitive attributes there are
}

func newQuestioner(t *anonymizer.Table, scales []*scale, q Queries) *questioner {
	return &questioner{q, rand.New(rand.NewPCG(q.Seed, 0)), t, scales, len(t.Population().Sensitive)}
}

// draw draws a query that is about enough of the records, with their number; false
// where there is none to draw.
func (q *questioner) draw() (drawn query, count int, found bool) {
	n := float64(q.table.Len())
	for range mostDraws {
		about := int32(q.random.IntN(q.table.Len()))
		one := q.drawAbout(about)
		if len(one.restrictions) == 0 {
			continue
		}
		drawn, count, found = one, one.count(q.scales), true
		if share := float64(count) / n; share >= q.Sanity && share <= mostAsked {
			break
		}
	}
	return drawn, count, found
}

// drawAbout draws a query that the record meets; without restrictions where it is NULL in
// all attributes.
func (q *questioner) drawAbout(record int32) query {
	var drawn query
	aim := leastAsked * math.Pow(mostAsked/leastAsked, q.random.Float64())
	number := 1 + q.random.IntN(min(q.Attributes, len(q.scales)))
	if q.random.Float64() < q.Sensitive && q.sensitive > 0 {
		drawn.column = q.table.Sensitive(q.random.IntN(q.sensitive))
		drawn.code = drawn.column[record]
	}
	share := math.Pow(aim, 1/float64(number))
	for _, a := range q.random.Perm(len(q.scales)) {
		if s := q.scales[a]; s.ranks[record] != s.off && len(drawn.restrictions) < number {
			asked := s.about(q.random, record, share)
			drawn.restrictions = append(drawn.restrictions, restriction{a, asked, s.place(asked)})
		}
	}
	return drawn
}

// block is how many records or classes a query looks at together; what it finds
// stays in the processor's cache.
const block = 2048

// count narrows each block down, restriction by restriction, without a branch that
// depends on the records.
func (q query) count(scales []*scale) int {
	count := 0
	var chosen [block]int32
	first := q.restrictions[0]
	for from, ranks := 0, scales[first.attribute].ranks; from < len(ranks); from += block {
		n := 0
		for i := range min(block, len(ranks)-from) {
			chosen[n] = int32(from + i)
			n += first.holds(ranks[from+i])
		}
		for _, a := range q.restrictions[1:] {
			kept, column := 0, scales[a.attribute].ranks
			for _, i := range chosen[:n] {
				chosen[kept] = i
				kept += a.holds(column[i])
			}
			n = kept
		}
		if q.column == nil {
			count += n
			continue
		}
		count += q.having(chosen[:n])
	}
	return count
}

// having is how many of the records have the sensitive value.
func (q query) having(records []int32) int {
	count := 0
	for _, i := range records {
		if q.column[i] == q.code {
			count++
		}
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

// estimate finds the classes that a query touches as count finds records.
func (q query) estimate(r *anonymizer.Release, scales []*scale, covered [][]interval) float64 {
	sum := 0.0
	var touched [block]int32
	first := q.restrictions[0]
	for from, all := 0, covered[first.attribute]; from < len(all); from += block {
		n := 0
		for i := range min(block, len(all)-from) {
			touched[n] = int32(from + i)
			n += first.asked.meets(all[from+i])
		}
		for _, a := range q.restrictions[1:] {
			kept := 0
			for _, e := range touched[:n] {
				touched[kept] = e
				kept += a.asked.meets(covered[a.attribute][e])
			}
			n = kept
		}
		for _, e := range touched[:n] {
			part := float64(len(r.Classes[e]))
			if q.column != nil {
				part = float64(q.having(r.Classes[e]))
			}
			for _, a := range q.restrictions {
				part *= covered[a.attribute][e].share(a.asked, scales[a.attribute].unit)
			}
			sum += part
		}
	}
	return sum
}
