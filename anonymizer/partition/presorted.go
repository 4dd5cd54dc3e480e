package partition

import (
	"cmp"
	"slices"
)

// presortedSize is the largest number of records that presorted takes.
const presortedSize = 1 << 8

// local is a record's number within presorted.
type local = uint16

// The sides of a cut.
const (
	left   = 0
	right  = 1
	onLine = 2 // not yet laid
)

// presorted holds a few records in the order of each attribute (as Mehta,
// Agrawal and Rissanen 1996 do for decision trees). A class is the same range of
// all lists. What a part of a cut covers is found at the ends of the lists, in
// a few steps whatever the number of records.
type presorted struct {
	columns []rankedColumn // of the records held
	lists   [][]local      // for each attribute, ascending rank
	sides   *[presortedSize]uint8
	chosen  *[presortedSize]uint8 // sides of the best cut so far
	line    [presortedSize]local
	counts  [radix][2]uint32
	spare   [presortedSize]local
}

func newPresorted(attributes int) *presorted {
	b := &presorted{
		columns: make([]rankedColumn, attributes), lists: make([][]local, attributes),
		sides: new([presortedSize]uint8), chosen: new([presortedSize]uint8),
	}
	for a := range b.lists {
		b.lists[a] = make([]local, presortedSize)
	}
	return b
}

// hold takes the records at some consecutive places.
func (b *presorted) hold(columns []rankedColumn, s segment) {
	for a := range columns {
		b.columns[a] = rankedColumn{columns[a].ranks[s.from:s.to], columns[a].axis}
		b.sort(a)
	}
}

// sort orders the list of an attribute by rank and then by number.
func (b *presorted) sort(attribute int) {
	ranks, list := b.columns[attribute].ranks, b.lists[attribute]
	low, high := ranks[0], ranks[0]
	for _, r := range ranks {
		low, high = min(low, r), max(high, r)
	}
	list = list[:len(ranks)]
	if low < high && high-low < radix {
		b.countingSort(list, ranks, low, int(high-low)+1)
		return
	}
	for i := range list {
		list[i] = local(i)
	}
	for shift := 0; (high-low)>>shift != 0; shift += radixBits {
		b.sortDigit(list, ranks, low, shift)
	}
}

// countingSort sorts by ranks of few different values. The two halves of the
// records are counted apart: a counter that has just been raised is slow to
// raise again, and so the processor has another one to turn to.
func (b *presorted) countingSort(list []local, ranks []int32, low int32, values int) {
	next := b.counts[:values]
	clear(next)
	half := len(ranks) / 2
	former, latter := ranks[:half], ranks[half:]
	for i, r := range former {
		next[(r-low)%radix][0]++
		next[(latter[i]-low)%radix][1]++
	}
	if len(latter) > half {
		next[(latter[half]-low)%radix][1]++
	}
	sum := uint32(0)
	for v, count := range next {
		next[v] = [2]uint32{sum, sum + count[0]}
		sum += count[0] + count[1]
	}
	for i, r := range former {
		first, second := &next[(r-low)%radix][0], &next[(latter[i]-low)%radix][1]
		list[*first], list[*second] = local(i), local(half+i)
		*first++
		*second++
	}
	if len(latter) > half {
		list[next[(latter[half]-low)%radix][1]] = local(2 * half)
	}
}

// sortDigit sorts the list by one digit of the ranks above low; stable.
func (b *presorted) sortDigit(list []local, ranks []int32, low int32, shift int) {
	next := &b.counts
	clear(next[:])
	for _, r := range ranks {
		next[(r-low)>>shift%radix][0]++
	}
	sum := uint32(0)
	for digit, count := range next {
		next[digit][0] = sum
		sum += count[0]
	}
	copy(b.spare[:], list)
	for _, i := range b.spare[:len(list)] {
		at := &next[(ranks[i]-low)>>shift%radix][0]
		list[*at] = i
		*at++
	}
}

// ranked is an attribute on which a class is not constant, and its width there.
type ranked struct {
	attribute int
	width     float64
}

// wide appends those of the attributes on which the class has more than one
// value, by falling width.
func (b *presorted) wide(to []ranked, s segment, among []ranked) []ranked {
	first := len(to)
	for _, r := range among {
		c, list := &b.columns[r.attribute], b.lists[r.attribute]
		if low, high := c.ranks[list[s.from]], c.ranks[list[s.to-1]]; low < high {
			to = append(to, ranked{r.attribute, c.width(low, high)})
		}
	}
	slices.SortStableFunc(to[first:], func(x, y ranked) int { return cmp.Compare(y.width, x.width) })
	return to
}

// best finds the cut with the least information loss, the sum over both parts of
// records times width, and keeps its sides in chosen. There is at least one
// attribute, all of wide, and at least one size, of the left part.
func (b *presorted) best(s segment, attributes []ranked, sizes []int) cut {
	found, least := cut{attributes[0].attribute, sizes[0]}, -1.0
	for _, r := range attributes {
		for _, size := range sizes {
			candidate := cut{r.attribute, size}
			b.lay(s, candidate, attributes)
			if loss := b.loss(s, candidate, attributes, least); least < 0 || loss < least {
				found, least = candidate, loss
				b.sides, b.chosen = b.chosen, b.sides
			}
		}
	}
	return found
}

