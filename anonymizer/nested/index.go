package nested

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

const (
	// mostOrders is how many orders the groups stand in at most.
	mostOrders = 6
	// buckets is how many pieces an axis has for all attributes of an order but the last.
	buckets = 16
	// nearby is how many groups on each side are looked at in each order.
	nearby = 6
	// mostBlock is how many groups a piece of an order has at most.
	mostBlock = 512
	// fewGroups is up to how many groups the index is made anew whenever their number has doubled.
	fewGroups = 32
)

// index finds groups near to something, by sorted neighborhoods: groups stand in several orders, each
// of which begins with another attribute. A search looks at a fixed number of neighbors in each.
type index struct {
	of     *Groups
	axes   []axis
	orders []order
	made   int // how many groups there were when the axes were measured
}

// axis is an attribute as the groups have it.
type axis struct {
	hierarchy.Spans
	low, high float64
}

// order is all groups in an order, in pieces.
type order struct {
	first  int // attribute
	blocks [][]*union
}

// refresh measures the axes anew where the number of groups has doubled since.
func (x *index) refresh() {
	g := x.of
	if x.axes != nil && len(g.groups) <= 2*max(x.made, fewGroups) {
		return
	}
	x.made = len(g.groups)
	x.axes, x.orders = make([]axis, len(g.attributes)), nil
	all := make([]*union, 0, len(g.groups))
	for _, id := range g.placed {
		if u := g.groups[id]; u.labels != nil {
			all = append(all, u)
		}
	}
	// Ties between spans of what is published alike do not matter; the order of ids would.
	labels := make([]hierarchy.Generalization, len(all))
	for a, attribute := range g.attributes {
		for i, u := range all {
			labels[i] = u.labels[a]
		}
		x.axes[a] = axis{hierarchy.SpansOf(attribute.Hierarchy, labels), math.Inf(1), math.Inf(-1)}
		for _, s := range x.axes[a].Of {
			if !s.Hidden {
				x.axes[a].low, x.axes[a].high = min(x.axes[a].low, s.Least), max(x.axes[a].high, s.Greatest)
			}
		}
		x.axes[a].Of = nil
	}
	for _, u := range all {
		x.measure(u)
	}
	for first := range min(mostOrders, len(g.attributes)) {
		o := order{first: first}
		sorted := slices.Clone(all)
		slices.SortFunc(sorted, func(u, v *union) int { return x.compare(first, u.at, v.at, u.id, v.id) })
		for len(sorted) > 0 {
			n := min(mostBlock/2, len(sorted))
			o.blocks = append(o.blocks, slices.Clone(sorted[:n]))
			sorted = sorted[n:]
		}
		x.orders = append(x.orders, o)
	}
}

// measure places a group on the axes.
func (x *index) measure(u *union) {
	u.spans = x.spans(u.labels)
	u.at, u.loss = x.place(u.spans), x.loss(u.spans)
}

// spans place something published on the axes.
func (x *index) spans(labels []hierarchy.Generalization) []hierarchy.Span {
	spans := make([]hierarchy.Span, len(labels))
	for a, label := range labels {
		spans[a] = x.axes[a].Place(label)
	}
	return spans
}

// place is where something is in the orders: the middles of its spans, and the pieces of the axes that these are in.
// Hidden is beyond all.
type place struct {
	keys    []float64
	buckets []int8
}

func (x *index) place(spans []hierarchy.Span) *place {
	p := &place{make([]float64, len(spans)), make([]int8, len(spans))}
	for a, s := range spans {
		if p.keys[a] = s.Least/2 + s.Greatest/2; s.Hidden {
			p.keys[a] = math.Inf(1)
		}
		p.buckets[a] = x.bucket(a, p.keys[a])
	}
	return p
}

// loss is what each record loses.
func (x *index) loss(spans []hierarchy.Span) (sum float64) {
	for a, s := range spans {
		sum += x.axes[a].Lost(s)
	}
	return sum
}

// lossWith is what each record of a group loses together with others.
func (x *index) lossWith(u *union, labels []hierarchy.Generalization, spans []hierarchy.Span) (sum float64) {
	for a, label := range labels {
		switch {
		case x.axes[a].Joined:
			sum += x.axes[a].Lost(u.spans[a].Join(spans[a]))
		case label == u.labels[a]:
			sum += x.axes[a].Lost(spans[a])
		default:
			whole := hierarchy.Union(x.of.attributes[a].Hierarchy, []hierarchy.Generalization{u.labels[a], label})
			sum += x.axes[a].Lost(x.axes[a].Place(whole))
		}
	}
	return sum
}

