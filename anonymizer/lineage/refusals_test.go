package lineage_test

import (
	"math"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestRefused compares the estimate with the binomial distribution: a third of all rows have value 0.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		constraint privacy.Constraint
		batch      int
		most       int // of value 0 in a batch that satisfies it
	}{
		{privacy.AlphaBound{Alpha: 0.35, Values: []uint32{0}}, 100, 35},
		{privacy.AlphaBound{Alpha: 0.35, Values: []uint32{0}}, 1000, 350},
		{privacy.AlphaBound{Alpha: 0.5, Values: []uint32{0}}, 100, 50},
		{privacy.DistinctDiversity{L: 2}, 20, 20},
		{privacy.KAnonymity{K: 5}, 20, 20},
	} {
		l := bare(t, lineage.Options{Crowd: 2}, privacy.KAnonymity{K: 5}, test.constraint)
		for id := range 3000 {
			must(t, l.Insert(ill(incremental.RecordID(1+id), uint32(id%3)), began))
		}
		if got := l.Refused(test.batch); got != 0 {
			t.Errorf("%v: %v before anything is published", test.constraint, got)
		}
		if _, err := l.Begin(t.Context(), began); err != nil {
			t.Fatal(err)
		}
		want := above(test.batch, test.most)
		if got := l.Refused(test.batch); math.Abs(got-want) > 0.08 {
			t.Errorf("%v, batches of %d: %v, but %v by the binomial distribution", test.constraint, test.batch, got, want)
		}
	}
}

// TestRefusedOfSubjects: drawn rows are not drawn persons, so that nothing is estimated of these.
func TestRefusedOfSubjects(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{Crowd: 2, Subjects: true}, privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.35})
	for id := range 300 {
		r := ill(incremental.RecordID(1+id), uint32(id%3))
		r.Subject = uint32(id)
		must(t, l.Insert(r, began))
	}
	if _, err := l.Begin(t.Context(), began); err != nil {
		t.Fatal(err)
	}
	if got := l.Refused(20); got != 0 || l.Freshness().Rows != 300 {
		t.Errorf("%v of batches, %+v", got, l.Freshness())
	}
}

// above is the chance of more than most of n with probability 1/3.
func above(n, most int) (sum float64) {
	for x := most + 1; x <= n; x++ {
		choose, _ := math.Lgamma(float64(n + 1))
		some, _ := math.Lgamma(float64(x + 1))
		rest, _ := math.Lgamma(float64(n - x + 1))
		sum += math.Exp(choose - some - rest + float64(x)*math.Log(1./3) + float64(n-x)*math.Log(2./3))
	}
	return sum
}
