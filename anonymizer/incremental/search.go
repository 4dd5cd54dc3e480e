package incremental

import "math"

// search finds the class of the greatest similarity to something by depth-first
// branch and bound: a box that is certainly less similar than the best class so far
// is passed over with all that it holds. The best class is the one that a scan of
// all of them would find.
//
// The bound: with what a class lacks in similarity to a record, e / (w + e + delta)
// for a distance e from its interval of half width w, sums over several attributes
// are at least the same function of the sums of e and of the greatest w, as it is
// concave in e and 0 at 0. What a class lacks in similarity to another one is that
// of the distance of the middles, with w = 0.
type search struct {
	tree   *tree
	target point
	boxes  []uint64 // of nodes: covers, or middles to search for a neighbor
	delta  float64  // smoothing distance in lane units, no less than any attribute's
	most   float64  // number of attributes: more than that no similarity is
	top    float64  // the greatest similarity that can come out
	slack  float64  // what rounding can make of it

	of        *nearest
	class     int32     // whose neighbor is searched for, -1 for a record's class
	positions []float64 // of the record, or middles of the class

	best    int32 // -1 = none yet
	sum     float64
	id      ClassID
	limit   distance // at a greater one there is no better class
	perfect bool     // only an older class at the same place can be better
	looked  int      // boxes compared
}

// neighbor reports whether a class's neighbor is searched for.
func (s *search) neighbor() bool { return s.class >= 0 }

// run returns the class, -1 if there is none but the one itself.
func (s *search) run() int32 {
	s.boxes = s.tree.covers.list
	if s.neighbor() {
		s.boxes = s.tree.middles.list
	}
	s.best, s.perfect, s.looked, s.limit = -1, false, 0, math.MaxUint64
	if len(s.tree.nodes) > 0 && s.tree.nodes[0].count > 0 {
		s.visit(0)
	}
	return s.best
}

func (s *search) visit(n int32) {
	at := &s.tree.nodes[n]
	if at.leaf() {
		s.compare(at)
		return
	}
	near, far := at.below, at.below+1
	words := len(s.target)
	pair := s.boxes[int(near)*words:][:2*words]
	first, second := s.target.to(pair[:words]), s.target.to(pair[words:])
	s.looked += 2
	if second < first || second == first && s.beyond(at) {
		near, far, first, second = far, near, second, first
	}
	if first <= s.limit && !s.tooYoung(s.tree.nodes[near].oldest) {
		s.visit(near)
	}
	if second <= s.limit && !s.tooYoung(s.tree.nodes[far].oldest) {
		s.visit(far)
	}
}

// beyond reports whether the target lies on the second side of the plane that divides a
// node. Where it lies in the boxes of both, as it does far above the leaves, the class
// that leaves the fewest others to compare is there.
func (s *search) beyond(at *node) bool {
	if at.across == byAge {
		return false // the older ones come first
	}
	return int64(2*laneOf(s.target, int(at.across), 0)) >= at.plane
}

// tooYoung reports whether only an older class can be better.
func (s *search) tooYoung(id ClassID) bool { return s.perfect && id >= s.id }

// compare looks at the classes of a leaf.
func (s *search) compare(leaf *node) {
	t := s.tree
	place := ^leaf.below * bucketSize
	words := len(s.target)
	covers := t.buckets.covers.list[int(place)*words:][:int(leaf.count)*words]
	middles := s.neighbor()
	s.looked += int(leaf.count)
	for ; len(covers) > 0; place, covers = place+1, covers[words:] {
		cover := covers[:words]
		if middles {
			middleOf(t.scratch[0], cover)
			cover = t.scratch[0]
		}
		if s.target.to(cover) > s.limit || s.tooYoung(t.buckets.id[place]) {
			continue
		}
		s.consider(t.buckets.class[place], t.buckets.id[place])
	}
}

// consider compares a class with the best one: among equals the class that covers
// least is preferred, then the oldest.
func (s *search) consider(class int32, id ClassID) {
	if class == s.class {
		return
	}
	sum := s.similarity(class)
	if !(sum >= 0) {
		sum = 0 // what is not comparable counts as not similar at all
	}
	if s.best >= 0 && !s.better(class, id, sum) {
		return
	}
	s.best, s.sum, s.id = class, sum, id
	s.limit = s.reach(s.most - sum + s.slack)
	if sum == s.top && s.of.width(class) == 0 {
		s.perfect, s.limit = true, 0
	}
}

func (s *search) similarity(class int32) float64 {
	if s.neighbor() {
		return s.of.similarityOf(s.class, class)
	}
	return s.of.similarityTo(s.positions, class)
}

func (s *search) better(class int32, id ClassID, sum float64) bool {
	if sum != s.sum {
		return sum > s.sum
	}
	if own, other := s.of.width(class), s.of.width(s.best); own != other {
		return own < other
	}
	return id < s.id
}

// reach is the greatest distance at which a class can lack so much similarity, or
// less, to what is searched for: every attribute on which one is off the scale and
// the other is not takes 1, and the rest is by the bound a matter of the distance.
func (s *search) reach(lacks float64) distance {
	const farthest = 1<<distanceBits - 1
	aliens := math.Floor(lacks)
	lacks -= aliens
	w := s.delta
	if !s.neighbor() {
		w += s.tree.halfway
	}
	return uint64(aliens)<<distanceBits + uint64(min(farthest, w*lacks/(1-lacks)*(1+0x1p-40)))
}
