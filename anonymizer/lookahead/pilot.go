package lookahead

import (
	"cmp"
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/internal/cores"
)

const (
	// mostPiloted is how many records a class has at most of which several cuts are followed to
	// the end.
	mostPiloted = 1 << 15
	// cutsPiloted is how many cuts along each attribute are, and mostCuts how many of all at most.
	cutsPiloted, mostCuts = 2, 12
	// parallelPilots is the least number of records whose cuts are followed at the same time.
	parallelPilots = 1 << 11
)

// pilot chooses among the best cuts along each attribute the one after which the greedy division
// of both parts loses least (the pilot method of Duin and Voss 1999), and gives the size of the left
// part: 0 where there is nothing to choose.
func (c *cutter) pilot(ctx context.Context, records []int32) int {
	if len(records) > mostPiloted || len(records) < 3*c.k || !c.offer(records) || len(c.offers) < 2 {
		return 0
	}
	offers := c.choice()
	losses := make([]float64, len(offers))
	if len(records) < parallelPilots {
		for i, o := range offers {
			losses[i] = c.follow(ctx, records, o)
		}
	} else {
		cores.EachWith(len(offers), func() func(int) {
			own := newCutter(c.division)
			return func(i int) { losses[i] = own.follow(ctx, records, offers[i]) }
		})
	}
	c.offers = append(c.offers[:0], offers[slices.Index(losses, slices.Min(losses))])
	return c.take(records)
}

// choice are the best of the offers along each attribute.
func (c *cutter) choice() []offer {
	slices.SortStableFunc(c.offers, func(x, y offer) int { return cmp.Compare(x.loss, y.loss) })
	var some []offer
	taken := make([]int, len(c.views))
	for _, o := range c.offers {
		if len(some) < mostCuts && taken[o.attribute] < cutsPiloted {
			taken[o.attribute]++
			some = append(some, o)
		}
	}
	return some
}

// follow is the loss of a cut after which both parts are divided greedily, infinite if it is not
// possible.
func (c *cutter) follow(ctx context.Context, records []int32, o offer) float64 {
	own := slices.Clone(records)
	c.offers = append(c.offers[:0], o)
	size := c.take(own)
	if size == 0 {
		return impossible
	}
	return c.greedy(ctx, own[:size]) + c.greedy(ctx, own[size:])
}

const impossible = 1e300

// greedy is the loss of a class after it is divided greedily.
func (c *cutter) greedy(ctx context.Context, records []int32) float64 {
	size := 0
	if len(records) >= 2*c.k && ctx.Err() == nil {
		size = c.cut(records)
	}
	if size == 0 {
		return float64(len(records)) * float64(c.lossOf(records))
	}
	return c.greedy(ctx, records[:size]) + c.greedy(ctx, records[size:])
}

// lossOf is what each record of a class loses, the sum over all attributes.
func (c *cutter) lossOf(records []int32) float32 {
	c.boxes.start(c.rows, records[0])
	for _, r := range records {
		c.boxes.widen(c.rows, r)
	}
	return c.boxes.covered(c.scales)
}
