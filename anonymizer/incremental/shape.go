package incremental

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// shaping is the memory in which a part of the tree is made anew: classes that lie next to
// each other once they are divided, so that what is left to divide soon fits into a cache.
type shaping struct {
	attributes int
	class      []int32
	id         []ClassID
	covers     boxes
	keys       []int64 // where they are to be divided
}

func newShaping(f frame) shaping {
	return shaping{attributes: len(f.unit), covers: boxes{words: boxWords(len(f.unit))}}
}

func (s *shaping) reset() {
	s.class, s.id, s.covers.list = s.class[:0], s.id[:0], s.covers.list[:0]
}

func (s *shaping) add(e entry) {
	s.class, s.id = append(s.class, e.class), append(s.id, e.id)
	s.covers.list = append(s.covers.list, e.cover...)
}

// entry is one of those added.
func (s *shaping) entry(i int) entry { return entry{s.class[i], s.id[i], s.covers.at(int32(i))} }

// exchange has two of those added change places.
func (s *shaping) exchange(i, j int) {
	s.class[i], s.class[j] = s.class[j], s.class[i]
	s.id[i], s.id[j] = s.id[j], s.id[i]
	s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
	one, other := s.covers.at(int32(i)), s.covers.at(int32(j))
	for w := range one {
		one[w], other[w] = other[w], one[w]
	}
}

// build makes the tree of all classes; it is of no use once the context has ended.
func (t *tree) build(ctx context.Context, classes int, describe func(class int32) entry) {
	t.reserve(classes)
	for class := range classes {
		if class%10_000 == 0 && ctx.Err() != nil {
			return
		}
		t.shaping.add(describe(int32(class)))
	}
	t.release(0)
	t.shapeAll(ctx, 0)
	t.shaping = newShaping(t.frame) // it was as large as all classes
}

// reserve makes room for some classes, so that what holds them need not grow.
func (t *tree) reserve(classes int) {
	s, b := &t.shaping, &t.buckets
	s.class, s.id = make([]int32, 0, classes), make([]ClassID, 0, classes)
	s.covers.grow(classes)
	s.keys = make([]int64, classes)
	ends := 1 << bits.Len(uint(max(0, classes-1)/bucketSize)) // as halves are even, or nearly
	b.class, b.id, b.node = slices.Grow(b.class, ends*bucketSize), slices.Grow(b.id, ends*bucketSize), slices.Grow(b.node, ends)
	b.covers.grow(ends * bucketSize)
	t.nodes = slices.Grow(t.nodes, 2*ends)
	t.covers.grow(2 * ends)
	t.middles.grow(2 * ends)
}

// divideLeaf makes two of a full leaf and one more class.
func (t *tree) divideLeaf(leaf int32, e entry) {
	t.shaping.reset()
	t.shaping.add(e)
	t.collect(leaf)
	t.release(leaf)
	t.shapeAll(context.Background(), leaf)
	t.refresh(t.nodes[leaf].parent)
}

