package lookahead

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer"
)

const (
	// mostRecords is how many records of a class decide how it is cut.
	mostRecords = 512
	// exactUnits is how many times the least size a class has at most whose parts are measured as
	// they are.
	exactUnits = 4
	// parallelFloor is the least number of records whose two parts are divided at the same
	// time. They share nothing, so the result is the same.
	parallelFloor = 1 << 12
	// mostTried is how many cuts are tried before a class counts as final.
	mostTried = 24
)

// offer is a cut: of the records in the order of an attribute, the first ones up to a rank, or as
// many as size, against the others.
type offer struct {
	loss      float64
	attribute int // none = in any order
	rank      int32
	size      int // 0 = by rank
}

// none stands for no attribute, or no record.
const none = -1

// cutter divides classes. Each goroutine has its own.
type cutter struct {
	*division
	views  []view
	flat   []int32 // by record and attribute, the counter that its rank has
	all    []int32 // counters of the records by attribute and slot
	lefts  []int32
	order  []int32 // numbers of records in the order of an attribute
	starts []int32
	column []int32
	offers []offer
	spare  []int32
	draws  map[int]draws // by the number of records
	boxes  boxes
}

func newCutter(d *division) *cutter {
	return &cutter{division: d, views: make([]view, len(d.scales)), draws: map[int]draws{}, boxes: newBoxes(len(d.scales))}
}

// divide divides a class to the end; its records are those from a place on.
func (c *cutter) divide(ctx context.Context, from int, records []int32) {
	if ctx.Err() != nil {
		return
	}
	size := 0
	if c.effort == anonymizer.Best {
		size = c.pilot(ctx, records)
	}
	if size == 0 && len(records) >= 2*c.k {
		size = c.cut(records)
	}
	if size == 0 {
		c.end(ctx, from, records)
		return
	}
	lower, upper := records[:size], records[size:]
	if len(records) < parallelFloor || runtime.GOMAXPROCS(0) == 1 {
		c.divide(ctx, from, lower)
		c.divide(ctx, from+size, upper)
		return
	}
	var half sync.WaitGroup
	half.Go(func() { newCutter(c.division).divide(ctx, from, lower) })
	c.divide(ctx, from+size, upper)
	half.Wait()
}

// cut brings the left part of the best cut to the front, and gives its size: 0 for none.
func (c *cutter) cut(records []int32) int {
	if c.offerBetween(records) {
		if size := c.take(records); size > 0 {
			return size
		}
	}
	if c.offerAnywhere(records) {
		return c.take(records)
	}
	return 0
}

// offer offers cuts of the kind that suits the class.
func (c *cutter) offer(records []int32) bool {
	return c.offerBetween(records) || c.offerAnywhere(records)
}

// offerBetween offers cuts of a large class between values.
func (c *cutter) offerBetween(records []int32) bool {
	c.offers = c.offers[:0]
	if len(records) >= exactUnits*c.k {
		c.look(records[:min(len(records), mostRecords)], false)
		c.offerExpected(len(records))
	}
	return len(c.offers) > 0
}

// offerAnywhere offers cuts of a small class, or of one that cannot be cut between values.
func (c *cutter) offerAnywhere(records []int32) bool {
	c.offers = c.offers[:0]
	c.look(records, true)
	c.offerExact(records)
	return len(c.offers) > 0
}

// mostExact is from how many records on a class that cannot be cut between values is cut in the
// middle: not anywhere, which would take a few records off it again and again.
const mostExact = 1 << 12

// look takes the views of some records.
func (c *cutter) look(records []int32, exact bool) {
	d, first := len(c.views), 0
	c.flat = slices.Grow(c.flat[:0], len(records)*d)[:len(records)*d]
	for a := range c.views {
		v := &c.views[a]
		c.column = c.column[:0]
		for _, r := range records {
			c.column = append(c.column, c.rows[int(r)*d+a])
		}
		v.take(&c.scales[a], first, c.column, exact)
		for i, slot := range c.column {
			c.flat[i*d+a] = int32(first) + slot
		}
		first += len(v.ranks)
	}
	c.all = append(c.all[:0], make([]int32, first)...)
	c.lefts = append(c.lefts[:0], make([]int32, first)...)
	for _, slot := range c.flat {
		c.all[slot]++
	}
}

// sort puts the numbers of the records that were looked at in the order of an attribute.
func (c *cutter) sort(a int) {
	v, d := &c.views[a], len(c.views)
	n := len(c.flat) / d
	c.starts = append(c.starts[:0], make([]int32, len(v.ranks)+1)...)
	for slot := range v.ranks {
		c.starts[slot+1] = c.starts[slot] + c.all[v.first+slot]
	}
	c.order = slices.Grow(c.order[:0], n)[:n]
	for i := range n {
		slot := c.flat[i*d+a] - int32(v.first)
		c.order[c.starts[slot]] = int32(i)
		c.starts[slot]++
	}
}

