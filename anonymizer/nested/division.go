package nested

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// division is the state of a run.
type division struct {
	*units
	constraints privacy.ConstraintSet
	k           int
	sizeDecides bool
	seed        uint64
	placed      *anonymizer.Tracker
	groups      [][]int32
}

func (d *division) satisfied(members []int32) bool {
	if size := d.size(members); d.sizeDecides || size < d.k && d.table.Subjects() == nil {
		return size >= d.k
	}
	return d.constraints.Satisfied(d.table.Summarize(d.recordsOf(members)), d.table.Population())
}

const (
	// mostUnits is how many units of a set decide how it is cut; they are a random sample.
	mostUnits = 512
	// mostTried is how many cuts are tried before a set counts as final.
	mostTried = 24
)

// cut divides a set: the units first in the order of an attribute, up to one, against the others.
type cut struct {
	loss      float64
	attribute int
	middle    int32 // of the last unit in front, the sum of its ranks
	last      int32 // that unit, by which those with the same middle are divided
}

// cutter divides sets of units from the top.
type cutter struct {
	*division
	cuts          []cut
	order         []int32
	low, high     []int32
	before, after []float32
	sizes         []int
}

func newCutter(d *division) *cutter {
	return &cutter{division: d, low: make([]int32, len(d.scales)), high: make([]int32, len(d.scales))}
}

func (c *cutter) divide(ctx context.Context, members []int32) {
	if ctx.Err() != nil {
		return
	}
	if lower, upper := c.cut(members); lower != nil {
		c.divide(ctx, lower)
		c.divide(ctx, upper)
		return
	}
	c.placed.Add(c.size(members))
	c.groups = append(c.groups, members)
}

// cut gives the parts of the best cut of which both satisfy the constraints; nil for none.
func (c *cutter) cut(members []int32) (lower, upper []int32) {
	if c.size(members) < 2*c.k || len(members) < 2 {
		return nil, nil
	}
	sample := members[:min(mostUnits, len(members))]
	c.cuts = c.cuts[:0]
	for a := range c.scales {
		c.offer(sample, a, len(members))
	}
	slices.SortStableFunc(c.cuts, func(x, y cut) int { return cmp.Compare(x.loss, y.loss) })
	for _, o := range c.cuts[:min(mostTried, len(c.cuts))] {
		lower, upper = c.separate(members, o)
		if c.satisfied(lower) && c.satisfied(upper) {
			return lower, upper
		}
	}
	return nil, nil
}

// middle is the sum of a unit's ranks in an attribute.
func (u *units) middle(unit int32, a int) int32 {
	at := int(unit)*len(u.scales) + a
	return u.low[at] + u.high[at]
}

func (c *cutter) compare(a int) func(x, y int32) int {
	return func(x, y int32) int {
		return cmp.Or(cmp.Compare(c.middle(x, a), c.middle(y, a)), cmp.Compare(x, y))
	}
}

// offer offers the cuts along an attribute.
func (c *cutter) offer(sample []int32, a, all int) {
	c.order = append(c.order[:0], sample...)
	slices.SortFunc(c.order, c.compare(a))
	n := len(c.order)
	if c.middle(c.order[0], a) == c.middle(c.order[n-1], a) && a > 0 {
		return
	}
	c.sweep()
	times := float64(all) / float64(n)
	for i := 1; i < n; i++ {
		front, back := float64(c.sizes[i])*times, float64(c.sizes[n]-c.sizes[i])*times
		if min(front, back) < float64(c.k) {
			continue
		}
		if all > mostUnits && c.middle(c.order[i-1], a) == c.middle(c.order[i], a) {
			continue
		}
		c.cuts = append(c.cuts, cut{
			loss:      c.expected(front, c.before[i]) + c.expected(back, c.after[i]),
			attribute: a, middle: c.middle(c.order[i-1], a), last: c.order[i-1],
		})
	}
}

// expected is what a part loses: one that makes several groups counts as if it were divided evenly
// along two attributes.
func (c *cutter) expected(size float64, loss float32) float64 {
	return size * float64(loss) / math.Sqrt(max(1, math.Floor(size/float64(c.k))))
}

// sweep measures the boxes of the first units of the order and of the last ones.
func (c *cutter) sweep() {
	n := len(c.order)
	c.before, c.after = slices.Grow(c.before[:0], n+1)[:n+1], slices.Grow(c.after[:0], n+1)[:n+1]
	c.sizes = slices.Grow(c.sizes[:0], n+1)[:n+1]
	c.before[0], c.after[n], c.sizes[0] = 0, 0, 0
	c.start(c.order[0])
	for i := range n {
		c.before[i+1] = c.include(c.order[i])
		c.sizes[i+1] = c.sizes[i] + len(c.classes[c.order[i]])
	}
	c.start(c.order[n-1])
	for i := n - 1; i >= 0; i-- {
		c.after[i] = c.include(c.order[i])
	}
}

func (c *cutter) start(unit int32) {
	low, high := c.box(unit)
	copy(c.low, low)
	copy(c.high, high)
}

func (c *cutter) include(unit int32) (sum float32) {
	low, high := c.box(unit)
	for a := range c.scales {
		c.low[a], c.high[a] = min(c.low[a], low[a]), max(c.high[a], high[a])
		sum += c.scales[a].Of(c.low[a], c.high[a])
	}
	return sum
}

// separate keeps the order of the units in both parts, so that the first ones are a sample still.
func (c *cutter) separate(members []int32, o cut) (lower, upper []int32) {
	for _, m := range members {
		middle := c.middle(m, o.attribute)
		if middle < o.middle || middle == o.middle && (m <= o.last || len(members) > mostUnits) {
			lower = append(lower, m)
		} else {
			upper = append(upper, m)
		}
	}
	return lower, upper
}