// reshape makes what is below a node anew.
func (t *tree) reshape(n int32) {
	t.shaping.reset()
	t.collect(n)
	t.release(n)
	t.shapeAll(context.Background(), n)
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
		t.shaping.add(t.buckets.entry(^at.below*bucketSize + i))
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

// shapeAll fills a node that has only a parent with all that was added.
func (t *tree) shapeAll(ctx context.Context, n int32) {
	s := &t.shaping
	s.keys = slices.Grow(s.keys[:0], len(s.class))[:len(s.class)]
	t.shape(ctx, n, 0, len(s.class))
}

// shape fills a node that has only a parent with those added in a range.
func (t *tree) shape(ctx context.Context, n int32, from, to int) {
	if to-from > 1000 && ctx.Err() != nil {
		to = from + 1
	}
	if to-from <= bucketSize {
		bucket := t.buckets.add(n)
		t.nodes[n].below, t.nodes[n].count = ^bucket, int32(to-from)
		for i := range to - from {
			t.write(bucket*bucketSize+int32(i), t.shaping.entry(from+i))
		}
	} else {
		half, across, plane := t.shaping.halve(from, to)
		below := t.newPair(n)
		t.nodes[n].below, t.nodes[n].across, t.nodes[n].plane = below, across, plane
		t.shape(ctx, below, from, half)
		t.shape(ctx, below+1, half, to)
		t.nodes[n].count = t.nodes[below].count + t.nodes[below+1].count
	}
	t.gather(n, t.scratch[0], t.scratch[1])
	copy(t.covers.at(n), t.scratch[0])
	copy(t.middles.at(n), t.scratch[1])
}

// sampled is about how many of many classes tell on which attribute they vary most.
const sampled = 128

// halve orders a range of classes so that those before the returned index lie on one side
// of a plane, on the attribute on which their middles vary most. Equal ones stay together:
// where that leaves less than a quarter to one side, the next attribute is tried.
// Where classes lie at one place, the older ones come first.
func (s *shaping) halve(from, to int) (half int, across int32, plane int64) {
	across = byAge
	for step := max(1, (to-from)/sampled); ; step = 1 {
		wide := s.wide(from, to, step)
		for _, w := range wide {
			if half, plane, even := s.halveAcross(w.attribute, from, to); even {
				return half, w.attribute, plane
			}
		}
		if len(wide) > 0 {
			across = wide[0].attribute
		}
		if step == 1 {
			break
		}
	}
	half, plane, _ = s.halveAcross(across, from, to)
	return half, across, plane
}

// even reports whether at least a quarter of a range lies on each side of an index.
func even(from, half, to int) bool {
	return min(half-from, to-half) >= (to-from)/4
}

// keyAt is the key of one of those added.
func (s *shaping) keyAt(across int32, i int) int64 {
	return key(across, s.covers.at(int32(i)), s.id[i])
}

type wideAttribute struct {
	attribute int32
	variance  float64
}

// wide lists the attributes on which the middles of a range differ, those first on which
// they vary most: how far apart the outermost two lie says little of the others. It looks at
// every so-and-so-manieth class.
func (s *shaping) wide(from, to, step int) (wide []wideAttribute) {
	for a := range int32(s.attributes) {
		least, most := int64(math.MaxInt64), int64(0)
		count, sum, squares := 0.0, 0.0, 0.0
		for i := from; i < to; i += step {
			k := s.keyAt(a, i)
			least, most = min(least, k), max(most, k)
			count++
			sum += float64(k)
			squares += float64(k) * float64(k)
		}
		if most/2 > least/2 { // rounding makes odd keys of equal middles
			mean := sum / count
			wide = append(wide, wideAttribute{a, squares/count - mean*mean})
		}
	}
	slices.SortStableFunc(wide, func(a, b wideAttribute) int { return cmp.Compare(b.variance, a.variance) })
	return wide
}

// halveAcross is halve for one attribute; isEven reports whether equal ones stay
// together. If not, some that lie in the plane are before the index.
func (s *shaping) halveAcross(across int32, from, to int) (half int, plane int64, isEven bool) {
	for i := from; i < to; i++ {
		s.keys[i] = s.keyAt(across, i)
	}
	half = (from + to) / 2
	near, far := s.selectKey(from, to, half)
	plane = s.keys[half]
	edges := [2]int{near, far}
	if far-half < half-near {
		edges = [2]int{far, near}
	}
	for _, edge := range edges {
		if even(from, edge, to) {
			if edge == far {
				plane++
			}
			return edge, plane, true
		}
	}
	return half, plane, false
}

// selectRounds is after how many rounds the rest is sorted: more than are likely.
const selectRounds = 64

// selectKey orders a range so that one of the key that belongs to an index stands
// there, lesser keys before the returned range of equal ones, and greater ones behind
// it (Hoare 1961).
func (s *shaping) selectKey(low, high, index int) (from, to int) {
	keys := s.keys
	for rounds := 0; ; rounds++ {
		if rounds == selectRounds { // an unlucky order
			sort.Sort(byKey{s, low, high})
		}
		a, b, c := keys[low], keys[(low+high)/2], keys[high-1]
		pivot := max(min(a, b), min(max(a, b), c))
		if from = s.divide(low, high, pivot); index < from {
			high = from
			continue
		}
		if to = s.divide(from, high, pivot+1); index < to {
			return from, to
		}
		low = to
	}
}

// divide orders a range so that those with a key of at least plane come last, and returns
// the first of them.
func (s *shaping) divide(from, to int, plane int64) int {
	keys := s.keys
	for {
		for from < to && keys[from] < plane {
			from++
		}
		for from < to && keys[to-1] >= plane {
			to--
		}
		if from == to {
			return from
		}
		to--
		s.exchange(from, to)
		from++
	}
}

// byKey sorts a range of what is shaped.
type byKey struct {
	*shaping
	from, to int
}

func (b byKey) Len() int           { return b.to - b.from }
func (b byKey) Less(i, j int) bool { return b.keys[b.from+i] < b.keys[b.from+j] }
func (b byKey) Swap(i, j int)      { b.exchange(b.from+i, b.from+j) }
