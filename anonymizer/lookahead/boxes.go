package lookahead

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/internal/loss"
)

// boxes are what the first records of an order cover, and what the others do.
type boxes struct {
	low, high     []int32
	before, after []float32 // what the first ones lose together, and those from there on
}

func newBoxes(attributes int) boxes {
	return boxes{low: make([]int32, attributes), high: make([]int32, attributes)}
}

// sweep measures the parts of all cuts of an order.
func (b *boxes) sweep(scales []loss.Scale, rows, records, order []int32) {
	n := len(order)
	b.before = slices.Grow(b.before[:0], n+1)[:n+1]
	b.after = slices.Grow(b.after[:0], n+1)[:n+1]
	b.before[0], b.after[n] = 0, 0
	b.start(rows, records[order[0]])
	for i := range n {
		b.before[i+1] = b.include(scales, rows, records[order[i]])
	}
	b.start(rows, records[order[n-1]])
	for i := n - 1; i >= 0; i-- {
		b.after[i] = b.include(scales, rows, records[order[i]])
	}
}

func (b *boxes) start(rows []int32, record int32) {
	d := len(b.low)
	copy(b.low, rows[int(record)*d:int(record)*d+d])
	copy(b.high, b.low)
}

func (b *boxes) widen(rows []int32, record int32) {
	d := len(b.low)
	for a, rank := range rows[int(record)*d : int(record)*d+d] {
		b.low[a], b.high[a] = min(b.low[a], rank), max(b.high[a], rank)
	}
}

// include widens the box, and gives what it loses.
func (b *boxes) include(scales []loss.Scale, rows []int32, record int32) float32 {
	b.widen(rows, record)
	return b.covered(scales)
}

// covered is what the box loses.
func (b *boxes) covered(scales []loss.Scale) (sum float32) {
	for a := range scales {
		sum += scales[a].Of(b.low[a], b.high[a])
	}
	return sum
}

// loss is what the parts are expected to lose of a cut after the first records. A part that is to be
// divided into several classes counts as if it were divided evenly along two attributes.
func (b *boxes) loss(size, k int) float64 {
	rest := len(b.before) - 1 - size
	of := func(records int, loss float32) float64 {
		return float64(records) * float64(loss) / math.Sqrt(float64(max(1, records/k)))
	}
	return of(size, b.before[size]) + of(rest, b.after[size])
}
