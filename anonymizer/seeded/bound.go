package seeded

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// free marks a record whose sensitive value is not bounded.
const free = math.MaxUint32

// bound is a privacy.AlphaBound over a table, or none.
type bound struct {
	values []uint32 // the sensitive value of each record, or free; nil = no bound
	most   func(records int) int
	counts map[uint32]int // of the table
	only   uint32         // the first of the bounded values; for algorithm 1, which bounds one
}

func newBound(t *anonymizer.Table, c privacy.ConstraintSet) bound {
	for _, constraint := range c {
		if alpha, ok := constraint.(privacy.AlphaBound); ok {
			return boundBy(t, alpha)
		}
	}
	return bound{most: func(records int) int { return records }}
}

func boundBy(t *anonymizer.Table, alpha privacy.AlphaBound) bound {
	b := bound{values: make([]uint32, t.Len()), most: alpha.Most, counts: map[uint32]int{}}
	binds := map[uint32]bool{}
	if len(alpha.Values) > 0 {
		b.only = alpha.Values[0]
	}
	for _, v := range alpha.Values {
		binds[v] = true
	}
	for i, v := range t.Sensitive(alpha.Attribute) {
		if alpha.Values != nil && !binds[v] {
			v = free
		}
		b.values[i] = v
		b.counts[v]++
	}
	return b
}

// value is the bounded value of a record, or free.
func (b bound) value(record int32) uint32 {
	if b.values == nil {
		return free
	}
	return b.values[record]
}

// count is how many of the records have the value.
func (b bound) count(records []int32, value uint32) int {
	count := 0
	for _, r := range records {
		if b.values[r] == value {
			count++
		}
	}
	return count
}

// holds reports whether the records could be a class.
func (b bound) holds(records []int32) bool {
	counts, most := map[uint32]int{}, b.most(len(records))
	for _, r := range records {
		if v := b.values[r]; v != free {
			if counts[v]++; counts[v] > most {
				return false
			}
		}
	}
	return true
}

// takes reports whether one more record with the value stays within the bound
// when the records are part of a class of the size.
func (b bound) takes(records []int32, value uint32, size int) bool {
	return value == free || b.count(records, value) < b.most(size)
}

// leastSize is the least size of a class, k or more, that the table's values can
// fill within the bound.
func (b bound) leastSize(k int) int {
	for size := k; size < len(b.values); size++ {
		if b.fill(size) {
			return size
		}
	}
	return max(k, len(b.values))
}

func (b bound) fill(size int) bool {
	most, room := b.most(size), 0
	for value, count := range b.counts {
		if value != free {
			count = min(count, most)
		}
		if room += count; room >= size {
			return true
		}
	}
	return false
}

// leastFor is the least size of a class, k or more, that may hold a record with
// the value.
func (b bound) leastFor(value uint32, k int) int {
	size := k
	for value != free && size < len(b.values) && b.most(size) < 1 {
		size++
	}
	return size
}
