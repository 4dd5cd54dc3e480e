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
	return d.constraints.Satisfied(d.summarize(members), d.table.Population())
}

const (
	// mostUnits is how many units of a set decide how it is cut; they are a random sample.
	mostUnits = 512
	// exactTimes is how many times the least size a set has at most whose parts are measured as they are.
	exactTimes = 4
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
	views         []view
	order         []int32
	low, high     []int32
	before, after []float32
	sizes         []int
	whole         bool // what is not cut is left as it is
}

func newCutter(d *division) *cutter {
	return &cutter{division: d, views: make([]view, len(d.scales)), low: make([]int32, len(d.scales)), high: make([]int32, len(d.scales))}
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
	if c.whole {
		c.groups = append(c.groups, members)
		return
	}
	c.groups = append(c.groups, c.mend(ctx, members)...)
}

// cut gives the parts of the best cut of which both satisfy the constraints; nil for none.
func (c *cutter) cut(members []int32) (lower, upper []int32) {
	size := c.size(members)
	if size < 2*c.k || len(members) < 2 {
		return nil, nil
	}
	if size >= exactTimes*c.k {
		c.offerExpected(members[:min(mostUnits, len(members))], float64(size)/float64(len(members)), len(members))
		if lower, upper = c.take(members); lower != nil {
			return lower, upper
		}
	}
	c.offerExact(members[:min(mostUnits, len(members))], len(members))
	return c.take(members)
}

// take makes the best of the offered cuts of which both parts satisfy the constraints.
func (c *cutter) take(members []int32) (lower, upper []int32) {
	slices.SortStableFunc(c.cuts, func(x, y cut) int { return cmp.Compare(x.loss, y.loss) })
	for _, o := range c.cuts[:min(mostTried, len(c.cuts))] {
		lower, upper = c.separate(members, o)
		if c.satisfied(lower) && c.satisfied(upper) {
			return lower, upper
		}
	}
	return nil, nil
}

// offerExpected offers cuts by what groups to come are expected to lose.
func (c *cutter) offerExpected(sample []int32, mean float64, all int) {
	c.cuts = c.cuts[:0]
	for a := range c.views {
		c.views[a].take(c.units, a, sample)
	}
	d := newDraws(max(1, float64(c.k)/mean), len(sample))
	times := float64(all) / float64(len(sample))
	place := make([]int32, len(sample))
	for a := range c.scales {
		for i := range place {
			place[i] = int32(i)
		}
		compare := c.compare(a)
		slices.SortFunc(place, func(x, y int32) int { return compare(sample[x], sample[y]) })
		for b := range c.views {
			c.views[b].reset()
		}
		step := max(1, c.distinct(a, sample, place)/mostValues)
		front, total, values := 0, c.size(sample), 0
		for i, p := range place[:len(place)-1] {
			for b := range c.views {
				c.views[b].shift(int(p))
			}
			front += len(c.classes[sample[p]])
			if c.middle(sample[p], a) == c.middle(sample[place[i+1]], a) {
				continue
			}
			values++
			if values%step != 0 || float64(min(front, total-front))*times < float64(c.k) {
				continue
			}
			sum := 0.0
			for b := range c.views {
				v := &c.views[b]
				sum += v.expected(d, &v.left) + v.expected(d, &v.right)
			}
			c.cuts = append(c.cuts, cut{loss: sum, attribute: a, middle: c.middle(sample[p], a), last: beyond})
		}
	}
}

// beyond is after every unit.
const beyond = 1 << 30

// distinct is how many middles there are.
func (c *cutter) distinct(a int, sample, place []int32) int {
	n := 1
	for i := 1; i < len(place); i++ {
		if c.middle(sample[place[i]], a) != c.middle(sample[place[i-1]], a) {
			n++
		}
	}
	return n
}

// offerExact offers cuts by what their parts lose.
func (c *cutter) offerExact(sample []int32, all int) {
	c.cuts = c.cuts[:0]
	for a := range c.scales {
		c.offer(sample, a, all)
	}
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
