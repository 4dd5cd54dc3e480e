package seeded

// values knows the bounded values of a block and the places that they have in the
// cluster that grows.
type values struct {
	bound bound
	of    []int32  // by record of the block: the number of its value
	codes []uint32 // by number: the value, or free
	left  []int    // by number: records in no cluster, and in the one that grows
	taken []int    // by number: records in the cluster that grows
	// needed are the records of each number that the cluster takes at the least:
	// more of them than the clusters after it may hold must not be left.
	needed []int
	closed []bool // by number: no more records for the cluster
	most   int    // places of a number
	open   int    // its places that are not taken
	due    int    // records of all numbers that are needed and not taken
	tight  bool   // all open places are for needed records
}

func newValues(b bound, records []int32) *values {
	v := &values{bound: b, of: make([]int32, len(records))}
	numbers := map[uint32]int32{}
	for i, r := range records {
		code := b.value(r)
		number, known := numbers[code]
		if !known {
			number = int32(len(v.codes))
			numbers[code] = number
			v.codes, v.left = append(v.codes, code), append(v.left, 0)
		}
		v.of[i] = number
		v.left[number]++
	}
	v.taken, v.needed, v.closed = make([]int, len(v.codes)), make([]int, len(v.codes)), make([]bool, len(v.codes))
	return v
}

// leastFor is the least size of a class, size or more, that may hold the record
// at a place.
func (v *values) leastFor(place, size int) int {
	return v.bound.leastFor(v.codes[v.of[place]], size)
}

// fill reports whether the records left can fill a cluster.
func (v *values) fill(size int) bool {
	most, room := v.bound.most(size), 0
	for number, left := range v.left {
		if v.codes[number] != free {
			left = min(left, most)
		}
		if room += left; room >= size {
			return true
		}
	}
	return false
}

// begin starts a cluster of a size, with so many records left in the block.
func (v *values) begin(size, left int) {
	v.most, v.open, v.due = v.bound.most(size), size, 0
	after := (left - size) / size
	for number, left := range v.left {
		v.taken[number], v.needed[number] = 0, 0
		if v.codes[number] != free {
			v.needed[number] = min(v.most, max(0, left-v.most*after))
		}
		v.due += v.needed[number]
	}
	v.tight = v.due >= v.open
	for number := range v.taken {
		v.close(number)
	}
}

// close closes a number that has all its places, or all but those kept for needed
// ones.
func (v *values) close(number int) {
	v.closed[number] = v.codes[number] != free && v.taken[number] >= v.most ||
		v.tight && v.taken[number] >= v.needed[number]
}

// take counts a record of the cluster.
func (v *values) take(number int) {
	if v.taken[number] < v.needed[number] {
		v.due--
	}
	v.taken[number]++
	v.left[number]--
	v.open--
	v.close(number)
	if !v.tight && v.due >= v.open {
		v.tight = true
		for other := range v.taken {
			v.close(other)
		}
	}
}
