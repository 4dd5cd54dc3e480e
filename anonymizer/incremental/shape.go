package incremental

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// shaping is the memory in which a part of the tree is made anew.
type shaping struct {
	class  []int32
	id     []ClassID
	covers []uint64
	order  []int32
	keys   []int64
}

func (s *shaping) reset() {
	s.class, s.id, s.covers = s.class[:0], s.id[:0], s.covers[:0]
}

func (s *shaping) add(e entry) {
	s.class, s.id = append(s.class, e.class), append(s.id, e.id)
	s.covers = append(s.covers, e.cover...)
}

// inOrder numbers all that was added.
func (s *shaping) inOrder() []int32 {
	s.order = s.order[:0]
	for i := range s.class {
		s.order = append(s.order, int32(i))
	}
	if cap(s.keys) < len(s.class) {
		s.keys = make([]int64, len(s.class))
	}
	s.keys = s.keys[:len(s.class)]
	return s.order
}

// build makes the tree of all classes; it is of no use once the context has ended.
func (t *tree) build(ctx context.Context, classes int, describe func(class int32) entry) {
	t.shaping.reset()
	for class := range classes {
		if class%10_000 == 0 && ctx.Err() != nil {
			return
		}
		t.shaping.add(describe(int32(class)))
	}
	t.release(0)
	t.shape(ctx, 0, t.shaping.inOrder())
	t.shaping = shaping{} // it was as large as all classes
}

// divideLeaf makes two of a full leaf and one more class.
func (t *tree) divideLeaf(leaf int32, e entry) {
	t.shaping.reset()
	t.shaping.add(e)
	t.collect(leaf)
	t.release(leaf)
	t.shape(context.Background(), leaf, t.shaping.inOrder())
	t.refresh(t.nodes[leaf].parent)
}

// reshape makes what is below a node anew.
func (t *tree) reshape(n int32) {
	t.shaping.reset()
	t.collect(n)
	t.release(n)
	t.shape(context.Background(), n, t.shaping.inOrder())
	t.refresh(t.nodes[n].parent)
}

// collect adds all classes of a node to what is shaped.
func (t *tree) collect(n int32) {
	at := t.nodes[n]
	if !at.leaf() {
		t.collect(at.below)
		t.collect(at.below + 1)
		return
	}
	for i := range at.count {
		t.shaping.add(t.read(^at.below*bucketSize + i))
	}
}

// release gives back all that is below a node.
func (t *tree) release(n int32) {
	below := t.nodes[n].below
	if below < 0 {
		t.buckets.free = append(t.buckets.free, ^below)
		return
	}
	t.release(below)
	t.release(below + 1)
	t.free = append(t.free, below)
}

// shape makes a node, of which only the parent is set, hold some of what is shaped.
func (t *tree) shape(ctx context.Context, n int32, of []int32) {
	if len(of) > 1000 && ctx.Err() != nil {
		of = of[:1]
	}
	s := &t.shaping
	cover, middle := t.scratch[0], t.scratch[1]
	oldest := ClassID(math.MaxInt64)
	for i, j := range of {
		oldest = min(oldest, s.id[j])
		includeEntry(cover, middle, s.covers[int(j)*t.words:][:t.words], i == 0)
	}
	copy(t.cover(n), cover)
	copy(t.middle(n), middle)
	at := node{oldest: oldest, parent: t.nodes[n].parent, count: int32(len(of))}
	if len(of) <= bucketSize {
		bucket := t.newBucket(n)
		at.below = ^bucket
		t.nodes[n] = at
		for i, j := range of {
			t.write(bucket*bucketSize+int32(i), entry{s.class[j], s.id[j], s.covers[int(j)*t.words:][:t.words]})
		}
		return
	}
	half, across := t.halve(middle, of)
	at.below, at.across, at.plane = t.newPair(n), across, s.keys[of[half]]
	t.nodes[n] = at
	t.shape(ctx, at.below, of[:half])
	t.shape(ctx, at.below+1, of[half:])
	t.nodes[n].count = t.nodes[at.below].count + t.nodes[at.below+1].count
}

// halve orders classes so that those before the returned index lie on one side of it,
// on the attribute on which their middles vary most. Equal ones stay together:
// where that leaves less than a quarter to one side, the next attribute is tried.
// Where classes lie at one place, the older ones come first.
func (t *tree) halve(middle box, of []int32) (half int, across int32) {
	var wide []wideAttribute
	for a := range t.frame.unit {
		// Rounding makes two units of equal middles.
		if laneOf(middle, a, 1)-laneOf(middle, a, 0) > 2 {
			wide = append(wide, wideAttribute{int32(a), t.variance(int32(a), of)})
		}
	}
	slices.SortStableFunc(wide, func(a, b wideAttribute) int { return cmp.Compare(b.variance, a.variance) })
	for _, w := range wide {
		if half, even := t.halveAcross(w.attribute, of); even {
			return half, w.attribute
		}
	}
	across = byAge
	if len(wide) > 0 {
		across = wide[0].attribute
	}
	half, _ = t.halveAcross(across, of)
	return half, across
}

type wideAttribute struct {
	attribute int32
	variance  float64
}

// variance is that of the keys, across an attribute, of some of what is shaped. How far
// apart the outermost two lie says little of the others.
func (t *tree) variance(across int32, of []int32) float64 {
	s, sum, squares := &t.shaping, 0.0, 0.0
	for _, j := range of {
		key := float64(key(across, s.covers[int(j)*t.words:][:t.words], 0))
		sum += key
		squares += key * key
	}
	mean := sum / float64(len(of))
	return squares/float64(len(of)) - mean*mean
}

// halveAcross is halve for one attribute; even reports whether equal ones stay
// together.
func (t *tree) halveAcross(across int32, of []int32) (half int, even bool) {
	s := &t.shaping
	for _, j := range of {
		s.keys[j] = key(across, s.covers[int(j)*t.words:][:t.words], s.id[j])
	}
	half = len(of) / 2
	near, far := selectKey(s.keys, of, half)
	if far-half < half-near {
		near, far = far, near
	}
	for _, edge := range []int{near, far} {
		if edge >= len(of)/4 && edge <= len(of)-len(of)/4 {
			return edge, true
		}
	}
	return half, false
}

// selectRounds is after how many rounds the rest is sorted: more than are likely.
const selectRounds = 64

// selectKey orders numbers so that one of the key that belongs to an index stands
// there, lesser keys before the returned range of equal ones, and greater ones behind
// it (Hoare 1961; three parts as Bentley and McIlroy 1993).
func selectKey(keys []int64, of []int32, index int) (from, to int) {
	low, high := 0, len(of)
	for rounds := 0; ; rounds++ {
		if rounds == selectRounds { // an unlucky order
			slices.SortFunc(of[low:high], func(i, j int32) int { return cmp.Compare(keys[i], keys[j]) })
		}
		a, b, c := keys[of[low]], keys[of[(low+high)/2]], keys[of[high-1]]
		pivot := max(min(a, b), min(max(a, b), c))
		from, to = low, high
		for i := low; i < to; {
			switch k := keys[of[i]]; {
			case k < pivot:
				of[from], of[i] = of[i], of[from]
				from++
				i++
			case k > pivot:
				to--
				of[to], of[i] = of[i], of[to]
			default:
				i++
			}
		}
		switch {
		case index < from:
			high = from
		case index >= to:
			low = to
		default:
			return from, to
		}
	}
}
