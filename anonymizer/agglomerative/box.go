package agglomerative

import "github.com/kproxy/kproxy/anonymizer"

// offScalePosition lies so far out that a class which mixes records off the
// scale with others has the full width of 1.
const offScalePosition = 2

// positions holds the place of each record on each attribute's axis, scaled to
// [0, 1] over the table.
type positions [][]float32 // attribute, record

func newPositions(t *anonymizer.Table) positions {
	p := make(positions, len(t.Attributes()))
	for a := range p {
		x := positionsOf(t, a)
		p[a] = make([]float32, t.Len())
		for i, code := range x.codes {
			p[a][i] = offScalePosition
			if code != x.offScale {
				p[a][i] = float32(x.values[code])
			}
		}
	}
	return p
}

// box is what a class covers: for each attribute the least and the greatest
// position.
type box []extent

type extent struct{ low, high float32 }

// around is the box of a record.
func (p positions) around(record int32) box {
	b := make(box, len(p))
	for a, column := range p {
		b[a] = extent{column[record], column[record]}
	}
	return b
}

// cover is the box of a class of at least one record.
func (p positions) cover(class []int32) box {
	b := p.around(class[0])
	for a, column := range p {
		for _, r := range class[1:] {
			b[a].low, b[a].high = min(b[a].low, column[r]), max(b[a].high, column[r])
		}
	}
	return b
}

// include widens the box to the union with another one.
func (b box) include(other box) {
	for a, o := range other {
		b[a].low, b[a].high = min(b[a].low, o.low), max(b[a].high, o.high)
	}
}

// penalty is the normalized certainty penalty (Xu et al. 2006) of the union of
// two boxes, the sum over the attributes; anything above limit as soon as it is
// above.
func penalty(b, other []extent, limit float32) float32 {
	sum := float32(0)
	other = other[:len(b)]
	for a := range b {
		low, high := b[a].low, b[a].high
		if other[a].low < low {
			low = other[a].low
		}
		if other[a].high > high {
			high = other[a].high
		}
		if width := high - low; width < 1 {
			sum += width
		} else {
			sum++
		}
		if sum > limit {
			break
		}
	}
	return sum
}

// leastPenalty is the least that penalty gives for any box inside the other one:
// such a box begins at its end or before and ends at its begin or beyond.
func leastPenalty(b, other []extent, limit float32) float32 {
	sum := float32(0)
	other = other[:len(b)]
	for a := range b {
		low, high := b[a].low, b[a].high
		if other[a].high < low {
			low = other[a].high
		}
		if other[a].low > high {
			high = other[a].low
		}
		if width := high - low; width < 1 {
			sum += width
		} else {
			sum++
		}
		if sum > limit {
			break
		}
	}
	return sum
}
