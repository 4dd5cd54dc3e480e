package nested

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/internal/loss"
)

// mostValues is the number of ranks of an attribute up to which each is looked at. Of a range with
// more, neighbors are taken together.
const mostValues = 64

// view is an attribute as some units have it, to tell what groups of units that are drawn at random
// lose in it. It is what package lookahead has for records, for boxes.
type view struct {
	scale *loss.Scale
	ranks []int32 // on the scale, ascending; of thinned ones the greatest of each
	// gaps are what a range loses from each of the ranks to the next. Else nodes are those that
	// hold ranks, parents first, and root what all of them lose.
	gaps  []float64
	nodes []node
	root  float64
	// Of each unit that was looked at: its slots, or its node; none where it is hidden.
	first, last []int32
	at          []int32
	left, right counter
}

// node holds the ranks from the first to before the last; a group which it holds loses as much less
// as drop than one that only the node above holds.
type node struct {
	from, to int
	above    int32
	drop     float64
}

// none stands for no node, no slot and no unit.
const none = -1

// counter counts the units of a part: those that are shown, and by slot how many end and begin there,
// or by node how many it is the lowest for.
type counter struct {
	units, shown  int
	ends, begins  []int32
	held, scratch []int32
}

// take makes v the view of units.
func (v *view) take(u *units, a int, members []int32) {
	v.scale = &u.scales[a]
	d := len(u.scales)
	v.ranks, v.first, v.last, v.at = v.ranks[:0], v.first[:0], v.last[:0], v.at[:0]
	for _, m := range members {
		if low, high := u.low[int(m)*d+a], u.high[int(m)*d+a]; !v.scale.Hidden(high) {
			v.ranks = append(v.ranks, low, high)
		}
	}
	slices.Sort(v.ranks)
	v.ranks = slices.Compact(v.ranks)
	if v.scale.Ranged {
		v.thin()
	}
	v.gaps, v.nodes, v.root = v.gaps[:0], v.nodes[:0], 0
	switch {
	case v.scale.Ranged:
		for i := 1; i < len(v.ranks); i++ {
			v.gaps = append(v.gaps, float64(v.scale.Of(v.ranks[i-1], v.ranks[i])))
		}
	case len(v.ranks) > 0:
		v.root = float64(v.scale.Of(v.ranks[0], v.ranks[len(v.ranks)-1]))
		v.grow(0, len(v.ranks), v.root, none)
	}
	for _, m := range members {
		v.place(u.low[int(m)*d+a], u.high[int(m)*d+a])
	}
}

// reset puts all units into the right part.
func (v *view) reset() {
	v.left.clear(len(v.ranks), len(v.nodes))
	v.right.clear(len(v.ranks), len(v.nodes))
	for i := range v.at {
		v.count(&v.right, i, 1)
	}
}

// thin takes neighbors together.
func (v *view) thin() {
	if len(v.ranks) <= mostValues {
		return
	}
	step := (len(v.ranks) + mostValues - 1) / mostValues
	kept := v.ranks[:0]
	for i, rank := range v.ranks {
		if (i+1)%step == 0 || i == len(v.ranks)-1 {
			kept = append(kept, rank)
		}
	}
	v.ranks = kept
}

// grow appends the nodes that hold some of the ranks, of which all together lose own. What a node
// holds are neighbors.
func (v *view) grow(from, to int, own float64, above int32) {
	for start := from; start < to; {
		end, inner := start+1, float64(v.scale.Of(v.ranks[start], v.ranks[start]))
		for end < to {
			share := float64(v.scale.Of(v.ranks[start], v.ranks[end]))
			if share >= own {
				break
			}
			end, inner = end+1, share
		}
		if inner < own {
			v.nodes = append(v.nodes, node{start, end, above, own - inner})
			if end-start > 1 {
				v.grow(start, end, inner, int32(len(v.nodes)-1))
			}
		}
		start = end
	}
}

// place finds the slots or the node of one more unit.
func (v *view) place(low, high int32) {
	if v.scale.Hidden(high) {
		v.first, v.last, v.at = append(v.first, none), append(v.last, none), append(v.at, none)
		return
	}
	first, _ := slices.BinarySearch(v.ranks, low)
	last, _ := slices.BinarySearch(v.ranks, high)
	at := int32(none)
	for i, n := range v.nodes {
		if n.from <= first && last < n.to {
			at = int32(i) // a later one is lower
		}
	}
	v.first, v.last, v.at = append(v.first, int32(first)), append(v.last, int32(last)), append(v.at, at)
}

func (c *counter) clear(slots, nodes int) {
	c.units, c.shown = 0, 0
	c.ends, c.begins = append(c.ends[:0], make([]int32, slots)...), append(c.begins[:0], make([]int32, slots)...)
	c.held = append(c.held[:0], make([]int32, nodes)...)
}

// count adds a unit to a part, or with a negative number takes it away.
func (v *view) count(c *counter, i int, times int32) {
	c.units += int(times)
	if v.first[i] == none {
		return
	}
	c.shown += int(times)
	c.begins[v.first[i]] += times
	c.ends[v.last[i]] += times
	if v.at[i] != none {
		c.held[v.at[i]] += times
	}
}

// shift has a unit go from the right part to the left one.
func (v *view) shift(i int) {
	v.count(&v.right, i, -1)
	v.count(&v.left, i, 1)
}

// draws gives by how many units of so many something holds, the chance that some drawn ones all are
// among them, but for a factor.
type draws []float64

// newDraws is for up to most units, of which count are drawn.
func newDraws(count float64, most int) draws {
	d := make(draws, most+1)
	for i := range d {
		d[i] = math.Pow(float64(i)/float64(most), count)
	}
	return d
}

// expected is what units drawn from a part lose, times its units.
func (v *view) expected(d draws, c *counter) float64 {
	if c.units == 0 {
		return 0
	}
	lost := 0.0
	if v.scale.Ranged {
		left, right := 0, c.shown
		for i, gap := range v.gaps {
			left += int(c.ends[i])
			right -= int(c.begins[i])
			lost += gap * (d[c.shown] - d[left] - d[right])
		}
	} else {
		lost = v.root * d[c.shown]
		c.scratch = append(c.scratch[:0], c.held...)
		for i := len(v.nodes) - 1; i >= 0; i-- {
			lost -= v.nodes[i].drop * d[c.scratch[i]]
			if above := v.nodes[i].above; above != none {
				c.scratch[above] += c.scratch[i]
			}
		}
	}
	return float64(c.units) * (lost + d[c.units] - d[c.shown]) / d[c.units]
}
