package partition

import (
	"math/bits"
)

// subsetsSize is the largest number of records that subsets takes: the bits of a
// set.
const subsetsSize = 64

// set is a set of records of subsets.
type set = uint64

// subsets holds so few records that every class is a set of bits: no record is
// moved, and a cut takes a few steps for each value at the ends of an attribute.
type subsets struct {
	scales  []scale   // for each attribute on which the records differ
	records [64]int32 // the record of each bit
	active  []extent  // of the classes above the present one, the lowest last
	bit     *[presortedSize]uint8
}

// scale is one attribute: the different ranks of the records, in their order.
type scale struct {
	// below is the set of the records below each of the ranks; the last one is
	// that of all records.
	below [subsetsSize + 1]set
	axis  [subsetsSize]float64 // position of each of the ranks
}

// extent is what a class covers of an attribute: the indexes of its lowest and
// highest rank in the scale.
type extent struct {
	*scale
	low, high int
	width     float64
}

func newSubsets(attributes int) *subsets {
	return &subsets{scales: make([]scale, attributes), bit: new([presortedSize]uint8)}
}

// hold takes a class of presorted records, whose attributes that differ are
// given, and gives what it covers.
func (f *subsets) hold(b *presorted, s segment, attributes []ranked, leader int) []extent {
	for bit, i := range b.lists[leader][s.from:s.to] {
		f.bit[i%presortedSize] = uint8(bit)
	}
	f.active = f.active[:0]
	for j, r := range attributes {
		c, below := &f.scales[j], set(0)
		column := &b.columns[r.attribute]
		last, values := int32(-1), 0
		for _, i := range b.lists[r.attribute][s.from:s.to] {
			if rank := column.ranks[i]; rank != last {
				c.below[values%subsetsSize] = below
				c.axis[values%subsetsSize] = column.axis[rank]
				last, values = rank, values+1
			}
			below |= 1 << (f.bit[i%presortedSize] % subsetsSize)
		}
		c.below[values] = below
		f.active = append(f.active, extent{c, 0, values - 1, r.width})
	}
	return f.active
}

// wide appends the extents of those of the attributes on which the class
// differs, by falling width.
func (f *subsets) wide(among []extent, class set) []extent {
	first := len(f.active)
	for _, e := range among {
		for e.below[e.low+1]&class == 0 {
			e.low++
		}
		for class&^e.below[e.high] == 0 {
			e.high--
		}
		if e.low == e.high {
			continue
		}
		e.width = min(1, e.axis[e.high]-e.axis[e.low])
		at := len(f.active)
		f.active = append(f.active, e)
		for ; at > first && f.active[at-1].width < e.width; at-- {
			f.active[at] = f.active[at-1]
		}
		f.active[at] = e
	}
	return f.active[first:]
}

// best finds the left part of the cut with the least information loss.
func best(class set, attributes []extent, sizes []int) (lefts set) {
	least := -1.0
	for a := range attributes {
		for _, size := range sizes {
			candidate := lay(class, attributes, a, size)
			if loss := lossOf(class, candidate, size, attributes, least); least < 0 || loss < least {
				lefts, least = candidate, loss
			}
		}
	}
	return lefts
}

// lay gives the first size records of the class in the order of one of the
// attributes; the others, in their order, decide among those on the cutting
// line, and the lowest bits among those that are equal.
func lay(class set, attributes []extent, along, size int) (lefts set) {
	line := class
	if len(attributes) > 0 {
		lefts, line, size = attributes[along].take(class, size)
	}
	for a := range attributes {
		if size == 0 {
			return lefts
		}
		if a != along {
			var more set
			more, line, size = attributes[a].take(line, size)
			lefts |= more
		}
	}
	for ; size > 0; size-- {
		lefts |= line & -line
		line &= line - 1
	}
	return lefts
}

// take gives those of the first size records of a set whose rank is below that
// of the next one, the records of this rank, and how many of them are to follow.
// The set has more than size records.
func (e *extent) take(of set, size int) (first, line set, rest int) {
	i := e.low
	for bits.OnesCount64(e.below[i+1]&of) <= size {
		i++
	}
	first = e.below[i] & of
	return first, of & e.below[i+1] &^ e.below[i], size - bits.OnesCount64(first)
}

// lossOf is the information loss of a cut; once it is not less than bound, where
// this is not negative, it may be less than the true loss.
func lossOf(class, lefts set, size int, attributes []extent, bound float64) float64 {
	rights := class &^ lefts
	sum, countLeft, countRight := 0.0, float64(size), float64(bits.OnesCount64(rights))
	for a := range attributes {
		e := &attributes[a]
		sum += countLeft*e.covered(lefts) + countRight*e.covered(rights)
		if bound >= 0 && sum >= bound {
			break
		}
	}
	return sum
}

// covered is the width of a part of the class.
func (e *extent) covered(part set) float64 {
	low, high := e.low, e.high
	for e.below[low+1]&part == 0 {
		low++
	}
	for part&^e.below[high] == 0 {
		high--
	}
	return min(1, e.axis[high]-e.axis[low])
}