func (x *index) bucket(a int, key float64) int8 {
	at := &x.axes[a]
	switch {
	case math.IsInf(key, 1):
		return buckets
	case !(at.low < at.high):
		return 0
	}
	return int8(max(0, min(buckets-1, buckets*(key-at.low)/(at.high-at.low))))
}

func (x *index) compare(first int, one, other *place, id, otherID incremental.ClassID) int {
	d := len(one.keys)
	for i := range d {
		a := (first + i) % d
		if c := cmp.Compare(one.buckets[a], other.buckets[a]); c != 0 {
			return c
		}
	}
	for i := range d {
		a := (first + i) % d
		if c := cmp.Compare(one.keys[a], other.keys[a]); c != 0 {
			return c
		}
	}
	return cmp.Compare(id, otherID)
}

// find is the block and the place in it of the first group that is not before a place.
func (x *index) find(o *order, at *place, id incremental.ClassID) (block, place int) {
	before := func(u *union) bool { return x.compare(o.first, u.at, at, u.id, id) < 0 }
	block = sort.Search(len(o.blocks), func(i int) bool { return !before(o.blocks[i][len(o.blocks[i])-1]) })
	if block == len(o.blocks) {
		return block, 0
	}
	return block, sort.Search(len(o.blocks[block]), func(i int) bool { return !before(o.blocks[block][i]) })
}

// put adds a group by its labels, unless the axes are still to be measured.
func (x *index) put(u *union) {
	if x.axes == nil {
		return
	}
	x.measure(u)
	for i := range x.orders {
		o := &x.orders[i]
		block, place := x.find(o, u.at, u.id)
		if block == len(o.blocks) {
			if block == 0 {
				o.blocks = append(o.blocks, []*union{u})
				continue
			}
			block, place = block-1, len(o.blocks[block-1])
		}
		b := slices.Insert(o.blocks[block], place, u)
		o.blocks[block] = b
		if len(b) > mostBlock {
			half := len(b) / 2
			o.blocks[block] = slices.Clone(b[:half])
			o.blocks = slices.Insert(o.blocks, block+1, slices.Clone(b[half:]))
		}
	}
}

// drop takes a group out.
func (x *index) drop(u *union) {
	if u.at == nil {
		return
	}
	for i := range x.orders {
		o := &x.orders[i]
		block, place := x.find(o, u.at, u.id)
		if block == len(o.blocks) || o.blocks[block][place] != u {
			continue
		}
		if o.blocks[block] = slices.Delete(o.blocks[block], place, place+1); len(o.blocks[block]) == 0 {
			o.blocks = slices.Delete(o.blocks, block, block+1)
		}
	}
	u.at = nil
}

// near calls a function for the neighbors of a place in all orders.
func (x *index) near(at *place, look func(*union)) {
	for i := range x.orders {
		o := &x.orders[i]
		block, place := x.find(o, at, 0)
		b, p := block, place
		for range nearby {
			if p--; p < 0 {
				if b--; b < 0 {
					break
				}
				p = len(o.blocks[b]) - 1
			}
			look(o.blocks[b][p])
		}
		for range nearby + 1 {
			if block < len(o.blocks) && place == len(o.blocks[block]) {
				block, place = block+1, 0
			}
			if block >= len(o.blocks) {
				break
			}
			look(o.blocks[block][place])
			place++
		}
	}
}

// nearest is the group other than one by which the table loses least if it takes so many records
// with the given published labels, among those that lost a class and those near. Nil if there is
// none.
func (g *Groups) nearest(labels []hierarchy.Generalization, size int, except *union) *union {
	x := &g.index
	var best *union
	spans := x.spans(labels)
	least, own := math.Inf(1), float64(size)*x.loss(spans)
	g.searches++
	look := func(u *union) {
		if u == nil || u == except || u.seen == g.searches || u.labels == nil {
			return
		}
		u.seen = g.searches
		loss := float64(u.size+size)*x.lossWith(u, labels, spans) - float64(u.size)*u.loss - own
		if loss < least || loss == least && u.id < best.id {
			best, least = u, loss
		}
	}
	for _, id := range g.lost[:min(mostLost, len(g.lost))] {
		look(g.groups[id])
	}
	x.near(x.place(spans), look)
	if best == nil && len(g.attributes) == 0 {
		for _, id := range g.placed {
			look(g.groups[id])
		}
	}
	return best
}
