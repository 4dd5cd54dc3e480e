package privacy_test

import (
	"math"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// fractions of counts come ever nearer to a number between 0 and 1, from both sides in turn.
func fractions(x float64) (nearer [][2]int) {
	n, d, beforeN, beforeD := 0, 1, 1, 0
	for rest := x; rest > 1e-9 && d < 1<<24; {
		whole := math.Floor(1 / rest)
		rest = 1/rest - whole
		n, beforeN = int(whole)*n+beforeN, n
		d, beforeD = int(whole)*d+beforeD, d
		nearer = append(nearer, [2]int{n, d})
	}
	return nearer
}

// share is the summary of so many records, a part of which has one value and the rest another.
func share(part, of int) privacy.Summary {
	s := privacy.NewSummary(1)
	s.Records, s.Sensitive[0][1], s.Sensitive[0][2] = of, part, of-part
	return s
}

// TestNearTheBound: a share is refused from 1e-12 before an irrational bound on, and is taken as
// long as it is further away.
func TestNearTheBound(t *testing.T) {
	t.Parallel()
	taken, refused, within := 0, 0, 0
	for tenths := 1; tenths < 10; tenths++ {
		p := float64(tenths) / 10
		whole := privacy.NewPopulation(share(tenths, 10))
		try := func(c privacy.Constraint, bound float64, distance func(q float64) float64) {
			for _, q := range fractions(bound) {
				before := distance(float64(q[0]) / float64(q[1]))
				got := c.Satisfied(share(q[0], q[1]), whole)
				switch {
				case before > 2e-12 && got:
					taken++
				case before < 0 && !got:
					refused++
				case before >= 0 && before < 0.5e-12 && !got:
					within++
				case before >= 0.5e-12 && before <= 2e-12:
				default:
					t.Errorf("%v: %d of %d, which is %v from the bound, in a table with %v: %v", c, q[0], q[1], before, p, got)
				}
			}
		}
		gain := func(q, p float64) float64 { return -math.Log(p) - (q-p)/p }
		if bound := p * (1 - math.Log(p)); bound < 1 {
			try(privacy.BetaLikeness{Beta: 9, Enhanced: true}, bound, func(q float64) float64 { return min(gain(q, p), gain(1-q, 1-p)) })
		}
		ratio := func(q, p float64) float64 { return math.Abs(math.Log(q / p)) }
		for _, delta := range []float64{0.05, 0.1, 0.2, 0.3} {
			for _, bound := range []float64{p * math.Exp(delta), p * math.Exp(-delta)} {
				if bound < 1 {
					try(privacy.DeltaDisclosurePrivacy{Delta: delta}, bound, func(q float64) float64 { return delta - max(ratio(q, p), ratio(1-q, 1-p)) })
				}
			}
		}
	}
	if taken < 50 || refused < 50 || within < 20 {
		t.Errorf("%d shares taken, %d refused, %d of these just before the bound: nothing is tested", taken, refused, within)
	}
}
