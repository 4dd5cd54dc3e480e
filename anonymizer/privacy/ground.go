package privacy

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// ground is the whole table's distribution of a sensitive attribute, laid out
// for one ground distance, so that a class is measured in the time of its own
// distinct values.
type ground struct {
	place map[uint32]int32 // of each value, as work understands it
	total int              // sum of the counts
	unit  int              // the greatest ground distance, of work's whole numbers
	// worker gives the least work of moving the class's distribution to the
	// table's, times the sums of both counts.
	worker interface {
		work(g *ground, counts map[uint32]int, sum uint64) wide
	}
}

func (g *ground) work(counts map[uint32]int, sum uint64) wide {
	return g.worker.work(g, counts, sum)
}

func newGround(c TCloseness, all map[uint32]int) *ground {
	g := &ground{place: make(map[uint32]int32, len(all)), unit: 1}
	codes := slices.Sorted(maps.Keys(all))
	for i, code := range codes {
		g.place[code] = int32(i)
		g.total += all[code]
	}
	switch c.Distance {
	case OrderedDistance:
		g.worker = g.order(codes, all, c.Scale)
	case HierarchicalDistance:
		g.worker = g.grow(codes, all, c.Scale)
	default:
		g.worker = layers{identity(codes, all)}
	}
	return g
}

// layer is a division of the values into nodes. The work within a layer is the
// total variation: what the class has too much of in some nodes.
type layer struct {
	nodes []int32 // of each value, by place
	total []int   // the table's counts, by node
}

// layers divide the values ever more coarsely. Where the ground distance is the
// share of the layers in which two values lie apart, the least work is the sum of
// the layers' total variations.
type layers []layer

func identity(codes []uint32, all map[uint32]int) layer {
	l := layer{nodes: make([]int32, len(codes)), total: make([]int, len(codes))}
	for i, code := range codes {
		l.nodes[i], l.total[i] = int32(i), all[code]
	}
	return l
}

// grow makes a layer of each depth below the root of a taxonomy: the nodes at
// that depth, and the values above it. The unit is the height.
func (g *ground) grow(codes []uint32, all map[uint32]int, scale *Scale) layers {
	scale.mutex.Lock()
	defer scale.mutex.Unlock()
	cells, depths := make([]hierarchy.Cell, len(codes)), make([]int, len(codes))
	for i, code := range codes {
		cells[i] = scale.cell(code)
	}
	levels := hierarchy.LevelsOf(scale.hierarchy, cells)
	for i, cell := range cells {
		depths[i] = depthOf(levels, scale.hierarchy.Kind(), cell)
	}
	type nodeKey struct {
		id    hierarchy.NodeID
		value bool
	}
	g.unit = levels.Height()
	grown := make(layers, g.unit)
	for below := range grown {
		l := layer{nodes: make([]int32, len(codes))}
		numbers := map[nodeKey]int32{}
		for i, cell := range cells {
			level := max(0, depths[i]-below-1)
			key := nodeKey{levels.Node(cell, level), level == 0}
			node, known := numbers[key]
			if !known {
				node = int32(len(l.total))
				numbers[key] = node
				l.total = append(l.total, 0)
			}
			l.nodes[i] = node
			l.total[node] += all[codes[i]]
		}
		grown[below] = l
	}
	return grown
}

// depthOf is the number of levels between a value and the root. In a taxonomy,
// where a node has the same id at every level above the values, some values are
// less deep than others.
func depthOf(levels hierarchy.Levels, kind hierarchy.Kind, cell hierarchy.Cell) int {
	height := levels.Height()
	if kind != hierarchy.Categorical {
		return height
	}
	for level := 1; level < height; level++ {
		if levels.Node(cell, level) == levels.Node(cell, height) {
			return level
		}
	}
	return height
}

