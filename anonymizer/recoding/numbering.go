package recoding

import (
	"context"
	"hash/maphash"
	"math/bits"
)

const (
	// partKeys is about how many keys are looked at together: their table stays
	// in the cache of a core, so that the cost of a key does not grow with n.
	partKeys = 1 << 13
	// checkEvery is how many elementary steps pass between two looks at the
	// context, some milliseconds.
	checkEvery = 1 << 16
)

// numbering gives numbers to keys. It keeps its memory from call to call.
type numbering struct {
	entries []entry
	slots   []uint32 // 1 + index of an entry of the part, 0 = free
}

type entry struct {
	key   uint64
	place uint32
}

// The secrets keep a table's owner from choosing values that collide. They
// differ from run to run but decide only where a key is looked for, never its
// number.
var secret = maphash.MakeSeed()

type hash struct{ mask, factor uint64 }

func newHash() hash {
	return hash{mask: maphash.String(secret, "mask"), factor: maphash.String(secret, "factor") | 1}
}

func (h hash) of(key uint64) uint64 {
	high, low := bits.Mul64(key^h.mask, h.factor)
	return high ^ low
}

// number gives equal keys equal numbers, from 0 in the order of their first
// appearance, and for each number the place where it first appears. Time and
// memory are linear.
func (s *numbering) number(ctx context.Context, keys []uint64) (of []uint32, firsts []int32, err error) {
	of = make([]uint32, len(keys))
	h := newHash()
	starts, err := s.divide(ctx, h, keys)
	if err != nil {
		return nil, nil, err
	}
	for part := 1; part < len(starts); part++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		s.findFirst(h, s.entries[starts[part-1]:starts[part]], of)
	}
	for place, first := range of {
		if int(first) == place {
			of[place] = uint32(len(firsts))
			firsts = append(firsts, int32(place))
		} else {
			of[place] = of[first]
		}
	}
	return of, firsts, ctx.Err()
}

// divide sorts the keys into parts by the upper bits of their hash, each in the
// keys' order, and returns where each part starts.
func (s *numbering) divide(ctx context.Context, h hash, keys []uint64) ([]int, error) {
	if cap(s.entries) < len(keys) {
		s.entries = make([]entry, len(keys))
	}
	s.entries = s.entries[:len(keys)]
	width := bits.Len(uint(len(keys) / partKeys))
	starts := make([]int, 1<<width+1)
	for place, key := range keys {
		if place%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		starts[h.of(key)>>(64-width)+1]++
	}
	for part := 1; part < len(starts); part++ {
		starts[part] += starts[part-1]
	}
	at := append([]int(nil), starts...)
	for place, key := range keys {
		if place%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		part := h.of(key) >> (64 - width)
		s.entries[at[part]] = entry{key, uint32(place)}
		at[part]++
	}
	return starts, nil
}

// findFirst writes for each entry of a part the place of the first one with the
// same key.
func (s *numbering) findFirst(h hash, part []entry, first []uint32) {
	size := 1 << bits.Len(uint(2*len(part)))
	if len(s.slots) < size {
		s.slots = make([]uint32, size)
	}
	slots := s.slots[:size]
	clear(slots)
	for i, e := range part {
		at := h.of(e.key) & uint64(size-1)
		for slots[at] != 0 && part[slots[at]-1].key != e.key {
			at = (at + 1) & uint64(size-1)
		}
		if slots[at] == 0 {
			slots[at] = uint32(i) + 1
		}
		first[e.place] = part[slots[at]-1].place
	}
}
