package methods_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// randomSet draws up to three constraints over two sensitive attributes, beside
// k over all attributes or several <QI, K>.
func randomSet(random *rand.Rand, attributes int) privacy.ConstraintSet {
	k := func() int { return 1 + random.IntN(6) }
	set := privacy.ConstraintSet{privacy.KAnonymity{K: k()}}
	if random.IntN(3) == 0 {
		set = nil
		for a := range attributes {
			over := []int{a}
			if other := random.IntN(attributes); other != a {
				over = append(over, other)
			}
			set = append(set, privacy.KAnonymity{K: k(), Over: over})
		}
	}
	for range random.IntN(4) {
		s := random.IntN(2)
		switch random.IntN(7) {
		case 0:
			set = append(set, privacy.DistinctDiversity{L: 2 + random.IntN(2), Attribute: s, Name: "s"})
		case 1:
			set = append(set, privacy.EntropyDiversity{L: 1.5 + random.Float64(), Attribute: s, Name: "s"})
		case 2:
			set = append(set, privacy.RecursiveDiversity{C: 2 + random.Float64(), L: 2, Attribute: s, Name: "s"})
		case 3:
			set = append(set, privacy.AlphaBound{Alpha: 0.5 + random.Float64()/2, Attribute: s, Name: "s"})
		case 4:
			set = append(set, privacy.AlphaBound{Alpha: 0.3 + random.Float64()/2, Attribute: s, Name: "s", Values: []uint32{uint32(random.IntN(4))}})
		case 5:
			set = append(set, privacy.TCloseness{T: 0.2 + random.Float64()/2, Attribute: s, Name: "s"})
		default:
			set = append(set, privacy.BetaLikeness{Beta: 1 + 2*random.Float64(), Attribute: s, Name: "s"})
		}
	}
	return set
}

// twoSensitive is a generated table with two sensitive attributes, and with three
// records for each person in every other one.
func twoSensitive(seed uint64, records, attributes int) *workload.Data {
	d := workload.Generate(seed, workload.Shape{Records: records, Attributes: attributes, Distinct: 8, Nulls: 0.05, Sensitive: 4})
	other := workload.Generate(seed+1, workload.Shape{Records: records, Attributes: 1, Distinct: 2, Sensitive: 5})
	d.Sensitive = append(d.Sensitive, other.Sensitive[0])
	if seed%2 == 0 {
		d.Subjects = make([]uint32, records)
		for i := range d.Subjects {
			d.Subjects[i] = uint32(i / 3)
		}
	}
	return d
}

// only has the attributes of one part.
func only(d *workload.Data, attributes []int) *workload.Data {
	part := &workload.Data{Sensitive: d.Sensitive, Subjects: d.Subjects}
	for _, a := range attributes {
		part.Specs, part.Attributes = append(part.Specs, d.Specs[a]), append(part.Attributes, d.Attributes[a])
		part.Raw, part.Cells = append(part.Raw, d.Raw[a]), append(part.Cells, d.Cells[a])
	}
	return part
}

// TestRandomSets runs every method that accepts them on random combinations of
// constraints: each part of each release is sound, and withheld as a whole only
// where its constraints are infeasible.
func TestRandomSets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	runs := 0
	for round := range 150 {
		attributes := 1 + random.IntN(4)
		d := twoSensitive(uint64(round), 10+random.IntN(80), attributes)
		set := randomSet(random, attributes)
		o := anonymizer.Options{Seed: uint64(round), Suppression: float64(random.IntN(2)) * 0.1}
		for _, name := range methods.Names() {
			m, err := methods.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			if methods.Refusal(m, d.Attributes, set) != nil {
				continue
			}
			parts, err := anonymizer.Anonymize(context.Background(), m, d.Table(), set, o)
			if err != nil {
				t.Fatalf("round %d, %s: %v", round, name, err)
			}
			for _, p := range parts {
				runs++
				if err := check(only(d, p.Attributes), p.Release, p.Constraints); err != nil {
					t.Errorf("round %d, %s, %v: %v", round, name, p.Constraints, err)
				}
				feasible := p.Constraints.Feasible(p.Table.Population().Summary) == nil
				if feasible == (len(p.Release.Classes) == 0) {
					t.Errorf("round %d, %s, %v: feasible %v, %d classes", round, name, p.Constraints, feasible, len(p.Release.Classes))
				}
			}
		}
	}
	if runs < 1000 {
		t.Errorf("%d releases were made", runs)
	}
}
