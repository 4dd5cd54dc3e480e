package recoding

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// bestVector tries every vector of levels; nil where none satisfies.
func bestVector(d *workload.Data, c privacy.ConstraintSet, allowed int) (best []uint8, loss float64) {
	r := newReference(d)
	loss, least := math.Inf(1), 0
	if r.infeasible(c) {
		return nil, loss
	}
	for {
		done, sum := r.sift(r.everyone(), c), 0
		if n := d.Table().Len(); n-len(done) <= allowed {
			lost := float64(n - len(done))
			for a, l := range r.ladders {
				sum += int(r.levels[a])
				for _, i := range done {
					lost += l.Share(d.Cells[a][i], int(r.levels[a])) / float64(len(r.ladders))
				}
			}
			lost /= float64(n)
			if lost < loss-1e-9 || lost < loss+1e-9 && sum < least {
				best, loss, least = slices.Clone(r.levels), lost, sum
			}
		}
		if !r.next() {
			return best, loss
		}
	}
}

// next goes to the next vector in lexicographic order.
func (r *reference) next() bool {
	for a := len(r.levels) - 1; a >= 0; a-- {
		if int(r.levels[a]) < r.ladders[a].Height() {
			r.levels[a]++
			return true
		}
		r.levels[a] = 0
	}
	return false
}

// smallData has lattices of a few hundred vectors.
func smallData(seed uint64) *workload.Data {
	d := testData(seed, 8+int(seed*5%30))
	keep := []int{1, 2, 3} // taxonomy, date, prefix
	if seed%3 == 0 {
		keep = []int{0, 1, 3}
	}
	small := &workload.Data{Sensitive: d.Sensitive, Subjects: d.Subjects}
	for _, a := range keep {
		small.Specs, small.Attributes = append(small.Specs, d.Specs[a]), append(small.Attributes, d.Attributes[a])
		small.Raw, small.Cells = append(small.Raw, d.Raw[a]), append(small.Cells, d.Cells[a])
	}
	return small
}

var smallSets = []privacy.ConstraintSet{
	{privacy.KAnonymity{K: 2}},
	{privacy.KAnonymity{K: 3, Over: []int{0, 1}}, privacy.KAnonymity{K: 2, Over: []int{1, 2}}},
	{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2}},
	{privacy.KAnonymity{K: 2}, privacy.AlphaBound{Alpha: 0.7}},
	{privacy.KAnonymity{K: 3, Over: []int{2}}, privacy.KAnonymity{K: 2, Over: []int{0, 1}}, privacy.AlphaBound{Alpha: 0.75}},
}

// TestLatticeFindsTheBest among all vectors, with and without suppression, with
// subjects and without.
func TestLatticeFindsTheBest(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(16) {
		d := smallData(seed)
		for number, c := range smallSets {
			o := anonymizer.Options{Suppression: []float64{0, 0, 0.1, 0.3}[(seed+uint64(number))%4]}
			want, _ := bestVector(d, c, allowance(d.Table(), o))
			r := anonymize(t, Lattice{}, d.Table(), c, o)
			if want == nil {
				if len(r.Classes) > 0 {
					t.Errorf("seed %d, set %d: %v, nothing satisfies", seed, number, r.Levels[0])
				}
				continue
			}
			for _, share := range []float64{0, 100} {
				run, err := begin(context.Background(), d.Table(), c, o)
				if err != nil {
					t.Fatal(err)
				}
				s := &search{run: run, allowed: allowance(d.Table(), o), most: maxVectors, share: share}
				if got, err := s.best(context.Background()); err != nil || !slices.Equal(got, want) {
					t.Errorf("seed %d, set %d, share %v: %v and %v, %v expected", seed, number, share, got, err, want)
				}
			}
			if found++; len(r.Classes) == 0 || !slices.Equal(r.Levels[0], want) {
				t.Errorf("seed %d, set %d, suppression %v: %v, %v expected", seed, number, o.Suppression, r.Levels, want)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d tables have a release", found)
	}
}

// TestConfinedLattice: where the lattice is too large, the release is sound and
// loses no more than Datafly's.
func TestConfinedLattice(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for seed := range uint64(24) {
		d := smallData(seed)
		table := d.Table()
		for number, c := range smallSets {
			o := anonymizer.Options{Suppression: []float64{0, 0.2}[seed%2]}
			r, err := begin(ctx, table, c, o)
			if err != nil {
				t.Fatal(err)
			}
			s := &search{run: r, allowed: allowance(table, o), most: 1 + int(seed), share: 100}
			levels, err := s.best(ctx)
			if err != nil {
				t.Fatal(err)
			}
			datafly := anonymize(t, Datafly{}, table, c, o)
			if levels == nil {
				if len(datafly.Classes) > 0 {
					t.Errorf("seed %d, set %d: nothing found, Datafly found %v", seed, number, datafly.Levels[0])
				}
				continue
			}
			loss, ok, err := s.withheldLoss(ctx, &frequencies{search: s}, levels)
			if err != nil || !ok {
				t.Errorf("seed %d, set %d: %v does not satisfy, %v", seed, number, levels, err)
			}
			if size := s.box([]int{0, 1, 2}).size; size > s.most {
				t.Errorf("seed %d, set %d: %d vectors", seed, number, size)
			}
			if most := lossOf(d, datafly); loss > most+1e-9 {
				t.Errorf("seed %d, set %d: loss %v, Datafly %v", seed, number, loss, most)
			}
		}
	}
}

// TestLatticeMonotone: the least loss does not fall when K rises.
func TestLatticeMonotone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		d := smallData(seed)
		d.Subjects = nil
		for _, suppression := range []float64{0, 0.1} {
			last := 0.0
			for k := 1; k <= 8; k++ {
				c := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
				o := anonymizer.Options{Suppression: suppression}
				loss := lossOf(d, anonymize(t, Lattice{}, d.Table(), c, o))
				if loss < last-1e-9 {
					t.Errorf("seed %d: loss %v at k=%d, %v before", seed, loss, k, last)
				}
				last = loss
			}
		}
	}
}

func lossOf(d *workload.Data, r *anonymizer.Release) float64 {
	ladders := newReference(d).ladders
	lost := float64(len(r.Withheld))
	for e, class := range r.Classes {
		for a, l := range ladders {
			for _, i := range class {
				lost += l.Share(d.Cells[a][i], int(r.Levels[e][a])) / float64(len(ladders))
			}
		}
	}
	return lost / float64(d.Table().Len())
}

func TestCombinations(t *testing.T) {
	t.Parallel()
	var got [][]int
	combinations(4, 2, func(c []int) bool {
		got = append(got, slices.Clone(c))
		return true
	})
	if want := [][]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v expected", got, want)
	}
}

// TestBox: vectors come in lexicographic order, also of the greatest height.
func TestBox(t *testing.T) {
	t.Parallel()
	s := &search{low: []uint8{0, 3, 0}, high: []uint8{2, 3, 255}}
	b := s.box([]int{0, 1, 2})
	if b.size != 3*1*256 {
		t.Fatalf("%d vectors", b.size)
	}
	visited := 0
	b.each(func(index int, steps []uint8) {
		if index != visited || int(steps[0]) != index/256 || steps[1] != 0 || int(steps[2]) != index%256 {
			t.Fatalf("vector %d is %v", index, steps)
		}
		for place, step := range steps {
			if b.step(index, place) != int(step) {
				t.Fatalf("vector %d has step %d at place %d, %d expected", index, b.step(index, place), place, step)
			}
		}
		visited++
	})
	if visited != b.size {
		t.Errorf("%d of %d vectors visited", visited, b.size)
	}
}
