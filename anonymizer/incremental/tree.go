package incremental

import (
	"math"
	"slices"
)

// tree is an index of the classes by what they cover: a binary tree of boxes that
// contain the boxes below them, with buckets of a few classes at its ends
// (a bounding volume hierarchy; the boxes in few bits follow Sakurai et al. 2000,
// "The A-tree"). It keeps for each box also where the middles of its classes lie.
//
// Boxes only bound distances from below: which class is the most similar one, the
// exact similarities decide. So the tree's shape has no influence on answers.
type tree struct {
	frame   frame
	words   int // of a box
	nodes   []node
	covers  boxes   // of each node: what its classes cover
	middles boxes   // of each node: where their middles lie
	free    []int32 // unused pairs of nodes
	buckets buckets
	halfway float64 // at least the greatest half width of a class on any attribute, in lane units
	places  []int32 // by class: its place in the buckets, -1 = in none
	scratch [2]box  // cover and middle of a class or a node
	spare   box
	shaping shaping
}

// node is the root, 0, or one of two neighbors 2i and 2i+1 that divide the classes
// of a node between them.
type node struct {
	oldest ClassID // least id of its classes
	parent int32   // -1 for the root
	below  int32   // first of the two nodes below, or ^bucket
	count  int32   // classes
	// across is the attribute on which its classes were divided, or byAge; those with
	// a key of at least plane are below the second node.
	across int32
	plane  int64
}

// byAge takes the place of an attribute where classes lie at one place: the key is then
// the class's id.
const byAge = -1

// key is twice the middle of a cover on an attribute, or the id.
func key(across int32, cover box, id ClassID) int64 {
	if across == byAge {
		return int64(id)
	}
	return int64(laneOf(cover, int(across), 0) + laneOf(cover, int(across), 1))
}

func (n *node) leaf() bool { return n.below < 0 }

// bucketSize is how many classes a bucket takes, and fewLeft how many classes of two
// neighbors become one bucket.
const (
	bucketSize = 16
	fewLeft    = 10
)

// buckets hold the classes at the tree's ends; a place is bucket*bucketSize + i, for
// i below the node's count.
type buckets struct {
	class  []int32
	id     []ClassID
	covers boxes
	node   []int32 // by bucket
	free   []int32
}

// add makes an empty bucket of a node.
func (b *buckets) add(node int32) int32 {
	if last := len(b.free) - 1; last >= 0 {
		bucket := b.free[last]
		b.free, b.node[bucket] = b.free[:last], node
		return bucket
	}
	b.node = append(b.node, node)
	b.class = append(b.class, make([]int32, bucketSize)...)
	b.id = append(b.id, make([]ClassID, bucketSize)...)
	b.covers.add(bucketSize)
	return int32(len(b.node) - 1)
}

// nodeOf is the node whose bucket has a place.
func (b *buckets) nodeOf(place int32) int32 { return b.node[place/bucketSize] }

func (b *buckets) entry(place int32) entry {
	return entry{b.class[place], b.id[place], b.covers.at(place)}
}

func (b *buckets) set(place int32, e entry) {
	b.class[place], b.id[place] = e.class, e.id
	copy(b.covers.at(place), e.cover)
}

func newTree(f frame, classes int) tree {
	words := boxWords(len(f.unit))
	t := tree{
		frame: f, words: words, covers: boxes{words: words}, middles: boxes{words: words},
		buckets: buckets{covers: boxes{words: words}}, places: slices.Repeat([]int32{-1}, classes), shaping: newShaping(f),
	}
	for i := range t.scratch {
		t.scratch[i] = make(box, t.words)
	}
	t.growNodes()
	t.nodes[0] = node{parent: -1, below: ^t.buckets.add(0), oldest: math.MaxInt64}
	return t
}

// at is the place of a class, -1 if the tree does not have it.
func (t *tree) at(class int32) int32 {
	if int(class) >= len(t.places) {
		return -1
	}
	return t.places[class]
}

