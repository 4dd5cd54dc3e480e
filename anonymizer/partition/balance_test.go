package partition

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// randomCut is a class of one attribute with some sensitive values, and a cut
// of it. The numbers of its records ascend in the attribute.
func randomCut(t *testing.T, random *rand.Rand, c privacy.ConstraintSet) (*balance, members[int32], cut, []uint8) {
	t.Helper()
	n, values := 2+random.IntN(200), 1+random.IntN(20)
	sensitive := make([]uint32, n)
	for i := range sensitive {
		sensitive[i] = uint32(min(random.IntN(values), random.IntN(values)))
	}
	table, err := anonymizer.NewTable(nil, nil, [][]uint32{sensitive})
	if err != nil {
		t.Fatal(err)
	}
	s := newStrata(context.Background(), table, c)
	m := members[int32]{strata: s.of}
	for i := range n {
		m.numbers = append(m.numbers, int32(i))
	}
	m.records, m.along = m.numbers, func(int) []int32 { return m.numbers }
	b := newBalance(table, c, s)
	hold(b, m)
	chosen, sides := cut{size: 1 + random.IntN(n-1)}, make([]uint8, n)
	for i := chosen.size; i < n; i++ {
		sides[i] = right
	}
	return b, m, chosen, sides
}

// TestGoals: at every step they add up to the size and lie between the cut and
// even shares, and records are exchanged until they are reached.
func TestGoals(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 12))
	for range 300 {
		b, m, c, sides := randomCut(t, random, privacy.ConstraintSet{privacy.DistinctDiversity{L: 1}})
		n := len(m.numbers)
		clear(b.left)
		for i, side := range sides {
			b.left[m.strata[i]] += int32(1 - side)
		}
		for share := range evenShares + 1 {
			b.aim(n, c.size, share)
			sum := 0
			for _, v := range b.present {
				even := float64(b.total[v]) * float64(c.size) / float64(n)
				goal, least, most := float64(b.goal[v]), min(even, float64(b.left[v])), max(even, float64(b.left[v]))
				if sum += int(b.goal[v]); goal <= least-1 || goal >= most+1 || b.goal[v] > b.total[v] || share == 0 && b.goal[v] != b.left[v] {
					t.Fatalf("step %d: goal %v, %v to %v expected", share, goal, least, most)
				}
			}
			if sum != c.size {
				t.Fatalf("step %d: goals add up to %d of %d", share, sum, c.size)
			}
		}
		exchange(b, m, c, sides)
		for i, side := range sides {
			b.goal[m.strata[i]] -= int32(1 - side)
		}
		for _, v := range b.present {
			if b.goal[v] != 0 {
				t.Fatalf("stratum %d is %d away from its goal", v, b.goal[v])
			}
		}
	}
}

// TestAchieve: what is said to satisfy does, by a summary made anew; a cut that
// satisfies stays as it is, and sizes that even shares suit are achieved.
func TestAchieve(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 12))
	exchanged := 0
	for round := range 600 {
		c := privacy.ConstraintSet{privacy.AlphaBound{Alpha: 0.1 + random.Float64()/2}}
		if round%2 == 0 {
			c = privacy.ConstraintSet{privacy.TCloseness{T: random.Float64() / 4}}
		}
		b, m, chosen, sides := randomCut(t, random, c)
		before := append([]uint8(nil), sides...)
		satisfied := reachedBySubjects(b, m, sides)
		possible := b.possible(len(m.numbers), chosen.size)
		achieved, changed := achieve(b, m, chosen, sides, round%3 == 0)
		lefts := 0
		for _, side := range sides {
			lefts += int(1 - side)
		}
		switch {
		case achieved && (!reachedBySubjects(b, m, sides) || lefts != chosen.size):
			t.Fatalf("%v: %d of %d records on the left, or a part violates", c, lefts, chosen.size)
		case satisfied && round%3 != 0 && (!achieved || changed):
			t.Fatalf("%v: a cut that satisfies is refused or changed", c)
		case !changed && string(before) != string(sides):
			t.Fatalf("%v: changed without telling", c)
		case possible && !achieved && len(b.present) > 1:
			t.Fatalf("%v: even shares satisfy and were not achieved", c)
		}
		if changed {
			exchanged++
		}
	}
	if exchanged < 50 {
		t.Errorf("%d exchanges prove little", exchanged)
	}
}

// TestStrata: records with the same values of the sensitive attributes that the
// constraints speak of are one stratum.
func TestStrata(t *testing.T) {
	t.Parallel()
	table, err := anonymizer.NewTable(nil, nil, [][]uint32{{1, 1, 2, 2, 1}, {7, 8, 7, 8, 7}, {1, 2, 3, 4, 5}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		c      privacy.ConstraintSet
		strata int
	}{
		{privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, 1},
		{privacy.ConstraintSet{privacy.EntropyDiversity{Attribute: 1}, privacy.KAnonymity{K: 2}}, 2},
		{privacy.ConstraintSet{privacy.AlphaBound{}, privacy.BetaLikeness{Attribute: 1}}, 4},
		{privacy.ConstraintSet{struct{ privacy.Constraint }{privacy.AlphaBound{}}}, 5},
	} {
		s := newStrata(context.Background(), table, test.c)
		if len(s.codes) != test.strata {
			t.Errorf("%v: %d strata, %d expected", test.c, len(s.codes), test.strata)
		}
		for r, stratum := range s.of {
			for j, a := range s.columns {
				if s.codes[stratum][j] != table.Sensitive(a)[r] {
					t.Errorf("%v: record %d is in a stratum of %v", test.c, r, s.codes[stratum])
				}
			}
		}
	}
}
