package incremental_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestRandomHistories maintains random combinations of constraints, over two sensitive
// attributes and quasi-identifiers of every kind, with every method that accepts them:
// single changes and bulk loads, restarts, renewals, withholding and truncation.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	sets := 24
	if n, err := strconv.Atoi(os.Getenv("KPROXY_SEEDS")); err == nil {
		sets *= n
	}
	for seed := range sets {
		random := rand.New(rand.NewPCG(uint64(seed), 9))
		attributes, first, persons := 1+random.IntN(4), random.IntN(12), []int{0, 20}[seed%2]
		set := randomSet(random, attributes)
		for _, name := range methods.Names() {
			t.Run(fmt.Sprintf("set=%d/%s", seed, name), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(seed), 10))
				shape := workload.Shape{Attributes: attributes, Distinct: []int{2, 9, 300}[random.IntN(3)], Nulls: 0.05, Sensitive: historySensitive}
				source := anonymizertest.NewSource(random, shape, first, 2, persons)
				method, _ := methods.Named(name)
				if methods.Refusal(method, source.Data.Attributes, set) != nil {
					return // such a table is refused before it is published
				}
				newHistory(t, random, source, set, method).run(24)
			})
		}
	}
}

// run drives a history through growth, change and decline.
func (h *history) run(rounds int) {
	h.t.Helper()
	for i := range rounds {
		growth := []int{30, 12, 2, 0}[i*8/rounds%4]
		for range []int{0, 1, 3, 8, 40}[h.random.IntN(5)] {
			h.step(growth)
		}
		switch h.random.IntN(12) {
		case 0:
			h.truncate()
		case 1:
			for range 30 {
				h.step(100)
			}
		case 2:
			h.settle()
			h.restart()
		case 3:
			h.withhold()
		case 4, 5, 6:
			h.settle()
			h.renew()
		}
		h.settle()
	}
	h.idle()
}

// historySensitive is how many values a sensitive attribute has; small ones are frequent.
const historySensitive = 6

// randomSet draws k over all attributes or several <QI, K>, which can be apart, tied or
// contained in each other, and up to two constraints over two sensitive attributes.
func randomSet(random *rand.Rand, attributes int) privacy.ConstraintSet {
	k := func() int { return 1 + random.IntN(5) }
	set := privacy.ConstraintSet{privacy.KAnonymity{K: k()}}
	if random.IntN(2) == 0 {
		set = nil
		for a := range attributes {
			over := []int{a}
			if other := random.IntN(attributes); other != a && random.IntN(2) == 0 {
				over = append(over, other)
				slices.Sort(over)
			}
			set = append(set, privacy.KAnonymity{K: k(), Over: over})
		}
	}
	for range random.IntN(3) {
		set = append(set, randomConstraint(random, random.IntN(2)))
	}
	return set
}

func randomConstraint(random *rand.Rand, attribute int) privacy.Constraint {
	switch random.IntN(10) {
	case 0:
		return privacy.DistinctDiversity{L: 2 + random.IntN(2), Attribute: attribute, Name: "s"}
	case 1:
		return privacy.EntropyDiversity{L: 1.5 + random.Float64(), Attribute: attribute, Name: "s"}
	case 2:
		return privacy.RecursiveDiversity{C: 1 + 2*random.Float64(), L: 2, Attribute: attribute, Name: "s"}
	case 3:
		return privacy.AlphaBound{Alpha: 0.4 + random.Float64()/2, Attribute: attribute, Name: "s"}
	case 4:
		return privacy.AlphaBound{Alpha: 0.3 + random.Float64()/2, Attribute: attribute, Name: "s", Values: []uint32{uint32(random.IntN(4))}}
	case 5:
		return privacy.TCloseness{T: 0.2 + random.Float64()/2, Attribute: attribute, Name: "s"}
	case 6:
		return privacy.TCloseness{T: 0.1 + random.Float64()/3, Attribute: attribute, Name: "s", Distance: privacy.OrderedDistance, Scale: numbers()}
	case 7:
		return privacy.TCloseness{T: 0.1 + random.Float64()/3, Attribute: attribute, Name: "s", Distance: privacy.HierarchicalDistance, Scale: kinds()}
	case 8:
		return privacy.BetaLikeness{Beta: 1 + 2*random.Float64(), Enhanced: random.IntN(2) == 0, Attribute: attribute, Name: "s"}
	default:
		return privacy.DeltaDisclosurePrivacy{Delta: 1 + random.Float64(), Attribute: attribute, Name: "s"}
	}
}

// kinds is a scale of codes that stand in a taxonomy.
func kinds() *privacy.Scale {
	values := privacy.NewDictionary()
	for code := range historySensitive {
		values.Code("v" + strconv.Itoa(code))
	}
	return privacy.NewScale(values, workload.Attribute("kinds", hierarchy.Spec{
		Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
			{Label: "a", Children: []hierarchy.Node{{Label: "v0"}, {Label: "v1"}}},
			{Label: "b", Children: []hierarchy.Node{{Label: "v2"}, {Label: "v3"}, {Label: "v4"}}},
		},
	}).Hierarchy)
}