func (t *tree) growNodes() {
	t.nodes = append(t.nodes, node{}, node{})
	t.covers.add(2)
	t.middles.add(2)
}

// newPair gives two unused nodes below another one.
func (t *tree) newPair(parent int32) int32 {
	pair := int32(len(t.nodes))
	if last := len(t.free) - 1; last >= 0 {
		pair, t.free = t.free[last], t.free[:last]
	} else {
		t.growNodes()
	}
	t.nodes[pair], t.nodes[pair+1] = node{parent: parent}, node{parent: parent}
	return pair
}

// entry is a class as a bucket has it.
type entry struct {
	class int32
	id    ClassID
	cover box
}

// describe gives a class's entry, which the next call overwrites.
func (t *tree) describe(class int32, id ClassID, covers []extent) entry {
	e := entry{class: class, id: id, cover: t.scratch[0]}
	for a := range lanes(e.cover) {
		if a >= len(t.frame.unit) {
			setBox(e.cover, a, frameEdge, frameEdge)
			continue
		}
		of := covers[a]
		setBox(e.cover, a, t.frame.lane(a, of.low), t.frame.lane(a, of.high))
		t.halfway = max(t.halfway, t.frame.halfWidth(a, of))
	}
	return e
}

func (t *tree) write(place int32, e entry) {
	t.buckets.set(place, e)
	t.places[e.class] = place
}

// put adds a class or takes over what it covers now.
func (t *tree) put(e entry) {
	for int(e.class) >= len(t.places) {
		t.places = append(t.places, -1)
	}
	leaf := t.leafFor(e.cover, e.id)
	if place := t.places[e.class]; place >= 0 {
		if t.buckets.nodeOf(place) == leaf {
			t.write(place, e)
			t.refresh(leaf)
			return
		}
		t.spare = append(t.spare[:0], e.cover...) // dropping needs the room in which it is
		e.cover = t.spare
		t.drop(e.class)
		leaf = t.leafFor(e.cover, e.id) // the tree may have been reshaped
	}
	n := &t.nodes[leaf]
	if n.count == bucketSize {
		t.divideLeaf(leaf, e)
	} else {
		t.write(^n.below*bucketSize+n.count, e)
		n.count++
		t.refresh(leaf)
	}
	t.counted(leaf, 1)
}

// leafFor finds the leaf on whose side of all planes a class lies.
func (t *tree) leafFor(cover box, id ClassID) int32 {
	n := int32(0)
	for !t.nodes[n].leaf() {
		at := &t.nodes[n]
		if n = at.below; key(at.across, cover, id) >= at.plane {
			n++
		}
	}
	return n
}

// drop removes a class, if the tree has it.
func (t *tree) drop(class int32) {
	place := t.at(class)
	if place < 0 {
		return
	}
	t.places[class] = -1
	leaf := t.buckets.nodeOf(place)
	n := &t.nodes[leaf]
	n.count--
	if last := ^n.below*bucketSize + n.count; place != last {
		t.write(place, t.buckets.entry(last))
	}
	t.refresh(leaf)
	t.counted(leaf, -1)
}

// rename has a class go by another number.
func (t *tree) rename(class, to int32) {
	if place := t.at(class); place >= 0 {
		t.places[class] = -1
		for int(to) >= len(t.places) {
			t.places = append(t.places, -1)
		}
		t.places[to], t.buckets.class[place] = place, to
	}
}

// counted adds to the counts above a leaf whose own is right, and brings the highest
// node into shape that has lost it.
func (t *tree) counted(leaf, more int32) {
	lost := int32(-1)
	for n := t.nodes[leaf].parent; n >= 0; n = t.nodes[n].parent {
		t.nodes[n].count += more
		if t.lopsided(n) {
			lost = n
		}
	}
	if lost >= 0 {
		t.reshape(lost)
	}
}
