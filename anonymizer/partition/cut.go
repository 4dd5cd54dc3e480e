package partition

import (
	"cmp"
	"slices"
)

// box is the range of ranks that a set of records covers: one for each
// attribute.
type box []interval

// interval is inclusive.
type interval struct{ low, high int32 }

// cut is a way to divide a class: the first size records in the order of one
// attribute, the others breaking ties, against the rest.
type cut struct{ attribute, size int }

// cutter tries cuts on one class at a time. Each goroutine has its own: it
// owns nothing but scratch memory and the records of its class.
type cutter struct {
	*partitioning
	order       []int   // attributes on which the class can be cut, by falling width
	side        []int32 // for each record of the class: 0 = left, -1 = right
	left, right box     // what the parts of the last cut cover
	line        []int32 // records on the cutting line
	keys        []int32 // their ranks on a further attribute
	counts      []int32 // scratch of selectLine
}

func newCutter(p *partitioning) *cutter {
	d := len(p.columns)
	return &cutter{partitioning: p, left: make(box, d), right: make(box, d)}
}

// best returns the cut of the class with the least information loss: the sum
// over both parts of records times width. Where the parts differ little in
// size it does not matter which of them lies on the left, and one way is tried.
func (c *cutter) best(s segment, whole box) cut {
	n := s.to - s.from
	lesser, greater := roundedSizes(n, c.k)
	c.orderAttributes(whole)
	sizes := []int{lesser}
	if (greater-lesser)*sidesMatter > n {
		sizes = append(sizes, greater)
	}
	chosen, least := cut{0, lesser}, -1.0
	for _, a := range c.order {
		for _, size := range sizes {
			candidate := cut{a, size}
			c.try(s, whole, candidate)
			loss := float64(size)*c.loss(c.left) + float64(n-size)*c.loss(c.right)
			if least < 0 || loss < least {
				chosen, least = candidate, loss
			}
		}
	}
	return chosen
}

// sidesMatter is the inverse of the difference in size, as a share of the
// class, above which both ways to lay the parts are tried.
const sidesMatter = 32

func (c *cutter) orderAttributes(whole box) {
	c.order = c.order[:0]
	for a, extent := range whole {
		if extent.low < extent.high {
			c.order = append(c.order, a)
		}
	}
	slices.SortStableFunc(c.order, func(a, b int) int {
		return cmp.Compare(c.columns[b].width(whole[b]), c.columns[a].width(whole[a]))
	})
}

func (c *cutter) loss(part box) float64 {
	sum := 0.0
	for _, a := range c.order {
		sum += c.columns[a].width(part[a])
	}
	return sum
}

// try lays every record of the class on its side of the cut and computes what
// the parts cover.
func (c *cutter) try(s segment, whole box, chosen cut) {
	c.lay(s, whole, chosen)
	copy(c.left, whole)
	copy(c.right, whole)
	for _, a := range c.order {
		c.left[a], c.right[a] = cover(c.columns[a].ranks[s.from:s.to], c.side, whole[a])
	}
}

func (c *cutter) lay(s segment, whole box, chosen cut) {
	ranks := c.columns[chosen.attribute].ranks[s.from:s.to]
	rank, left := c.selectLine(ranks, chosen.size, whole[chosen.attribute])
	c.side = slices.Grow(c.side[:0], len(ranks))[:len(ranks)]
	c.line = slices.Grow(c.line[:0], len(ranks))[:len(ranks)]
	onLine := 0
	for i, r := range ranks {
		c.side[i] = (rank - r) >> 31
		c.line[onLine] = int32(i)
		if r == rank {
			onLine++
		}
	}
	c.line = c.line[:onLine]
	for _, a := range c.order {
		if left == len(c.line) {
			return // all on the line are left, where they lie already
		}
		if a != chosen.attribute {
			left = c.layLine(c.columns[a].ranks[s.from:s.to], left)
		}
	}
	for _, i := range c.line[left:] {
		c.side[i] = -1
	}
}

// layLine orders the records on the line by a further attribute, lays those
// that this decides and keeps the others on the line; it returns how many of
// them belong to the left.
func (c *cutter) layLine(ranks []int32, left int) int {
	c.keys = c.keys[:0]
	extent := interval{ranks[c.line[0]], ranks[c.line[0]]}
	for _, i := range c.line {
		r := ranks[i]
		c.keys = append(c.keys, r)
		extent = interval{min(extent.low, r), max(extent.high, r)}
	}
	if extent.low == extent.high {
		return left
	}
	rank, left := c.selectLine(c.keys, left, extent)
	onLine := 0
	for j, i := range c.line {
		c.side[i] = (rank - c.keys[j]) >> 31
		c.line[onLine] = i
		if c.keys[j] == rank {
			onLine++
		}
	}
	c.line = c.line[:onLine]
	return left
}

// selectLine finds the rank that the record after the first size ones has
// (0 <= size < len(ranks)), and how many records of that rank are among the
// first. Ranks are counted, unless their range is so much larger than their
// number that sorting takes less time.
func (c *cutter) selectLine(ranks []int32, size int, extent interval) (rank int32, before int) {
	span := int(extent.high-extent.low) + 1
	if span > 16*len(ranks)+64 {
		c.counts = append(c.counts[:0], ranks...)
		slices.Sort(c.counts)
		rank = c.counts[size]
		first, _ := slices.BinarySearch(c.counts, rank)
		return rank, size - first
	}
	c.counts = slices.Grow(c.counts[:0], span)[:span]
	clear(c.counts)
	for _, r := range ranks {
		c.counts[r-extent.low]++
	}
	for i, count := range c.counts {
		if size < int(count) {
			return extent.low + int32(i), size
		}
		size -= int(count)
	}
	return extent.high, 0
}

// coverBlock is how many records are looked at between two checks whether the
// rest can still widen anything.
const coverBlock = 128

// cover gives the intervals of the ranks on the left and on the right, which
// are parts of whole. Masks take the place of branches, which nothing could
// predict here: a rank of the other side becomes -1, which as an unsigned
// number is beyond all ranks.
func cover(ranks, side []int32, whole interval) (left, right interval) {
	var lowLeft, lowRight uint32 = 1<<32 - 1, 1<<32 - 1
	var highLeft, highRight int32 = -1, -1
	side = side[:len(ranks)]
	for len(ranks) > 0 {
		block := min(coverBlock, len(ranks))
		masks := side[:block]
		for i, r := range ranks[:block] {
			onLeft, onRight := r|masks[i], r|^masks[i]
			lowLeft, highLeft = min(lowLeft, uint32(onLeft)), max(highLeft, onLeft)
			lowRight, highRight = min(lowRight, uint32(onRight)), max(highRight, onRight)
		}
		ranks, side = ranks[block:], side[block:]
		left, right = interval{int32(lowLeft), highLeft}, interval{int32(lowRight), highRight}
		if left == whole && right == whole {
			break
		}
	}
	return left, right
}
