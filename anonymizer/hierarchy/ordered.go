package hierarchy

import "math"

// rangeMark stands between the ends of a published range of an order.
const rangeMark = ".."

// ordered is the Ordered hierarchy: labels with an order of their own, such as
// low, medium and high. A cell is the rank; a text that is not in the order is
// off the scale, as it has no place between the others.
type ordered struct {
	ranks  map[string]int
	labels []string
}

func newOrdered(labels []string) ordered {
	h := ordered{ranks: make(map[string]int, len(labels)), labels: labels}
	for rank, label := range labels {
		h.ranks[label] = rank
	}
	return h
}

func (ordered) Kind() Kind { return Ordered }

func (h ordered) Encode(value string) Cell {
	rank, known := h.ranks[value]
	if !known {
		return OffScale()
	}
	return Cell(rank)
}

func (h ordered) Position(c Cell) float64 {
	if !h.ranked(c) {
		return math.NaN()
	}
	return c
}

func (h ordered) ranked(c Cell) bool { return c >= 0 && c < float64(len(h.labels)) }

// Generalize publishes the range from the least to the greatest member.
func (h ordered) Generalize(cells []Cell) Generalization {
	low, high, ok := extent(cells)
	if !ok || !h.ranked(low) || !h.ranked(high) {
		return Generalization{Hidden: true}
	}
	label := h.labels[int(low)]
	if low < high {
		label += rangeMark + h.labels[int(high)]
	}
	return Generalization{Value: label}
}

// orderedLevels are halves of the whole order, whatever the column holds of it.
type orderedLevels struct{ halves }

func (h ordered) rungs([]Cell) (rungs, int) {
	ranks := make([]Cell, len(h.labels))
	for i := range ranks {
		ranks[i] = Cell(i)
	}
	v, between := newHalves(h, ranks)
	return orderedLevels{v}, between
}

func (l orderedLevels) share(at int64, level int) float64 {
	if level == 0 {
		return 0
	}
	low, high := l.interval(at, level)
	return countShare(int(high-low)+1, int(l.ends[len(l.ends)-1])+1)
}

// countShare is the part that some values are of all; one value alone is none.
func countShare(some, all int) float64 {
	if some <= 1 {
		return 0
	}
	return float64(some) / float64(all)
}
