package nested

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
)

const (
	// leastGathered is how many units there are at least that are also united from the bottom, and mostSized how many at most where
	// groups need nothing but a size: cuts lose about as little then, and take less time.
	leastGathered, mostSized = 1 << 6, 6_000
	// gatheredTogether is about how many units are compared with each other at most.
	gatheredTogether = 1 << 12
	// leastDeficit is that of a group which violates the constraints though none is known.
	leastDeficit = 1e-3
)

// gathered are the groups that are made from the bottom; nil where this is not worth the time. Sets of many units are cut
// first, into parts that satisfy the constraints.
func (d *division) gathered(ctx context.Context, all []int32) [][]int32 {
	if len(all) < leastGathered || d.sizeDecides && len(all) > mostSized || d.counts != nil && !d.sizeDecides {
		return nil
	}
	f := d.newDeficits()
	if f == nil {
		return nil
	}
	sized := *d
	sized.k, sized.groups, sized.placed = max(d.k, d.records/len(all)*gatheredTogether/2), nil, anonymizer.Options{}.Track(0)
	c := newCutter(&sized)
	c.whole = true
	c.divide(ctx, all)
	found := make([][][]int32, len(sized.groups))
	cores.Each(len(found), func(i int) { found[i] = d.gather(ctx, f, sized.groups[i]) })
	if ctx.Err() != nil {
		return nil
	}
	return slices.Concat(found...)
}

// lossOfAll is what all records lose.
func (d *division) lossOfAll(groups [][]int32) (sum float64) {
	s := &search{division: d, of: make([]*group, d.len())}
	for _, g := range groups {
		sum += float64(s.newGroup(g, 0).total())
	}
	return sum
}

// gathering unites groups from the bottom: of all, those two with which least is lost for each record of the deficit that is gone
// then. A group that satisfies the constraints looks for no other one, but others can join it.
type gathering struct {
	*division
	deficits *deficits
	parts    []*part
	due      queue
	boxes    []int32 // by part number and attribute, the lowest ranks and then the highest: what is compared most lies together
	by       []int   // attributes, those first in which groups differ most
	gone     int     // of the parts
	counts   []int32 // of two groups
}

// part is a group that grows.
type part struct {
	members []int32
	size    int32
	counts  []int32
	loss    float64 // of all records
	deficit float64 // 0 where it satisfies the constraints
	partner *part   // of which no other one costs less
	cost    float64 // of each record of the deficit
	gone    bool
	number  int // the order among those that cost the same
	place   int // in the queue
	changed int // how often it has grown
	asOf    int // how often the partner had
}

// queue holds the groups that look for another one, by cost.
type queue []*part

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].cost, q[j].cost), cmp.Compare(q[i].number, q[j].number)) < 0
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *queue) Push(any) {}

func (q *queue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	*q = (*q)[:last]
	return p
}

// gather unites units until all groups satisfy the constraints, which all together do.
func (d *division) gather(ctx context.Context, f *deficits, units []int32) [][]int32 {
	g := &gathering{division: d, deficits: f, counts: make([]int32, f.codes)}
	for i, unit := range units {
		low, high := g.box(unit)
		g.boxes = append(append(g.boxes, low...), high...)
		g.parts = append(g.parts, g.newPart(i, unit))
	}
	g.by = g.byDifference()
	for i, p := range g.parts {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil
		}
		if p.deficit > 0 {
			g.seek(p)
			p.place = len(g.due)
			g.due = append(g.due, p)
		}
	}
	heap.Init(&g.due)
	for len(g.due) > 0 && g.due[0].partner != nil {
		if ctx.Err() != nil {
			return nil
		}
		g.step(g.due[0])
	}
	var groups [][]int32
	for _, p := range g.parts {
		if !p.gone {
			groups = append(groups, p.members)
		}
	}
	return groups
}

// step unites a group with its partner, or finds another one where that has changed.
func (g *gathering) step(p *part) {
	if o := p.partner; !o.gone && o.changed == p.asOf {
		if o.deficit > 0 {
			heap.Remove(&g.due, o.place)
		}
		g.merge(p, o)
	}
	if p.deficit > 0 {
		g.seek(p)
		heap.Fix(&g.due, p.place)
	} else {
		heap.Remove(&g.due, p.place)
	}
}

// byDifference orders the attributes by what two groups that stand side by side lose together.
func (g *gathering) byDifference() []int {
	order, lost := make([]int, len(g.scales)), make([]float64, len(g.scales))
	for a := range order {
		order[a] = a
		for i := 1; i < len(g.parts); i++ {
			low, high := g.covered(i)
			otherLow, otherHigh := g.covered(i - 1)
			lost[a] += float64(g.scales[a].Of(min(low[a], otherLow[a]), max(high[a], otherHigh[a])))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	return order
}

// covered is what a group covers.
func (g *gathering) covered(number int) (low, high []int32) {
	d := len(g.scales)
	box := g.boxes[2*d*number : 2*d*(number+1)]
	return box[:d], box[d:]
}

func (g *gathering) newPart(number int, unit int32) *part {
	p := &part{number: number, members: []int32{unit}, size: int32(len(g.classes[unit])), counts: make([]int32, g.deficits.codes)}
	for a, places := range g.deficits.places {
		column := g.table.Sensitive(a)
		for _, r := range g.classes[unit] {
			p.counts[places[column[r]]]++
		}
	}
	g.judge(p)
	return p
}

// judge finds what a group loses, and how far it is from the constraints.
func (g *gathering) judge(p *part) {
	p.loss = float64(p.size) * float64(g.lossOf(g.covered(p.number)))
	if p.deficit = 0; !g.satisfied(p.members) {
		p.deficit = max(leastDeficit, g.deficits.of(p.size, p.counts))
	}
}

// merge unites a group with another one, which is gone then.
func (g *gathering) merge(p, o *part) {
	o.gone = true
	p.members = append(p.members, o.members...)
	p.size += o.size
	low, high := g.covered(p.number)
	otherLow, otherHigh := g.covered(o.number)
	for a := range low {
		low[a], high[a] = min(low[a], otherLow[a]), max(high[a], otherHigh[a])
	}
	for i := range p.counts {
		p.counts[i] += o.counts[i]
	}
	p.changed++
	g.judge(p)
	if g.gone++; 4*g.gone > len(g.parts) {
		g.parts, g.gone = slices.DeleteFunc(g.parts, func(p *part) bool { return p.gone }), 0
	}
}

// seek finds the partner with which least is lost for each record of the deficit that is gone then.
func (g *gathering) seek(p *part) {
	p.partner, p.cost = nil, math.MaxFloat64
	low, high := g.covered(p.number)
	for _, o := range g.parts {
		if o == p || o.gone {
			continue
		}
		size := p.size + o.size
		most := float32((p.cost*(p.deficit+o.deficit) + p.loss + o.loss) / float64(size))
		var sum float32
		otherLow, otherHigh := g.covered(o.number)
		for _, a := range g.by {
			if sum += g.scales[a].Of(min(low[a], otherLow[a]), max(high[a], otherHigh[a])); sum >= most {
				break
			}
		}
		if sum >= most {
			continue
		}
		more := float64(size)*float64(sum) - p.loss - o.loss
		for i := range g.counts {
			g.counts[i] = p.counts[i] + o.counts[i]
		}
		less := p.deficit + o.deficit - g.deficits.of(size, g.counts)
		if cost := (more + least) / max(less, leastDeficit); cost < p.cost {
			p.cost, p.partner, p.asOf = cost, o, o.changed
		}
	}
}
