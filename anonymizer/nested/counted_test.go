package nested_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestCountedClasses unites classes of persons who have several values of an attribute or none, and can be in several classes: no value is held by
// more than half of the persons of a group, counted by hand.
func TestCountedClasses(t *testing.T) {
	t.Parallel()
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		t.Fatal(err)
	}
	attributes := []anonymizer.Attribute{{Name: "number", Hierarchy: h}}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 8}, privacy.AlphaBound{Alpha: 0.5}}
	united, none := 0, 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 5))
		var classes []nested.Class
		held := make([]map[uint32]map[uint32]bool, 80) // by class and person
		for i := range held {
			held[i] = map[uint32]map[uint32]bool{}
			low := random.IntN(1000)
			class := nested.Class{Labels: []hierarchy.Generalization{h.Generalize([]hierarchy.Cell{float64(low), float64(low + 5)})}, Counts: privacy.NewSubjectSummary(1)}
			for range 3 + random.IntN(4) {
				person := uint32(random.IntN(200))
				if held[i][person] != nil {
					continue
				}
				held[i][person] = map[uint32]bool{}
				class.Persons, class.Sensitive = append(class.Persons, person), append(class.Sensitive, []uint32{})
				class.Counts.AddSubject(person)
				for range random.IntN(3) {
					value := uint32(random.IntN(int(2 + seed%4)))
					held[i][person][value] = true
					class.Counts.AddValueOf(person, 0, value)
				}
			}
			classes = append(classes, class)
		}
		groups, err := nested.UniteClasses(t.Context(), attributes, classes, constraints, anonymizer.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		in := 0
		for _, group := range groups {
			in += len(group)
			if bad := halfHaveOne(held, group); bad != "" {
				t.Errorf("seed %d: %s", seed, bad)
			}
		}
		if united += len(groups); len(groups) == 0 {
			none++
			var all []int
			for i := range classes {
				all = append(all, i)
			}
			if halfHaveOne(held, all) == "" {
				t.Errorf("seed %d: all classes satisfy the constraints, and there are no groups", seed)
			}
		} else if in != len(classes) {
			t.Errorf("seed %d: %d of %d classes are in groups", seed, in, len(classes))
		}
	}
	if united < 100 || none == 40 {
		t.Errorf("%d groups, none of %d seeds: the test shows nothing", united, none)
	}
}

// halfHaveOne says what is wrong with a group.
func halfHaveOne(held []map[uint32]map[uint32]bool, group []int) string {
	persons, holders := map[uint32]bool{}, map[uint32]map[uint32]bool{}
	for _, class := range group {
		for person, values := range held[class] {
			persons[person] = true
			for value := range values {
				if holders[value] == nil {
					holders[value] = map[uint32]bool{}
				}
				holders[value][person] = true
			}
		}
	}
	for value, by := range holders {
		if 2*len(by) > len(persons) {
			return fmt.Sprintf("value %d is held by %d of %d persons", value, len(by), len(persons))
		}
	}
	if len(persons) < 8 {
		return fmt.Sprintf("a group has %d persons", len(persons))
	}
	return ""
}
