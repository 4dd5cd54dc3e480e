package hilbert

import (
	"container/heap"
	"context"

	"github.com/kproxy/kproxy/anonymizer"
)

// quota is the most records with one sensitive value that a group of a size may
// have.
type quota func(size int) int

// frontier forms diverse groups: the records lie in buckets, one for each
// sensitive value, in the order of the curve, and the first ones of all buckets
// are the frontier.
type frontier struct {
	least   int // records in a group
	quota   quota
	buckets [][]int32 // by value: the places on the line that are not taken yet
	left    int       // places in all buckets
	nearest valueHeap // values by the first place in the bucket
	fullest valueHeap // values by the number of places, falling
}

// newFrontier takes the line's sensitive values and the smallest size of a group.
func newFrontier(values []uint32, least int, q quota) *frontier {
	f := &frontier{least: least, quota: q, left: len(values)}
	number := map[uint32]int32{}
	for place, value := range values {
		v, known := number[value]
		if !known {
			v = int32(len(f.buckets))
			number[value] = v
			f.buckets = append(f.buckets, nil)
		}
		f.buckets[v] = append(f.buckets[v], int32(place))
	}
	f.nearest.less = func(v, w int32) bool { return f.buckets[v][0] < f.buckets[w][0] }
	f.fullest.less = func(v, w int32) bool {
		if len(f.buckets[v]) != len(f.buckets[w]) {
			return len(f.buckets[v]) > len(f.buckets[w])
		}
		return v < w
	}
	for v := range f.buckets {
		f.nearest.values = append(f.nearest.values, int32(v))
		f.fullest.values = append(f.fullest.values, int32(v))
	}
	f.nearest.init(len(f.buckets))
	f.fullest.init(len(f.buckets))
	return f
}

// eligible reports whether all records together would be a permitted group,
// without which they cannot be divided into such groups.
func (f *frontier) eligible() bool {
	return f.left == 0 || f.left >= f.least && len(f.buckets[f.fullest.values[0]]) <= f.quota(f.left)
}

// groups divides all places of an eligible line into groups; nil where the context
// ends.
func (f *frontier) groups(ctx context.Context, placed *anonymizer.Tracker) [][]int32 {
	var groups [][]int32
	work := 0
	for f.left > 0 {
		group := f.next()
		groups = append(groups, group)
		if work += len(group); work > checkEvery {
			if ctx.Err() != nil {
				return nil
			}
			placed.Add(work)
			work = 0
		}
	}
	placed.Add(work)
	return groups
}

// next takes a group: of each value as many records as must not stay behind,
// then the first ones of the frontier, as far as the quota of each value goes.
func (f *frontier) next() []int32 {
	size, needed := f.size()
	group := make([]int32, 0, size)
	taken := map[int32]int{}
	take := func(v int32, records int) {
		group = append(group, f.buckets[v][:records]...)
		f.take(v, records)
		taken[v] += records
	}
	for _, n := range needed {
		take(n.value, n.records)
	}
	var full []int32
	for len(group) < size {
		v := f.nearest.values[0]
		if taken[v] == f.quota(size) {
			f.nearest.remove(v)
			full = append(full, v)
			continue
		}
		take(v, 1)
	}
	for _, v := range full {
		heap.Push(&f.nearest, v)
	}
	return group
}

func (f *frontier) take(v int32, records int) {
	f.buckets[v] = f.buckets[v][records:]
	f.left -= records
	if len(f.buckets[v]) == 0 {
		f.nearest.remove(v)
		f.fullest.remove(v)
		return
	}
	f.nearest.fix(v)
	f.fullest.fix(v)
}

// need is a number of records of one value.
type need struct {
	value   int32
	records int
}

// size gives the least size of a group such that the group keeps the quota and
// what is left stays eligible, and the records that the group needs for the
// latter. The group of all that is left always will do.
func (f *frontier) size() (int, []need) {
	for size := f.least; f.left-size >= f.least; size++ {
		needed, possible := f.needed(size)
		if possible {
			return size, needed
		}
	}
	var all []need
	for _, v := range f.fullest.values {
		all = append(all, need{v, len(f.buckets[v])})
	}
	return f.left, all
}

func (f *frontier) needed(size int) (needed []need, possible bool) {
	most, mayStay, sum := f.quota(size), f.quota(f.left-size), 0
	if most < 1 {
		return nil, false
	}
	for tree := []int{0}; len(tree) > 0; {
		node := tree[len(tree)-1]
		tree = tree[:len(tree)-1]
		if node >= len(f.fullest.values) {
			continue
		}
		v := f.fullest.values[node]
		records := len(f.buckets[v]) - mayStay
		if records <= 0 {
			continue // those below it in the heap have no more
		}
		sum += records
		if records > most || sum > size {
			return nil, false
		}
		needed = append(needed, need{v, records})
		tree = append(tree, 2*node+1, 2*node+2)
	}
	room := 0
	for _, v := range f.fullest.values {
		if room += min(most, len(f.buckets[v])); room >= size {
			return needed, true
		}
	}
	return nil, false
}
