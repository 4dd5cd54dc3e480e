package attack

import (
	"context"
	"math/rand/v2"
	"testing"
)

// TestColumnOfAnAudienceOnly: readers who pool a finest release without a column and a coarser one with it guess the column
// better than with the coarser one alone, and no better than with one finest release of all columns. Of a single release, nobody is certain.
func TestColumnOfAnAudienceOnly(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1e-9, 0.01} {
		s := Default().Quick()
		s.Records, s.Steps, s.Rates, s.K, s.Alpha, s.Targets = 300, 20, []float64{rate}, []int{2, 9, 20}, 0, 300
		w := newWorld(s, rate)
		runs, err := s.runColumn(context.Background(), w, w.targets(s.Seed, s.Targets), rate)
		if err != nil {
			t.Fatal(err)
		}
		figures := map[string]Success{}
		for _, r := range runs {
			figures[r.Readers] = r.Guesses[1]
			if r.Readers == columnPooled && (r.Fewer > 0 || r.Candidates == 0) {
				t.Errorf("rate %g: %.2f of targets have too few candidates, of %.2f", rate, r.Fewer, r.Candidates)
			}
		}
		bound, alone, pooled := figures[columnOfFinest], figures[columnAlone], figures[columnPooled]
		if alone.Posterior >= pooled.Posterior {
			t.Errorf("rate %g: who pools believes no better, %.4f, than the audience does alone, %.4f", rate, pooled.Posterior, alone.Posterior)
		}
		for name, got := range map[string]Success{"all columns": bound, "alone": alone, "pooled": pooled} {
			if got.Right > bound.Right+tolerance || got.Posterior > bound.Posterior || got.Certain > bound.Certain+tolerance {
				t.Errorf("rate %g: %s, %+v; the bound is %+v", rate, name, got, bound)
			}
			if rate < 1e-6 && (got.Certain > 0 || got.Targets != s.Records) {
				t.Errorf("%s, of one release, %+v", name, got)
			}
		}
	}
}

// TestJoinedCounts: what follows of a class's values by joining is what all ways to distribute a union's rows have in common.
func TestJoinedCounts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	followed := 0
	for range 3000 {
		type pair struct{ diagnosis, value int }
		rows := make([]pair, 2+random.IntN(6))
		var union, class [diagnoses][diagnoses]int
		size := 1 + random.IntN(len(rows)-1)
		var own [diagnoses]int // diagnoses of the class
		for i := range rows {
			rows[i] = pair{random.IntN(3), random.IntN(3)}
			union[rows[i].diagnosis][rows[i].value]++
			if i < size {
				class[rows[i].diagnosis][rows[i].value]++
				own[rows[i].diagnosis]++
			}
		}
		possible := map[[diagnoses]int]bool{}
		for chosen := range 1 << len(rows) {
			var has, counts [diagnoses]int
			for i, r := range rows {
				if chosen>>i&1 == 1 {
					has[r.diagnosis]++
					counts[r.value]++
				}
			}
			if has == own {
				possible[counts] = true
			}
		}
		counts, follow := joinedCounts(class, union)
		if follow {
			followed++
		}
		if follow && (len(possible) != 1 || !possible[counts]) {
			t.Fatalf("of %v, the first %d: %v follows, of %v", rows, size, counts, possible)
		}
		if !follow && len(possible) == 1 {
			t.Fatalf("of %v, the first %d: %v would follow", rows, size, possible)
		}
	}
	if followed == 0 {
		t.Error("nothing ever follows")
	}
}
