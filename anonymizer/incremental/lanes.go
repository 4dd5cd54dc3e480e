package incremental

import (
	"math"
	"math/bits"
	"slices"
)

// The index compares boxes by lower bounds of their distance. A coordinate is a
// whole number below 2^15, and four of them lie side by side in a word, with the
// highest bit of each lane free, so that a few instructions compare four attributes
// at once (Lamport 1975, "Multiple byte processing with full-word instructions").
const (
	lanesPerWord = 4
	laneBits     = 16

	laneTops = 0x8000_8000_8000_8000 // the free bit of each lane
	laneOnes = 0x0001_0001_0001_0001
	laneFars = 0x4000_4000_4000_4000 // set in a distance between on and off the scale
	laneEven = 0x0000_ffff_0000_ffff // every other lane

	// leastLane and mostLane bound the coordinates on the scale; offLane is that of
	// classes and records off it, farther from all of them than they are apart.
	leastLane, mostLane = 1, 0x3ff0
	offLane             = 0x7ffe
)

// A distance is how far a point lies from a box: in the high half the number of
// attributes on which one is off the scale and the other is not, in the low half the
// sum over the other attributes in lane units. It is never more than the true one.
type distance = uint64

const distanceBits = 32

// point is a record's place, or the middle of a class's, in the words of a box: rounded
// up, and rounded down with the free bits set.
type point []uint64

// box takes two words for every four attributes: the low ends, rounded down, and the
// high ends, rounded up.
type box = []uint64

// boxes are boxes of the same number of words, one after the other.
type boxes struct {
	words int
	list  []uint64
}

func (b *boxes) at(i int32) box { return b.list[int(i)*b.words:][:b.words] }

// add appends empty boxes, and grow makes room for some.
func (b *boxes) add(n int)  { b.list = append(b.list, make([]uint64, n*b.words)...) }
func (b *boxes) grow(n int) { b.list = slices.Grow(b.list, n*b.words) }

// boxWords is the number of words of a box.
func boxWords(attributes int) int {
	return 2 * max(1, (attributes+lanesPerWord-1)/lanesPerWord)
}

// set gives a coordinate, as frame.lane does.
func (p point) set(attribute int, lane float64) {
	setLanes(p, attribute, math.Ceil(lane), math.Floor(lane)+1<<(laneBits-1))
}

// setBox gives the ends of a box on an attribute.
func setBox(b box, attribute int, low, high float64) {
	setLanes(b, attribute, math.Floor(low), math.Ceil(high))
}

func setLanes(words []uint64, attribute int, first, second float64) {
	word, shift := attribute/lanesPerWord*2, attribute%lanesPerWord*laneBits
	const mask = 1<<laneBits - 1
	words[word] = words[word]&^(mask<<shift) | uint64(first)<<shift
	words[word+1] = words[word+1]&^(mask<<shift) | uint64(second)<<shift
}

// lanes is the number of attributes for which a box or point has room.
func lanes(words []uint64) int { return len(words) / 2 * lanesPerWord }

// laneOf is a coordinate of a box: its low end, or with end 1 its high one.
func laneOf(b box, attribute, end int) int {
	return int(b[attribute/lanesPerWord*2+end] >> (attribute % lanesPerWord * laneBits) & (1<<laneBits - 1))
}

// to is the distance to a box.
func (p point) to(b box) distance {
	if len(p) == 4 && len(b) == 4 { // the most frequent number, without a loop
		return addLanes(lackIn(p[0], p[1], b[0], b[1]), lackIn(p[2], p[3], b[2], b[3]))
	}
	sum := distance(0)
	b = b[:len(p)]
	for w := 0; w+1 < len(p); w += 2 {
		sum += addLanes(lackIn(p[w], p[w+1], b[w], b[w+1]), 0)
	}
	return sum
}

// lackIn is by how much each lane lies outside of a box's. Where the subtraction
// leaves the free bit set, the minuend is not the less; only there the difference
// counts.
func lackIn(ceil, floor, low, high uint64) uint64 {
	below, beyond := (low|laneTops)-ceil, floor-high
	m, n := below&laneTops, beyond&laneTops
	return below&(m-m>>(laneBits-1)) | beyond&(n-n>>(laneBits-1))
}

// addLanes adds up the lanes of two words.
func addLanes(d, e uint64) distance {
	far := uint64(0)
	if alien := (d | e) & laneFars; alien != 0 {
		far = uint64(bits.OnesCount64(d&laneFars) + bits.OnesCount64(e&laneFars))
		d, e = nearLanes(d), nearLanes(e)
	}
	sum := d + e // two lanes on the scale fit into one
	sum = sum&laneEven + sum>>laneBits&laneEven
	return far<<distanceBits | (sum+sum>>distanceBits)&(1<<distanceBits-1)
}

// nearLanes clears the lanes between on and off the scale.
func nearLanes(d uint64) uint64 {
	alien := d & laneFars
	return d &^ (alien<<1 - alien>>(laneBits-2))
}

// middleOf writes the box in which the middle of a class lies that covers a box. An
// end is off by less than one unit, and so is their mean.
func middleOf(middle, cover box) {
	for w := 0; w+1 < len(cover); w += 2 {
		mean := (cover[w] + cover[w+1]) >> 1 &^ laneTops
		middle[w], middle[w+1] = mean-laneOnes, mean+laneOnes
	}
}

// includeBox widens a box by another one.
func includeBox(b, other box) {
	for w := 0; w+1 < len(b); w += 2 {
		least := laneMask(b[w], other[w])
		b[w] = other[w]&least | b[w]&^least
		most := laneMask(other[w+1], b[w+1])
		b[w+1] = other[w+1]&most | b[w+1]&^most
	}
}

// laneMask is set in the lanes in which a is not less than b.
func laneMask(a, b uint64) uint64 {
	c := ((a | laneTops) - b) & laneTops
	return c - c>>(laneBits-1)
}
