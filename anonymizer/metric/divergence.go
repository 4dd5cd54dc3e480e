package metric

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Divergence is the Kullback-Leibler divergence sum P ln(P/Q), in nats, of the
// counts that a query grouped by some attributes finds (Kifer and Gehrke 2006,
// Ghinita et al. 2009). The attributes are indexes into the table's.
//
// P is the distribution of the original records over the combinations of
// values. Q is that of the release: each class spreads its records evenly over
// the combinations of values that its box allows, among all values that the
// table has in each attribute: those in the range that is published, or those
// below the node. Withheld records are spread over all combinations. The sum runs
// over the combinations that the original has; where the release puts records
// into others, these are missing from Q and add to the divergence. Q is never 0
// where P is not, so there is nothing to smooth.
//
// Range 0 (the same counts) to ln of the number of combinations or so, without a
// fixed bound; lower is better. No attributes, or an empty table, have 0.
func Divergence(t *anonymizer.Table, r *anonymizer.Release, over []int) float64 {
	axes := axesOf(t, r, over)
	groups, sizes := group(axes, t.Len())
	q := spread(r, axes, over, groups, len(sizes))
	sum, n := 0.0, float64(t.Len())
	for g, size := range sizes {
		p := float64(size) / n
		sum += p * math.Log(p/(q[g]/n))
	}
	return max(0, sum)
}

// group finds the combinations of values, as points on the axes, and how many
// records have each.
func group(axes []*axis, records int) (points [][]int32, sizes []int) {
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

// unique gives the different points among some, and the number of the one that
// each equals.
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

// load is a box and the records that are spread over it.
type load struct {
	box     []span
	records int
}

// spread gives for each point how many records of the release lie there.
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
		found := stack(newTree(projected, distinct), project(narrow[mask], mask), distinct)
		for p := range sum {
			sum[p] += found[of[p]] * share
		}
	}
	return sum
}

// project leaves the axes of the mask and unites the boxes that are then equal:
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

// stack spreads each load evenly over its box and gives what comes to lie on
// each point.
func stack(index *tree, loads []load, count int) []float64 {
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
