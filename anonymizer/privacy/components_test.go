package privacy_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func over(k int, attributes ...int) privacy.KAnonymity {
	return privacy.KAnonymity{K: k, Over: attributes}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	l := privacy.DistinctDiversity{L: 2, Name: "ward"}
	for _, row := range []struct {
		name       string
		attributes int
		set        privacy.ConstraintSet
		components []privacy.Component
		uncovered  []int
	}{
		{"no constraint", 2, nil, []privacy.Component{{Attributes: []int{0, 1}}}, nil},
		{"no attributes", 0, privacy.ConstraintSet{over(3)}, []privacy.Component{{Attributes: []int{}, Constraints: privacy.ConstraintSet{over(3)}}}, nil},
		{"no k", 2, privacy.ConstraintSet{l}, []privacy.Component{{Attributes: []int{0, 1}, Constraints: privacy.ConstraintSet{l}}}, nil},
		{"all attributes", 2, privacy.ConstraintSet{over(3), l}, []privacy.Component{{Attributes: []int{0, 1}, Constraints: privacy.ConstraintSet{over(3), l}}}, nil},
		{
			"two components, a diversity in each", 4,
			privacy.ConstraintSet{over(3, 3, 1), l, over(2, 0, 2)},
			[]privacy.Component{
				{Attributes: []int{0, 2}, Constraints: privacy.ConstraintSet{over(2), l}},
				{Attributes: []int{1, 3}, Constraints: privacy.ConstraintSet{over(3), l}},
			},
			nil,
		},
		{
			"tied by an attribute", 4,
			privacy.ConstraintSet{over(3, 0, 1), over(2, 1, 3)},
			[]privacy.Component{{Attributes: []int{0, 1, 3}, Constraints: privacy.ConstraintSet{over(3, 0, 1), over(2, 1, 2)}}},
			[]int{2},
		},
		{
			"contained", 3,
			privacy.ConstraintSet{over(3, 1), over(3, 0, 1, 2), over(4, 0), over(2)},
			[]privacy.Component{{Attributes: []int{0, 1, 2}, Constraints: privacy.ConstraintSet{over(3), over(4, 0)}}},
			nil,
		},
		{
			"equal ones", 1,
			privacy.ConstraintSet{over(3, 0), over(3), over(3, 0, 0)},
			[]privacy.Component{{Attributes: []int{0}, Constraints: privacy.ConstraintSet{over(3)}}},
			nil,
		},
		{
			"k below 1 counts as 1", 1,
			privacy.ConstraintSet{over(-2, 0), over(1, 0)},
			[]privacy.Component{{Attributes: []int{0}, Constraints: privacy.ConstraintSet{over(-2)}}},
			nil,
		},
	} {
		components, uncovered := row.set.Components(row.attributes)
		if !reflect.DeepEqual(components, row.components) || !slices.Equal(uncovered, row.uncovered) {
			t.Errorf("%s: %v and uncovered %v, expected %v and %v", row.name, components, uncovered, row.components, row.uncovered)
		}
	}
}

// TestComponentsOfPaper: the experiment of Yang et al. 2006 has, for 2 to 8
// constraints, so many components.
func TestComponentsOfPaper(t *testing.T) {
	t.Parallel()
	for i, want := range []int{1, 1, 1, 2, 2, 1, 1} {
		components, _ := workload.CensusConstraints(i + 2).Components(9)
		if len(components) != want {
			t.Errorf("%d constraints: %d components, %d expected", i+2, len(components), want)
		}
	}
}

// TestComponentsByGraph compares random sets with a search of the graph in which
// constraints that share an attribute are neighbors.
func TestComponentsByGraph(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		attributes := 1 + random.IntN(8)
		var set privacy.ConstraintSet
		for range 1 + random.IntN(6) {
			k := over(1 + random.IntN(4))
			for range 1 + random.IntN(3) {
				k.Over = append(k.Over, random.IntN(attributes))
			}
			set = append(set, k)
		}
		components, uncovered := set.Components(attributes)
		reached := reachable(set, attributes)
		covered := map[int]int{} // attribute: its component
		for number, component := range components {
			for _, a := range component.Attributes {
				if _, twice := covered[a]; twice {
					t.Fatalf("%v: attribute %d in two components", set, a)
				}
				covered[a] = number
			}
			if !slices.IsSorted(component.Attributes) {
				t.Fatalf("%v: attributes %v", set, component.Attributes)
			}
			checkImplied(t, set, component)
		}
		for a := range attributes {
			number, known := covered[a]
			if known != reached[a][a] || known == slices.Contains(uncovered, a) {
				t.Fatalf("%v: attribute %d covered is %v", set, a, known)
			}
			for b := range attributes {
				if other, also := covered[b]; known && also && (number == other) != reached[a][b] {
					t.Fatalf("%v: attributes %d and %d in components %d and %d", set, a, b, number, other)
				}
			}
		}
		slices.Reverse(set)
		again, _ := set.Components(attributes)
		if !slices.EqualFunc(components, again, func(a, b privacy.Component) bool { return slices.Equal(a.Attributes, b.Attributes) }) {
			t.Fatalf("%v: the division depends on the order", set)
		}
	}
}

// reachable is the transitive closure of "stand in one constraint".
func reachable(set privacy.ConstraintSet, attributes int) [][]bool {
	reached := make([][]bool, attributes)
	for a := range reached {
		reached[a] = make([]bool, attributes)
	}
	for _, c := range set {
		for _, a := range c.(privacy.KAnonymity).Over {
			for _, b := range c.(privacy.KAnonymity).Over {
				reached[a][b] = true
			}
		}
	}
	for via := range attributes {
		for a := range attributes {
			for b := range attributes {
				reached[a][b] = reached[a][b] || reached[a][via] && reached[via][b]
			}
		}
	}
	return reached
}

// checkImplied: every constraint over a component's attributes is contained in
// one that was kept, each kept one stands in the set, and none is contained in
// another.
func checkImplied(t *testing.T, set privacy.ConstraintSet, component privacy.Component) {
	t.Helper()
	var kept []privacy.KAnonymity
	for _, c := range component.Constraints {
		k := privacy.KAnonymity{K: c.(privacy.KAnonymity).K}
		if c.(privacy.KAnonymity).Over == nil {
			k.Over = component.Attributes
		}
		for _, place := range c.(privacy.KAnonymity).Over {
			k.Over = append(k.Over, component.Attributes[place])
		}
		kept = append(kept, k)
	}
	contained := func(a, b privacy.KAnonymity) bool {
		for _, attribute := range a.Over {
			if !slices.Contains(b.Over, attribute) {
				return false
			}
		}
		return a.K <= b.K
	}
	for _, c := range set {
		k := c.(privacy.KAnonymity)
		if slices.Contains(component.Attributes, k.Over[0]) && !slices.ContainsFunc(kept, func(other privacy.KAnonymity) bool { return contained(k, other) }) {
			t.Fatalf("%v over %v is lost in %v", k, k.Over, component)
		}
	}
	for i, k := range kept {
		if !slices.ContainsFunc(set, func(c privacy.Constraint) bool {
			other := c.(privacy.KAnonymity)
			return contained(k, other) && contained(other, k)
		}) {
			t.Fatalf("%v over %v is not in %v", k, k.Over, set)
		}
		for j, other := range kept {
			if i != j && contained(k, other) {
				t.Fatalf("%v over %v stays beside %v over %v", k, k.Over, other, other.Over)
			}
		}
	}
}
