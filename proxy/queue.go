package proxy

// idleQueue is how many elements' memory an empty queue keeps.
const idleQueue = 16

// queue is first in, first out, and keeps its memory while it is small.
type queue[T any] struct {
	list []T
	head int // of list; what is before it is zero
}

func (q *queue[T]) len() int { return len(q.list) - q.head }

// at returns the i-th element, from the first at 0 to the last at len()-1.
func (q *queue[T]) at(i int) *T { return &q.list[q.head+i] }

func (q *queue[T]) push(element T) {
	if len(q.list) == cap(q.list) && q.head > len(q.list)/2 {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, element)
}

// pop removes the first element.
func (q *queue[T]) pop() {
	var zero T
	q.list[q.head] = zero
	q.head++
	switch {
	case q.head < len(q.list):
	case cap(q.list) > idleQueue:
		q.list, q.head = nil, 0
	default:
		q.list, q.head = q.list[:0], 0
	}
}
