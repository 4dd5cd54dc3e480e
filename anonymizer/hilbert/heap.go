package hilbert

import "container/heap"

// valueHeap is a heap of values that knows where each of them is.
type valueHeap struct {
	values []int32
	places []int // by value
	less   func(v, w int32) bool
}

// init makes a heap of values below the number given.
func (h *valueHeap) init(values int) {
	h.places = make([]int, values)
	for place, v := range h.values {
		h.places[v] = place
	}
	heap.Init(h)
}

func (h *valueHeap) fix(v int32)    { heap.Fix(h, h.places[v]) }
func (h *valueHeap) remove(v int32) { heap.Remove(h, h.places[v]) }

// Len implements heap.Interface.
func (h *valueHeap) Len() int { return len(h.values) }

// Less implements heap.Interface.
func (h *valueHeap) Less(i, j int) bool { return h.less(h.values[i], h.values[j]) }

// Swap implements heap.Interface.
func (h *valueHeap) Swap(i, j int) {
	h.values[i], h.values[j] = h.values[j], h.values[i]
	h.places[h.values[i]], h.places[h.values[j]] = i, j
}

// Push implements heap.Interface.
func (h *valueHeap) Push(v any) {
	h.places[v.(int32)] = len(h.values)
	h.values = append(h.values, v.(int32))
}

// Pop implements heap.Interface.
func (h *valueHeap) Pop() any {
	last := h.values[len(h.values)-1]
	h.values = h.values[:len(h.values)-1]
	return last
}
