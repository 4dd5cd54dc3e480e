package incremental

import "math"

// lopsided reports whether a node with two below has too few classes for that, or
// too many of them on one side (Andersson 1989, "general balanced trees").
func (t *tree) lopsided(n int32) bool {
	count, below := t.nodes[n].count, t.nodes[n].below
	most := max(t.nodes[below].count, t.nodes[below+1].count)
	return count <= fewLeft || most == count || 8*int64(most) > 7*int64(count)+8*bucketSize
}

// refresh computes what a node holds anew, and what those above it hold as long as
// that makes a difference.
func (t *tree) refresh(n int32) {
	cover, middle := t.scratch[0], t.scratch[1]
	for n >= 0 {
		at := &t.nodes[n]
		oldest := at.oldest
		t.gather(n, cover, middle)
		same := oldest == at.oldest
		same = takeBox(t.covers.at(n), cover) && same
		same = takeBox(t.middles.at(n), middle) && same
		if same {
			return
		}
		n = at.parent
	}
}

// gather unites what is below a node.
func (t *tree) gather(n int32, cover, middle box) {
	at := &t.nodes[n]
	at.oldest = math.MaxInt64
	if !at.leaf() {
		for i := at.below; i < at.below+2; i++ {
			at.oldest = min(at.oldest, t.nodes[i].oldest)
		}
		copy(cover, t.covers.at(at.below))
		copy(middle, t.middles.at(at.below))
		includeBox(cover, t.covers.at(at.below+1))
		includeBox(middle, t.middles.at(at.below+1))
		return
	}
	for i := range at.count {
		place := ^at.below*bucketSize + i
		at.oldest = min(at.oldest, t.buckets.id[place])
		includeEntry(cover, middle, t.buckets.covers.at(place), i == 0)
	}
}

// includeEntry unites the boxes of a node's classes.
func includeEntry(cover, middle, of box, first bool) {
	if first {
		copy(cover, of)
		middleOf(middle, of)
		return
	}
	includeBox(cover, of)
	for w := 0; w+1 < len(of); w += 2 {
		mean := (of[w] + of[w+1]) >> 1 &^ laneTops
		low, high := mean-laneOnes, mean+laneOnes
		least, most := laneMask(middle[w], low), laneMask(high, middle[w+1])
		middle[w] = low&least | middle[w]&^least
		middle[w+1] = high&most | middle[w+1]&^most
	}
}

// takeBox copies a box and reports whether the two are the same.
func takeBox(to, from box) bool {
	same := true
	for w := range to {
		same = same && to[w] == from[w]
		to[w] = from[w]
	}
	return same
}
