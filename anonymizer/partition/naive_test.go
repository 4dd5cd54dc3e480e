package partition

import (
	"cmp"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive divides classes by the definition: it sorts for every cut and looks at
// all records for what the parts cover.
type naive struct {
	columns []rankedColumn
	k       int
	classes [][]int
}

// wide are those of the attributes on which the class differs, by falling width.
func (v *naive) wide(class, among []int) []int {
	var attributes []int
	for _, a := range among {
		if low, high := v.cover(class, a); low < high {
			attributes = append(attributes, a)
		}
	}
	slices.SortStableFunc(attributes, func(a, b int) int {
		return cmp.Compare(v.width(class, b), v.width(class, a))
	})
	return attributes
}

func (v *naive) cover(class []int, attribute int) (low, high int32) {
	var ranks []int32
	for _, i := range class {
		ranks = append(ranks, v.columns[attribute].ranks[i])
	}
	return slices.Min(ranks), slices.Max(ranks)
}

func (v *naive) width(class []int, attribute int) float64 {
	low, high := v.cover(class, attribute)
	return v.columns[attribute].width(low, high)
}

// sorted is the class in the order of the attributes, then of the records.
func (v *naive) sorted(class []int, attributes ...int) []int {
	return slices.SortedFunc(slices.Values(class), func(i, j int) int {
		for _, a := range attributes {
			if o := cmp.Compare(v.columns[a].ranks[i], v.columns[a].ranks[j]); o != 0 {
				return o
			}
		}
		return cmp.Compare(i, j)
	})
}

func (v *naive) loss(parts [2][]int, attributes []int) float64 {
	sum := 0.0
	for _, a := range attributes {
		sum += float64(len(parts[0]))*v.width(parts[0], a) + float64(len(parts[1]))*v.width(parts[1], a)
	}
	return sum
}

func (v *naive) divide(class, among []int) {
	if len(class) < 2*v.k {
		v.classes = append(v.classes, slices.Sorted(slices.Values(class)))
		return
	}
	attributes := v.wide(class, among)
	lesser, greater := roundedSizes(len(class), v.k)
	sizes := []int{lesser}
	if (greater-lesser)*sidesMatter > len(class) {
		sizes = append(sizes, greater)
	}
	chosen, least := [2][]int{class[:lesser], class[lesser:]}, -1.0
	for _, a := range attributes {
		order := v.sorted(class, append([]int{a}, attributes...)...)
		for _, size := range sizes {
			parts := [2][]int{order[:size], order[size:]}
			if loss := v.loss(parts, attributes); least < 0 || loss < least {
				chosen, least = parts, loss
			}
		}
	}
	v.divide(chosen[0], attributes)
	v.divide(chosen[1], attributes)
}

// randomColumns makes d columns of n records, of few and of many values.
func randomColumns(random *rand.Rand, n, d int) []rankedColumn {
	columns := make([][]float64, d)
	for a := range columns {
		width := 1 + random.IntN([]int{2, 8, 100, 5_000_000}[random.IntN(4)])
		for range n {
			columns[a] = append(columns[a], float64(min(random.IntN(width), random.IntN(width))))
		}
	}
	return columnsOf(columns...)
}

// TestRoundEqualsNaive: for classes that no sample stands for, the cuts are
// exactly those of the definition.
func TestRoundEqualsNaive(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 150 {
		n, d, k := 1+random.IntN([]int{30, 100, presortedSize}[round%3]), 1+random.IntN(12), 1+random.IntN(40)
		p := partitioningOf(randomColumns(random, n, d))
		reference := naive{columns: p.columns, k: k}
		all, attributes := make([]int, n), make([]int, d)
		for i := range all {
			all[i] = i
		}
		for a := range attributes {
			attributes[a] = a
		}
		reference.divide(all, attributes)
		p.round(context.Background(), k)
		var classes [][]int
		for _, s := range p.segments() {
			var class []int
			for _, r := range p.records[s.from:s.to] {
				class = append(class, int(r))
			}
			classes = append(classes, slices.Sorted(slices.Values(class)))
		}
		if !slices.EqualFunc(classes, reference.classes, slices.Equal) {
			t.Fatalf("n=%d d=%d k=%d: classes %v, %v expected", n, d, k, classes, reference.classes)
		}
	}
}

// TestCutEqualsNaive: a cut of a large class moves exactly the first records in
// the order of the attributes, and columns and records go together.
func TestCutEqualsNaive(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		n, d := 2+random.IntN(2000), 1+random.IntN(5)
		p := partitioningOf(randomColumns(random, n, d))
		before := slices.Clone(p.columns)
		for a := range before {
			before[a].ranks = slices.Clone(before[a].ranks)
		}
		from := random.IntN(n - 1)
		s := segment{from, n}
		chosen, ties := cut{random.IntN(d), 1 + random.IntN(s.len()-1)}, random.Perm(d)
		c := cutter{partitioning: p}
		c.cut(context.Background(), s, chosen, ties)

		reference := naive{columns: before}
		var class []int
		for i := from; i < n; i++ {
			class = append(class, i)
		}
		order := reference.sorted(class, append([]int{chosen.attribute}, ties...)...)
		want := append(slices.Sorted(slices.Values(order[:chosen.size])), slices.Sorted(slices.Values(order[chosen.size:]))...)
		for i, r := range p.records[from:] {
			if int(r) != want[i] {
				t.Fatalf("record %d at place %d, %d expected", r, i, want[i])
			}
			for a := range p.columns {
				if p.columns[a].ranks[from+i] != before[a].ranks[r] {
					t.Fatalf("attribute %d of record %d stayed behind", a, r)
				}
			}
		}
	}
}

// TestSubsetsCover compares what a set covers with its records.
func TestSubsetsCover(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		n := 2 + random.IntN(subsetsSize-1)
		columns := randomColumns(random, n, 4)
		b, f := newPresorted(4), newSubsets(4)
		b.hold(columns, segment{0, n})
		all := segment{0, n}
		attributes := b.wide(nil, all, []ranked{{attribute: 0}, {attribute: 1}, {attribute: 2}, {attribute: 3}})
		extents := f.hold(b, all, attributes, 0)
		class := ^set(0) >> (subsetsSize - n)
		part := random.Uint64() & class
		if part == 0 {
			continue
		}
		reference := naive{columns: columns}
		var records []int
		for left := part; left != 0; left &= left - 1 {
			records = append(records, int(b.lists[0][bits.TrailingZeros64(left)]))
		}
		for j := range extents {
			if got, want := extents[j].covered(part), reference.width(records, attributes[j].attribute); got != want {
				t.Fatalf("covers %v, %v expected", got, want)
			}
		}
	}
}
