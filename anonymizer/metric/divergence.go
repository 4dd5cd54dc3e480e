package metric

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Divergence returns the Kullback-Leibler divergence, in nats, of the counts that a
// query grouped by some attributes finds (Kifer and Gehrke 2006, Ghinita et al. 2009):
//
//	sum_x P(x) * ln(P(x) / Q(x))
//
// The attributes are indexes into the table's. P is the distribution of the original
// records over the combinations x of their values, Q that of the release: each class
// spreads its records evenly over the combinations in its box, of the values that the
// table has in each attribute (those in the published range, or those below the
// node). Withheld records are spread over all combinations. The sum runs over the
// combinations that the original has; records that the release puts into others are
// missing from Q and add to the divergence. Q is never 0 where P is not, so there is
// nothing to smooth.
//
// The range is 0 (the same counts) to about ln of the number of combinations, without
// a fixed bound; lower is better.
//
// Special cases are:
//
//	= 0 without attributes
//	= 0 for an empty table
func Divergence(t *anonymizer.Table, r *anonymizer.Release, over []int) float64 {
	return divergence(t, r, axesOf(t, r, over), over, t.Len())
}

const (
	// divergenceAll is the size, in records, up to which NeighborDivergence looks up all of a table.
	divergenceAll = 100_000
	// divergenceSample is how many records it looks up in a larger one.
	divergenceSample = 5_000
)

// NeighborDivergence returns the mean Divergence of the counts grouped by each two
// neighboring attributes, or by the only one. Range and direction are those of
// Divergence.
//
// To bound the time, of a table of more than 100,000 records it takes the mean of
// ln(P/Q) over 5,000, evenly spaced in the order of their values. The standard error
// is at most 1/70 of the spread of ln(P/Q), and all releases of a table are measured
// by the same records.
func NeighborDivergence(t *anonymizer.Table, r *anonymizer.Release) float64 {
	over := make([]int, len(t.Attributes()))
	for a := range over {
		over[a] = a
	}
	axes, records := axesOf(t, r, over), t.Len()
	if records > divergenceAll {
		records = divergenceSample
	}
	if len(over) < 2 {
		return divergence(t, r, axes, over, records)
	}
	sum := 0.0
	for a := 1; a < len(over); a++ {
		sum += divergence(t, r, axes[a-1:a+1], over[a-1:a+1], records)
	}
	return sum / float64(len(over)-1)
}

// divergence is Divergence over a sample of that many records.
func divergence(t *anonymizer.Table, r *anonymizer.Release, axes []*axis, over []int, records int) float64 {
	groups, sizes := group(axes, t.Len())
	counts := sizes
	if records < t.Len() {
		groups, sizes, counts = thin(groups, sizes, t.Len(), records)
	}
	q := spread(r, axes, over, groups, len(sizes))
	sum := 0.0
	for g, count := range counts {
		sum += float64(count) / float64(records) * math.Log(float64(sizes[g])/q[g])
	}
	return max(0, sum)
}

// thin takes a sample of the records at even distances. It returns the groups of
// which a record was taken, their sizes, and how many were taken of each.
func thin(points [][]int32, sizes []int, records, taken int) (kept [][]int32, keptSizes, counts []int) {
	kept = make([][]int32, len(points))
	before := 0 // records
	for g, size := range sizes {
		first, next := before*taken/records, (before+size)*taken/records
		before += size
		if first == next {
			continue
		}
		for a, column := range points {
			kept[a] = append(kept[a], column[g])
		}
		keptSizes, counts = append(keptSizes, size), append(counts, next-first)
	}
	return kept, keptSizes, counts
}

// group returns the combinations of values, as points on the axes, and the number of
// records that have each.
func group(axes []*axis, records int) (points [][]int32, sizes []int) {
	if len(axes) == 2 {
		return groupPairs(axes[0].ranks, axes[1].ranks)
	}
	columns := make([][]int32, len(axes))
	for a, x := range axes {
		columns[a] = x.ranks
	}
	points, of := unique(columns, records)
	for _, p := range of {
		for int(p) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[p]++
	}
	return points, sizes
}

