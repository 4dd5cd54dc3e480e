package metric_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestDivergenceByHand: weights 3, 8, 14, 27, 33 and NULL are six values, each
// with one record; sparrow, eagle, bat, horse and cow are five.
func TestDivergenceByHand(t *testing.T) {
	t.Parallel()
	table := zoo(t)
	singles := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0}, {1}, {2}, {3}, {4}, {5}}}
	pairs := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}, {4, 5}}}
	part := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}}, Withheld: []int32{4, 5}}
	levels := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3, 4, 5}}, Levels: [][]uint8{{1, 2}, {3, 3}}}
	sixth := 1.0 / 6
	for _, row := range []struct {
		name    string
		release *anonymizer.Release
		over    []int
		want    float64
	}{
		{"nothing generalized", singles, []int{0, 1}, 0},
		{"no attributes", pairs, nil, 0},
		// {3,8}: 1 each. {14,27}: 1 each. {33, NULL}: hidden, 2/6 on each of six.
		{"weight", pairs, []int{0}, 4*sixth*math.Log(1/(1+1.0/3)) + 2*sixth*math.Log(1/(1.0/3))},
		// birds: 1 each of two; bat and horse: *, 2/5 on each of five; horse, cow: 1 each.
		// The original has 2 horses.
		{"animal", pairs, []int{1}, sixth * (3*math.Log(1/1.4) + math.Log(1/0.4) + 2*math.Log(2/1.4))},
		// The same for weight, as 4 and 5 are spread over everything when withheld.
		{"weight, withheld", part, []int{0}, 4*sixth*math.Log(1/(1+1.0/3)) + 2*sixth*math.Log(1/(1.0/3))},
		// Boxes: 2x2 of 2 records, 2x5 (14 and 27 with any) of 2, 6x2 (any with horse or cow) of 2.
		{"both", pairs, []int{0, 1}, sixth * (2*math.Log(1/0.5) + math.Log(1/0.2) + math.Log(1/(0.2+1.0/6)) + 2*math.Log(6))},
		// Level 1 of weight: 3 and 8; level 2 of animal: three leaves of flying.
		{"levels", levels, []int{1}, sixth * (3*math.Log(1/(2.0/3+0.8)) + 2*math.Log(2/0.8) + math.Log(1/0.8))},
	} {
		if got := metric.Divergence(table, row.release, row.over); math.Abs(got-row.want) > 1e-12 {
			t.Errorf("%s: %v, %v expected", row.name, got, row.want)
		}
	}
}

// TestDivergenceByBruteForce compares with a walk over all classes for each
// record.
func TestDivergenceByBruteForce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		table, r := brutal(t, seed, 10+int(seed), 3)
		all := slices.Concat(r.Classes, []anonymizer.EquivalenceClass{})
		for _, over := range [][]int{{0}, {1}, {2, 0}, {0, 1, 2}} {
			want, n := 0.0, float64(table.Len())
			for i := range table.Len() {
				same, q := 0, 0.0
				for j := range table.Len() {
					if !slices.ContainsFunc(over, func(a int) bool { return table.Cells(a)[i] != table.Cells(a)[j] }) {
						same++
					}
				}
				for _, class := range all {
					if inside, size := fits(table, class, func(a int) hierarchy.Cell { return table.Cells(a)[i] }, over); inside {
						q += float64(len(class)) / float64(size)
					}
				}
				combinations := 1
				for _, a := range over {
					values := map[float64]bool{}
					for _, c := range table.Cells(a) {
						values[c] = true
					}
					combinations *= len(values)
				}
				q += float64(len(r.Withheld)) / float64(combinations)
				want += math.Log(float64(same)/q) / n
			}
			if got := metric.Divergence(table, r, over); !near(got, want) {
				t.Fatalf("seed %d over %v: %v, %v expected", seed, over, got, want)
			}
		}
		pairs := (metric.Divergence(table, r, []int{0, 1}) + metric.Divergence(table, r, []int{1, 2})) / 2
		if got := metric.NeighborDivergence(table, r); !near(got, pairs) {
			t.Fatalf("seed %d: %v over neighbors, %v expected", seed, got, pairs)
		}
	}
}

// TestNeighborDivergenceOfLargeTables is of some records, and near to that of all.
func TestNeighborDivergenceOfLargeTables(t *testing.T) {
	t.Parallel()
	table := workload.AdultLike(1, 230_000)
	r := &anonymizer.Release{Withheld: []int32{}}
	for from := 0; from < table.Len(); from += 50 {
		class := anonymizer.EquivalenceClass{}
		for i := from; i < min(from+50, table.Len()); i++ {
			class = append(class, int32(i))
		}
		r.Classes = append(r.Classes, class)
	}
	exact, pairs := 0.0, len(table.Attributes())-1
	for a := range pairs {
		exact += metric.Divergence(table, r, []int{a, a + 1}) / float64(pairs)
	}
	if got := metric.NeighborDivergence(table, r); math.Abs(got/exact-1) > 0.02 || got == exact {
		t.Errorf("%v, %v of all records", got, exact)
	}
}
