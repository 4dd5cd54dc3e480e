package compact

import "slices"

// Lookup finds the places of many ids while nothing changes. Where these are close to one
// another it is a list by id: that takes one look in memory, a directory two or more.
type Lookup[ID ~int64] struct {
	ids       []ID
	first     ID
	near      []int32 // 1 + place by id, from the first on, 0 = none; nil where they lie far apart
	directory Directory[ID]
}

// sparse is how many times as many ids as there are a list has room for.
const sparse = 4

// NewLookup looks up ids, each at its own place. The second result is the place of one that
// is there twice, else -1.
func NewLookup[ID ~int64](ids []ID) (l Lookup[ID], twice int32) {
	l = Lookup[ID]{ids: ids}
	if len(ids) == 0 {
		return l, -1
	}
	l.first = slices.Min(ids)
	span := uint64(slices.Max(ids)) - uint64(l.first) // which need not fit into an id
	if span >= sparse*uint64(len(ids)) {
		return l, l.directory.Fill(ids)
	}
	l.near = make([]int32, span+1)
	for place, id := range ids {
		entry := &l.near[id-l.first]
		if *entry != 0 {
			return l, int32(place)
		}
		*entry = int32(place) + 1
	}
	return l, -1
}

// Find is the place of an id, -1 for an unknown one.
func (l *Lookup[ID]) Find(id ID) int32 {
	if l.near == nil {
		return l.directory.Find(l.ids, id)
	}
	if at := uint64(id) - uint64(l.first); at < uint64(len(l.near)) {
		return l.near[at] - 1
	}
	return -1
}
