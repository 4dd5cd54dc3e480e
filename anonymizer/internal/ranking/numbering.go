package ranking

import (
	"hash/maphash"
	"math"
)

// FewValues is the number of different values up to which a numbering is used:
// its table stays within a core's own cache.
const FewValues = 1 << 16

// Numbering numbers floats from 0 in the order of their first appearance, by
// open addressing. Values of equal comparison have equal numbers; NaN must not
// come in.
type Numbering struct {
	Values []float64 // by number
	// small holds 1 + number of the whole numbers from 0 on, 0 = new: codes,
	// ages and the like need no search.
	small [1 << 10]int32
	slots []int32 // 1 + number of the value there, 0 = free; a power of two
	shift int     // 64 - log2(len(slots))
}

// NewNumbering returns a numbering of no values.
func NewNumbering() *Numbering { return &Numbering{slots: make([]int32, 1<<8), shift: 64 - 8} }

// Small is the number of a small whole number that was met before, else -1.
func (t *Numbering) Small(value float64) int32 {
	if whole := int(value); uint(whole) < uint(len(t.small)) && float64(whole) == value {
		return t.small[whole] - 1
	}
	return -1
}

// Number is the value's number, a new one for a new value.
func (t *Numbering) Number(value float64) int32 {
	if whole := int(value); uint(whole) < uint(len(t.small)) && float64(whole) == value {
		if t.small[whole] == 0 {
			t.Values = append(t.Values, value)
			t.small[whole] = int32(len(t.Values))
		}
		return t.small[whole] - 1
	}
	for at := t.slot(value); ; at = (at + 1) & (len(t.slots) - 1) {
		known := t.slots[at]
		if known == 0 {
			return t.add(at, value)
		}
		if t.Values[known-1] == value {
			return known - 1
		}
	}
}

// factor is another one in each process, so that a table's owner cannot choose
// values that collide. It never reaches the result: numbers follow the order of
// first appearance.
var factor = maphash.String(maphash.MakeSeed(), "factor") | 1

// slot is where the search for a value begins: multiplicative hashing (Knuth,
// volume 3, 6.4). The low bits, in which whole numbers are all alike, are folded
// with the high ones first.
func (t *Numbering) slot(value float64) int {
	bits := math.Float64bits(value)
	return int((bits ^ bits>>32) * factor >> t.shift)
}

func (t *Numbering) add(at int, value float64) int32 {
	t.Values = append(t.Values, value)
	t.slots[at] = int32(len(t.Values))
	if 4*len(t.Values) > len(t.slots) {
		size := len(t.slots)
		for ; 4*len(t.Values) > size; size *= 2 { // small values came without a slot
			t.shift--
		}
		t.slots = make([]int32, size)
		for i, v := range t.Values { // small ones too, which nobody looks for here
			at := t.slot(v)
			for t.slots[at] != 0 {
				at = (at + 1) & (len(t.slots) - 1)
			}
			t.slots[at] = int32(i + 1)
		}
	}
	return int32(len(t.Values) - 1)
}
