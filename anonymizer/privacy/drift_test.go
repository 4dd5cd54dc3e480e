package privacy_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestDriftBoundsSlack moves random tables and looks at classes that stay: none
// may lose more slack than the table has drifted.
func TestDriftBoundsSlack(t *testing.T) {
	t.Parallel()
	values := privacy.NewDictionary()
	for code := range 6 {
		values.Code(strconv.Itoa(code * code))
	}
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []privacy.Drifting{
		privacy.TCloseness{T: 0.3},
		privacy.TCloseness{T: 0.3, Distance: privacy.OrderedDistance, Scale: privacy.NewScale(values, h)},
		privacy.BetaLikeness{Beta: 1},
		privacy.BetaLikeness{Beta: 3, Enhanced: true},
		privacy.DeltaDisclosurePrivacy{Delta: 1.2},
	} {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 3))
			held, lost := 0, 0
			for range 20_000 {
				class := privacy.NewSummary(1)
				from, to := privacy.NewSummary(1), privacy.NewSummary(1)
				for code := range uint32(6) {
					in := random.IntN(5)
					put(&class, code, in)
					before := in + random.IntN(40)
					put(&from, code, before)
					put(&to, code, max(in, before+random.IntN(7)-3))
				}
				if class.Records == 0 {
					continue
				}
				first, second := privacy.NewPopulation(from), privacy.NewPopulation(to)
				slack, drift := c.Slack(class, first), c.Drift(first, second)
				if satisfied := c.Satisfied(class, first); satisfied != (slack > 0) && math.Abs(slack) > 1e-8 {
					t.Fatalf("satisfied: %v, slack %v", satisfied, slack)
				}
				after := c.Satisfied(class, second)
				if slack > drift {
					if held++; !after {
						t.Fatalf("slack %v, drift %v, and the constraint is violated", slack, drift)
					}
				} else if slack > 0 && !after {
					lost++
				}
				if now := c.Slack(class, second); !math.IsInf(drift, 1) && slack > 0 && now < slack-drift-1e-7 {
					t.Fatalf("slack %v became %v by a drift of %v", slack, now, drift)
				}
			}
			if held < 100 || lost == 0 {
				t.Errorf("%d classes held and %d were lost: the test says nothing", held, lost)
			}
		})
	}
}

func put(s *privacy.Summary, code uint32, records int) {
	for range records {
		s.Add([]uint32{code})
	}
}