// lay puts each record on its side of the cut; the attributes, in their order,
// decide among those on the cutting line.
func (b *presorted) lay(s segment, c cut, attributes []ranked) {
	ranks, list := b.columns[c.attribute].ranks, b.lists[c.attribute][s.from:s.to]
	sides := b.sides
	for _, i := range list[:c.size] {
		sides[i%presortedSize] = left
	}
	for _, i := range list[c.size:] {
		sides[i%presortedSize] = right
	}
	rank := ranks[list[c.size]]
	if ranks[list[c.size-1]] != rank {
		return
	}
	line := b.mark(list, ranks, c.size)
	toLeft, others := c.size-line.from, list[line.from:line.to]
	for _, r := range attributes {
		if r.attribute == c.attribute {
			continue
		}
		ranks := b.columns[r.attribute].ranks
		others = b.reorder(others, ranks, b.lists[r.attribute][s.from:s.to])
		if ranks[others[0]] == ranks[others[len(others)-1]] {
			continue
		}
		for _, i := range others[:toLeft] {
			sides[i%presortedSize] = left
		}
		for _, i := range others[toLeft:] {
			sides[i%presortedSize] = right
		}
		if ranks[others[toLeft-1]] != ranks[others[toLeft]] {
			return
		}
		line = b.mark(others, ranks, toLeft)
		toLeft, others = toLeft-line.from, others[line.from:line.to]
	}
	// Equal in all attributes: the order in the list of the widest decides.
	b.collect(b.line[:len(others)], b.lists[attributes[0].attribute][s.from:s.to])
	for j, i := range b.line[:len(others)] {
		sides[i%presortedSize] = left
		if j >= toLeft {
			sides[i%presortedSize] = right
		}
	}
}

// shortLine is the number of records on the line up to which sorting them is
// faster than looking for them in a list.
const shortLine = 12

// reorder gives the records on the line in the order of another list, which has
// the given ranks.
func (b *presorted) reorder(others []local, ranks []int32, list []local) []local {
	line := b.line[:len(others)]
	if len(line) > shortLine {
		b.collect(line, list)
		return line
	}
	copy(line, others)
	for j := 1; j < len(line); j++ {
		for at := j; at > 0 && ranks[line[at]] < ranks[line[at-1]]; at-- {
			line[at], line[at-1] = line[at-1], line[at]
		}
	}
	return line
}

// mark puts all records with the rank of the one at the given index back on the
// line; list is ordered by these ranks.
func (b *presorted) mark(list []local, ranks []int32, at int) segment {
	rank, line := ranks[list[at]], segment{at, at}
	for line.from > 0 && ranks[list[line.from-1]] == rank {
		line.from--
	}
	for line.to < len(list) && ranks[list[line.to]] == rank {
		line.to++
	}
	for _, i := range list[line.from:line.to] {
		b.sides[i%presortedSize] = onLine
	}
	return line
}

// collect fills line with the records on the line, in the order of the list.
func (b *presorted) collect(line, list []local) {
	found := 0
	for _, i := range list {
		line[found] = i
		found += int(b.sides[i%presortedSize] >> 1)
		if found == len(line) {
			return
		}
	}
}

// loss is the information loss of the parts that sides has; once it is not less
// than bound, where this is not negative, it may be less than the true loss.
func (b *presorted) loss(s segment, c cut, attributes []ranked, bound float64) float64 {
	counts := [2]float64{float64(c.size), float64(s.len() - c.size)}
	sum := 0.0
	for _, r := range attributes {
		column, list := &b.columns[r.attribute], b.lists[r.attribute][s.from:s.to]
		axis, ranks := column.axis, column.ranks
		var low, high [2]float64
		lowest := b.sides[list[0]%presortedSize] & 1
		i := 1
		for b.sides[list[i]%presortedSize]&1 == lowest {
			i++
		}
		low[lowest] = axis[ranks[list[0]]]
		low[lowest^1] = axis[ranks[list[i]]]
		highest := b.sides[list[len(list)-1]%presortedSize] & 1
		i = len(list) - 2
		for b.sides[list[i]%presortedSize]&1 == highest {
			i--
		}
		high[highest] = axis[ranks[list[len(list)-1]]]
		high[highest^1] = axis[ranks[list[i]]]
		sum += counts[left]*min(1, high[left]-low[left]) + counts[right]*min(1, high[right]-low[right])
		if bound >= 0 && sum >= bound {
			break
		}
	}
	return sum
}

// separate moves the left part of the best cut to the front of a list, keeping
// the order among each part. Every value is written to both ends and the wrong
// one is overwritten: nothing could predict a branch here.
func (b *presorted) separate(list []local) {
	lefts, rights := 0, 0
	for _, i := range list {
		onRight := int(b.chosen[i%presortedSize])
		list[lefts] = i
		b.spare[rights%presortedSize] = i
		lefts += 1 - onRight
		rights += onRight
	}
	copy(list[lefts:], b.spare[:rights])
}