func (ls layers) work(g *ground, counts map[uint32]int, sum uint64) wide {
	var work wide
	inNode := make(map[int32]int, len(counts))
	for _, l := range ls {
		clear(inNode)
		for code, count := range counts {
			inNode[l.nodes[g.place[code]]] += count
		}
		for node, count := range inNode {
			have, due := product(uint64(count), uint64(g.total)), product(uint64(l.total[node]), sum)
			if due.less(have) {
				work = work.plus(have.minus(due))
			}
		}
	}
	return work
}

// line is the axis of an order with the table's counts along it.
type line struct {
	// upTo[i] is the count of the first i ranks, sums[i] the sum of the first
	// i+1 of these, upTo[0] to upTo[i]. Both have an entry more than there are
	// ranks.
	upTo, sums []uint64
}

// order ranks the values by their position; the unit is the number of steps
// from the first rank to the last. What is off the scale has the rank after the
// last.
func (g *ground) order(codes []uint32, all map[uint32]int, scale *Scale) line {
	type placed struct {
		code     uint32
		position float64
	}
	values := make([]placed, len(codes))
	for i, code := range codes {
		values[i] = placed{code, scale.Position(code)}
	}
	slices.SortFunc(values, func(a, b placed) int { return cmp.Compare(a.position, b.position) }) // NaN first
	upTo := []uint64{0}
	unplaced := 0
	for i, v := range values {
		if math.IsNaN(v.position) {
			unplaced++
			continue
		}
		if i == unplaced || v.position != values[i-1].position {
			upTo = append(upTo, upTo[len(upTo)-1])
		}
		g.place[v.code] = int32(len(upTo) - 2)
		upTo[len(upTo)-1] += uint64(all[v.code])
	}
	for _, v := range values[:unplaced] {
		g.place[v.code] = int32(len(upTo) - 1)
	}
	sums := make([]uint64, len(upTo))
	for i, count := range upTo {
		sums[i] = count
		if i > 0 {
			sums[i] += sums[i-1]
		}
	}
	g.unit = max(1, len(upTo)-2)
	return line{upTo, sums}
}

// work is the sum over all steps from one rank to the next of what must pass:
// the difference of the cumulative counts. Between two ranks where the class has
// values its own is constant and the table's ascending, so a search finds where
// the difference changes its sign.
func (l line) work(g *ground, counts map[uint32]int, sum uint64) wide {
	ranks := len(l.upTo) - 1
	places := make([]rankCount, 0, len(counts))
	for code, count := range counts {
		places = append(places, rankCount{int(g.place[code]), uint64(count)})
	}
	slices.SortFunc(places, func(a, b rankCount) int { return a.rank - b.rank })

	var work wide
	passed := uint64(0) // the class's count up to here
	from := 1           // upTo[from] is the first that is not yet compared
	for _, p := range places {
		to := min(p.rank+1, ranks)
		work = work.plus(l.between(from, to, passed*uint64(g.total), sum))
		if p.rank < ranks {
			passed += p.count
		}
		from = max(from, to)
	}
	work = work.plus(l.between(from, ranks, passed*uint64(g.total), sum))
	if ranks == 0 {
		return work
	}
	// What passes from the last rank to beyond the scale goes a whole range.
	beyond := l.between(ranks, ranks+1, passed*uint64(g.total), sum)
	return work.plus(product(beyond.low, uint64(g.unit)))
}

type rankCount struct {
	rank  int
	count uint64
}

// between is the sum of |upTo[i]*sum - have| for i from up to below to.
func (l line) between(from, to int, have, sum uint64) wide {
	if from >= to {
		return wide{}
	}
	turn := from + sort.Search(to-from, func(i int) bool { return l.upTo[from+i]*sum >= have })
	below, above := l.sums[turn-1]-l.sums[from-1], l.sums[to-1]-l.sums[turn-1]
	more := product(have, uint64(turn-from)).plus(product(above, sum))
	return more.minus(product(below, sum).plus(product(have, uint64(to-turn))))
}