// offerExpected offers the cuts between values of a class of so many records, for which those that
// were looked at stand.
func (c *cutter) offerExpected(total int) {
	d, n := len(c.views), min(total, mostRecords)
	draws := c.drawsOf(n)
	least := max(1, c.k*n/total)
	for a := range c.views {
		v := &c.views[a]
		if len(v.ranks) < 2 {
			continue
		}
		c.sort(a)
		clear(c.lefts)
		step, taken := (len(v.ranks)+mostValues-1)/mostValues, 0
		for slot, rank := range v.ranks[:len(v.ranks)-1] {
			for to := int(c.starts[slot]); taken < to; taken++ {
				i := int(c.order[taken])
				for _, s := range c.flat[i*d : i*d+d] {
					c.lefts[s]++
				}
			}
			if taken < least || n-taken < least || slot%step != 0 {
				continue
			}
			sum := 0.0
			for b := range c.views {
				w := &c.views[b]
				to := w.first + len(w.ranks)
				sum += w.expected(draws, c.lefts[w.first:to], c.all[w.first:to], taken, n)
			}
			c.offers = append(c.offers, offer{loss: sum, attribute: a, rank: rank})
		}
	}
}

// drawsOf is for n records, of which as many as the least class has are drawn.
func (c *cutter) drawsOf(n int) draws {
	if known, ok := c.draws[n]; ok {
		return known
	}
	made := newDraws(float64(c.k), n)
	c.draws[n] = made
	return made
}

// offerExact offers the cuts of a small class, between values and at multiples of the least size.
func (c *cutter) offerExact(records []int32) {
	d, n := len(c.views), len(records)
	from, to, middle := c.k, n-c.k, n/c.k/2*c.k
	if n >= max(mostExact, exactUnits*c.k) {
		from, to = middle, middle
	}
	for a := range c.views {
		v := &c.views[a]
		if len(v.ranks) < 2 {
			continue
		}
		c.sort(a)
		c.boxes.sweep(c.scales, c.rows, records, c.order)
		for size := from; size <= to; size++ {
			before, after := c.flat[int(c.order[size-1])*d+a], c.flat[int(c.order[size])*d+a]
			if before == after && size%c.k != 0 {
				continue
			}
			c.offers = append(c.offers, offer{loss: c.boxes.loss(size, c.k), attribute: a, size: size})
		}
	}
	if len(c.offers) == 0 { // all records are alike
		c.offers = append(c.offers, offer{attribute: none, size: middle})
	}
}

// take makes the best of the offered cuts of which both parts satisfy the constraints.
func (c *cutter) take(records []int32) int {
	if c.sizeDecides && len(c.offers) > 0 {
		best := slices.MinFunc(c.offers, func(x, y offer) int { return cmp.Compare(x.loss, y.loss) })
		if size := c.separate(records, c.even(records, best)); size >= c.k && len(records)-size >= c.k {
			return size
		}
	}
	slices.SortStableFunc(c.offers, func(x, y offer) int { return cmp.Compare(x.loss, y.loss) })
	for _, o := range c.offers[:min(mostTried, len(c.offers))] {
		size := c.separate(records, c.even(records, o))
		if min(size, len(records)-size) >= c.k && c.satisfied(records[:size]) && c.satisfied(records[size:]) {
			return size
		}
	}
	return 0
}

// mostEven is how many times the least size a class has at most whose cuts are moved: of larger ones,
// the parts make as many classes wherever they are cut, or nearly.
const mostEven = 64

// even moves a cut along a range by a few records, so that both parts together have as many times
// the least size as the class has. Records alike stay together where they make a class.
func (c *cutter) even(records []int32, o offer) offer {
	n := len(records)
	if o.size > 0 || n > mostEven*c.k || !c.scales[o.attribute].Ranged {
		return o
	}
	size, last, next := 0, 0, 0 // the left part, and the records on either side of the cut
	for _, r := range records {
		switch own := c.rows[int(r)*len(c.views)+o.attribute]; {
		case own == o.rank:
			size, last = size+1, last+1
		case own < o.rank:
			size++
		case own == o.rank+1:
			next++
		}
	}
	over, room := size%c.k, n%c.k
	if over <= room || max(last, next) >= c.k {
		return o
	}
	if over-room <= c.k-over {
		size -= over - room
	} else {
		size += c.k - over
	}
	o.size = min(max(size, c.k), n-c.k)
	return o
}

// separate brings the left part of a cut to the front, and gives its size. The order among each
// part is kept.
func (c *cutter) separate(records []int32, o offer) int {
	if o.attribute == none {
		return o.size
	}
	d := len(c.views)
	rank := o.rank
	onLine := 0 // records of the rank that go to the left
	if o.size > 0 {
		c.column = c.column[:0]
		for _, r := range records {
			c.column = append(c.column, c.rows[int(r)*d+o.attribute])
		}
		slices.Sort(c.column)
		rank = c.column[o.size-1]
		first, _ := slices.BinarySearch(c.column, rank)
		onLine = o.size - first
	} else {
		onLine = len(records)
	}
	c.spare = c.spare[:0]
	size := 0
	for _, r := range records {
		own := c.rows[int(r)*d+o.attribute]
		left := own < rank
		if own == rank && onLine > 0 {
			left = true
			onLine--
		}
		if left {
			records[size] = r
			size++
		} else {
			c.spare = append(c.spare, r)
		}
	}
	copy(records[size:], c.spare)
	return size
}