// groupPairs is group for two axes, whose ranks fit into one number.
func groupPairs(first, second []int32) (points [][]int32, sizes []int) {
	pairs := make([]uint64, len(first))
	for i := range pairs {
		pairs[i] = uint64(first[i])<<32 | uint64(second[i])
	}
	slices.Sort(pairs)
	points = make([][]int32, 2)
	for i, pair := range pairs {
		if i == 0 || pair != pairs[i-1] {
			points[0], points[1] = append(points[0], int32(pair>>32)), append(points[1], int32(uint32(pair)))
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1]++
	}
	return points, sizes
}

// unique returns the different points, and for each of the count points given the
// index of its equal among them.
func unique(columns [][]int32, count int) (points [][]int32, of []int32) {
	compare := func(i, j int32) int {
		for _, column := range columns {
			if c := cmp.Compare(column[i], column[j]); c != 0 {
				return c
			}
		}
		return 0
	}
	order := make([]int32, count)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, compare)
	points, of = make([][]int32, len(columns)), make([]int32, count)
	last := int32(-1)
	for at, i := range order {
		if at == 0 || compare(order[at-1], i) != 0 {
			last++
			for a, column := range columns {
				points[a] = append(points[a], column[i])
			}
		}
		of[i] = last
	}
	return points, of
}

// load is a number of records that are spread evenly over a box.
type load struct {
	box     []span
	records int
}

// spread returns how many records of the release lie on each point.
func spread(r *anonymizer.Release, axes []*axis, over []int, points [][]int32, count int) []float64 {
	everything := make([]span, len(axes))
	for a, x := range axes {
		everything[a] = x.everything()
	}
	loads := []load{{everything, len(r.Withheld)}}
	for e, box := range boxes(r, axes, over) {
		loads = append(loads, load{box, len(r.Classes[e])})
	}
	// Boxes that span everything on the same axes are searched on the others
	// alone, where there are fewer points.
	narrow := make(map[string][]load)
	for _, l := range loads {
		mask := make([]byte, len(axes))
		for a, s := range l.box {
			if s != everything[a] {
				mask[a] = 1
			}
		}
		narrow[string(mask)] = append(narrow[string(mask)], l)
	}
	sum := make([]float64, count)
	for _, mask := range slices.Sorted(maps.Keys(narrow)) {
		var columns [][]int32
		share := 1.0
		for a := range axes {
			if mask[a] == 1 {
				columns = append(columns, points[a])
			} else {
				share /= everything[a].width()
			}
		}
		projected, of := unique(columns, count)
		distinct := 0
		for _, p := range of {
			distinct = max(distinct, int(p)+1)
		}
		found := accumulate(newTree(projected, distinct), project(narrow[mask], mask), distinct)
		for p := range sum {
			sum[p] += found[of[p]] * share
		}
	}
	return sum
}

// project reduces boxes to the axes in the mask and unites those that are then equal:
// many classes cover the same of a few attributes.
func project(loads []load, mask string) []load {
	projected := make([]load, len(loads))
	for i, l := range loads {
		projected[i].records = l.records
		for a, s := range l.box {
			if mask[a] == 1 {
				projected[i].box = append(projected[i].box, s)
			}
		}
	}
	compare := func(a, b load) int {
		return slices.CompareFunc(a.box, b.box, func(s, o span) int {
			return cmp.Or(cmp.Compare(s.low, o.low), cmp.Compare(s.high, o.high))
		})
	}
	slices.SortFunc(projected, compare)
	united := projected[:0]
	for _, l := range projected {
		if last := len(united) - 1; last >= 0 && compare(united[last], l) == 0 {
			united[last].records += l.records
		} else {
			united = append(united, l)
		}
	}
	return united
}

// accumulate spreads each load evenly over its box and returns the records on each
// point.
func accumulate(index *tree, loads []load, count int) []float64 {
	inNode, atPoint := make([]float64, len(index.nodes)), make([]float64, count)
	for _, l := range loads {
		each := float64(l.records)
		for _, s := range l.box {
			each /= s.width()
		}
		index.within(l.box, func(number int, from, _ int32) {
			if number >= 0 {
				inNode[number] += each
			} else {
				atPoint[index.order[from]] += each
			}
		})
	}
	for number, n := range index.nodes {
		for _, p := range index.order[n.from:n.to] {
			atPoint[p] += inNode[number]
		}
	}
	return atPoint
}
