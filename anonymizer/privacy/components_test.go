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

func only(c privacy.Constraint, attributes ...int) privacy.Restricted {
	return privacy.Restricted{Constraint: c, Over: attributes}
}

// division is a set over so many attributes, and what it is divided into.
type division struct {
	name       string
	attributes int
	set        privacy.ConstraintSet
	components []privacy.Component
	uncovered  []int
}

func (d division) check(t *testing.T) {
	t.Helper()
	components, uncovered := d.set.Components(d.attributes)
	if !reflect.DeepEqual(components, d.components) || !slices.Equal(uncovered, d.uncovered) {
		t.Errorf("%s: %v and uncovered %v, expected %v and %v", d.name, components, uncovered, d.components, d.uncovered)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	l := privacy.DistinctDiversity{L: 2, Name: "ward"}
	for _, d := range []division{
		{"no constraint", 2, nil, []privacy.Component{{Attributes: []int{0, 1}}}, nil},
		{"no attributes", 0, privacy.ConstraintSet{over(3)}, []privacy.Component{{Attributes: []int{}, Constraints: privacy.ConstraintSet{over(3)}}}, nil},
		{"no k", 2, privacy.ConstraintSet{l}, []privacy.Component{{Attributes: []int{0, 1}, Constraints: privacy.ConstraintSet{l}}}, nil},
		{"all attributes", 2, privacy.ConstraintSet{over(3), l}, []privacy.Component{{Attributes: []int{0, 1}, Constraints: privacy.ConstraintSet{over(3), l}}}, nil},
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
		d.check(t)
	}
}

// TestTies: constraints on sensitive attributes tie those that they are over, and
// go with them.
func TestTies(t *testing.T) {
	t.Parallel()
	l, other := privacy.DistinctDiversity{L: 2, Name: "ward"}, privacy.AlphaBound{Alpha: 0.5, Name: "ward", Values: []uint32{1}}
	for _, d := range []division{
		{
			"a diversity over all ties what sizes do not", 4,
			privacy.ConstraintSet{over(3, 3, 1), l, over(2, 0, 2)},
			[]privacy.Component{{Attributes: []int{0, 1, 2, 3}, Constraints: privacy.ConstraintSet{over(3, 1, 3), over(2, 0, 2), l}}},
			nil,
		},
		{
			"over none is over all", 2,
			privacy.ConstraintSet{over(3, 0), over(2, 1), privacy.Restricted{Constraint: l}},
			[]privacy.Component{{Attributes: []int{0, 1}, Constraints: privacy.ConstraintSet{over(3, 0), over(2, 1), l}}},
			nil,
		},
		{
			"two components, a diversity in each", 4,
			privacy.ConstraintSet{over(3, 3, 1), only(l, 2), over(2, 0, 2), only(other, 1, 3)},
			[]privacy.Component{
				{Attributes: []int{0, 2}, Constraints: privacy.ConstraintSet{over(2), l}},
				{Attributes: []int{1, 3}, Constraints: privacy.ConstraintSet{over(3), other}},
			},
			nil,
		},
		{
			"tied by a diversity", 4,
			privacy.ConstraintSet{only(l, 2, 3), over(3, 3), over(2, 0, 2), over(5, 1)},
			[]privacy.Component{
				{Attributes: []int{0, 2, 3}, Constraints: privacy.ConstraintSet{over(3, 2), over(2, 0, 1), l}},
				{Attributes: []int{1}, Constraints: privacy.ConstraintSet{over(5)}},
			},
			nil,
		},
		{
			"a diversity covers nothing, but ties", 4,
			privacy.ConstraintSet{over(3, 2), over(2, 1), only(l, 2, 3), only(other, 1, 3)},
			[]privacy.Component{{Attributes: []int{1, 2}, Constraints: privacy.ConstraintSet{over(3, 1), over(2, 0), l, other}}},
			[]int{0, 3},
		},
		{"no k, over some", 2, privacy.ConstraintSet{only(l, 1)}, []privacy.Component{{Attributes: []int{0, 1}, Constraints: privacy.ConstraintSet{l}}}, nil},
		{"no attributes, over some", 0, privacy.ConstraintSet{only(l, 1)}, []privacy.Component{{Attributes: []int{}, Constraints: privacy.ConstraintSet{l}}}, nil},
	} {
		d.check(t)
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
	several := 0
	for range 3000 {
		schema := privacy.Schema{Attributes: []string{"a", "b", "c", "d", "e", "f", "g", "h"}[:1+random.IntN(8)], Sensitive: []privacy.Sensitive{{Name: "ward"}}}
		specs := someSpecs(random, schema.Attributes)
		set, err := privacy.NewSet(specs, schema)
		if err != nil {
			t.Fatal(err)
		}
		components, uncovered := set.Components(len(schema.Attributes))
		checkDivision(t, specs, schema.Attributes, components, uncovered)
		for _, component := range components {
			checkImplied(t, set, component)
		}
		same := func(attributes []int, c privacy.Component) bool { return slices.Equal(attributes, c.Attributes) }
		if divided, left := privacy.Divide(specs, schema.Attributes); !slices.Equal(left, uncovered) || !slices.EqualFunc(divided, components, same) {
			t.Fatalf("%v: divided into %v and %v, components %v and %v", specs, divided, left, components, uncovered)
		}
		slices.Reverse(set)
		again, _ := set.Components(len(schema.Attributes))
		if !slices.EqualFunc(components, again, func(a, b privacy.Component) bool { return slices.Equal(a.Attributes, b.Attributes) }) {
			t.Fatalf("%v: the division depends on the order", set)
		}
		if len(components) > 1 && slices.ContainsFunc(specs, func(s privacy.Spec) bool { return s.Model != privacy.K }) {
			several++
		}
	}
	if several < 100 {
		t.Errorf("only %d sets with a diversity have several components", several)
	}
}

// someSpecs are of sizes and diversities, one of which at least is a size; their
// bounds of diversity are all different.
func someSpecs(random *rand.Rand, attributes []string) []privacy.Spec {
	var specs []privacy.Spec
	for i := range 1 + random.IntN(7) {
		spec := privacy.Spec{Model: privacy.K, K: 1 + random.IntN(4)}
		if i > 0 && random.IntN(3) == 0 {
			spec = privacy.Spec{Model: privacy.DistinctL, L: float64(i), Of: "ward"}
		}
		for range 1 + random.IntN(3) {
			if name := attributes[random.IntN(len(attributes))]; !slices.Contains(spec.Over, name) {
				spec.Over = append(spec.Over, name)
			}
		}
		if random.IntN(20) == 0 {
			spec.Over = nil
		}
		specs = append(specs, spec)
	}
	return specs
}

// checkDivision: covered is what a size speaks of, and two attributes are in one
// component exactly if a way leads from one to the other.
func checkDivision(t *testing.T, specs []privacy.Spec, names []string, components []privacy.Component, uncovered []int) {
	t.Helper()
	reached := reachable(specs, names)
	number := map[int]int{} // attribute: its component
	for i, component := range components {
		for _, a := range component.Attributes {
			if _, twice := number[a]; twice {
				t.Fatalf("%v: attribute %d in two components", specs, a)
			}
			number[a] = i
		}
		if !slices.IsSorted(component.Attributes) {
			t.Fatalf("%v: attributes %v", specs, component.Attributes)
		}
	}
	for a, name := range names {
		sized := slices.ContainsFunc(specs, func(s privacy.Spec) bool { return s.Model == privacy.K && speaksOf(s, name) })
		if _, covered := number[a]; covered != sized || covered == slices.Contains(uncovered, a) {
			t.Fatalf("%v: attribute %d covered is %v", specs, a, covered)
		}
		for b := range names {
			first, covered := number[a]
			second, also := number[b]
			if covered && also && (first == second) != reached[a][b] {
				t.Fatalf("%v: attributes %d and %d in components %d and %d", specs, a, b, first, second)
			}
		}
	}
}

func speaksOf(s privacy.Spec, name string) bool {
	return len(s.Over) == 0 || slices.Contains(s.Over, name)
}

// reachable is the transitive closure of "stand in one constraint".
func reachable(specs []privacy.Spec, names []string) [][]bool {
	reached := make([][]bool, len(names))
	for a := range reached {
		reached[a] = make([]bool, len(names))
		for b := range names {
			reached[a][b] = slices.ContainsFunc(specs, func(s privacy.Spec) bool { return speaksOf(s, names[a]) && speaksOf(s, names[b]) })
		}
	}
	for via := range names {
		for a := range names {
			for b := range names {
				reached[a][b] = reached[a][b] || reached[a][via] && reached[via][b]
			}
		}
	}
	return reached
}

// sized is a size over these attributes of the table.
type sized struct {
	k    int
	over []int
}

func (a sized) containedIn(b sized) bool {
	for _, attribute := range a.over {
		if !slices.Contains(b.over, attribute) {
			return false
		}
	}
	return a.k <= b.k
}

// taken sets apart the sizes of constraints over some attributes of the table,
// and the diversities that speak of any of them.
func taken(set privacy.ConstraintSet, attributes []int, spoken func(over []int) []int) (sizes []sized, others privacy.ConstraintSet) {
	for _, c := range set {
		switch c := c.(type) {
		case privacy.KAnonymity:
			if over := spoken(c.Over); slices.Contains(attributes, over[0]) {
				sizes = append(sizes, sized{c.K, over})
			}
		case privacy.Restricted:
			if slices.ContainsFunc(c.Over, func(a int) bool { return slices.Contains(attributes, a) }) {
				others = append(others, c.Constraint)
			}
		default:
			others = append(others, c)
		}
	}
	return sizes, others
}

// checkImplied: every size over a component's attributes is contained in one that
// was kept, each kept one stands in the set, and none is contained in another. The
// diversities are those of the set that speak of the component's attributes, bare.
func checkImplied(t *testing.T, set privacy.ConstraintSet, component privacy.Component) {
	t.Helper()
	given, diversities := taken(set, component.Attributes, func(over []int) []int {
		if over == nil {
			return component.Attributes // which is then every one
		}
		return over
	})
	kept, bare := taken(component.Constraints, component.Attributes, func(places []int) []int {
		if places == nil {
			return component.Attributes
		}
		var over []int
		for _, place := range places {
			over = append(over, component.Attributes[place])
		}
		return over
	})
	if !slices.Equal(bare, diversities) {
		t.Fatalf("%v: %v of %v", set, bare, component)
	}
	for _, k := range given {
		if !slices.ContainsFunc(kept, k.containedIn) {
			t.Fatalf("%v is lost in %v", k, component)
		}
	}
	for i, k := range kept {
		if !slices.ContainsFunc(given, func(other sized) bool { return k.containedIn(other) && other.containedIn(k) }) {
			t.Fatalf("%v is not in %v", k, set)
		}
		for j, other := range kept {
			if i != j && k.containedIn(other) {
				t.Fatalf("%v stays beside %v", k, other)
			}
		}
	}
}
