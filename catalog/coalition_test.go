package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestCoalitionsBoundEverySet draws policies and asks of each set of readers, one by one, whether a member
// sees a column under a constraint that the classes of the finest member, who does not, need not satisfy.
func TestCoalitionsBoundEverySet(t *testing.T) {
	t.Parallel()
	breaches := 0
	for seed := range uint64(3000) {
		policy := drawAudiences(rand.New(rand.NewPCG(seed, 1)))
		names := append([]string{""}, policy.audienceNames()...)
		sees := func(audience, column string) bool {
			unseen := slices.ContainsFunc(policy.Audiences, func(a AudiencePolicy) bool { return a.Audience == audience && a.Unseen })
			return !unseen && !slices.Contains(policy.HiddenFrom(audience), column)
		}
		want := make(map[string]bool)
		for set := 1; set < 1<<len(names); set++ {
			finest := -1
			for i, member := range names {
				if set&(1<<i) == 0 {
					continue
				}
				if finest < 0 {
					finest = i
				}
				for _, column := range policy.Columns {
					if !sees(member, column.Name) || sees(names[finest], column.Name) {
						continue
					}
					for _, spec := range policy.ConstraintsFor(member) {
						holds := slices.ContainsFunc(policy.ConstraintsFor(names[finest]), func(held privacy.Spec) bool { return held.Implies(spec) })
						if spec.Of == column.Name && !holds {
							want[names[finest]+" "+column.Name] = true
						}
					}
				}
			}
		}
		got := make(map[string]bool)
		for _, c := range policy.Coalitions() {
			if fmt.Sprint(c.Holds) != fmt.Sprint(policy.ConstraintsFor(c.Finest)) {
				t.Fatalf("seed %d: for %q %v holds", seed, c.Finest, c.Holds)
			}
			if place := policy.place(c.Finest); place >= 0 && policy.Audiences[place].Unseen {
				var coarser []string
				for _, a := range policy.Audiences[place+1:] {
					if _, shown := policy.For(a.Audience); shown {
						coarser = append(coarser, a.Audience)
					}
				}
				if !slices.Equal(c.Table, coarser) {
					t.Fatalf("seed %d: %q gets the table of %v, not of %v", seed, c.Finest, c.Table, coarser)
				}
			} else if len(c.Table) > 0 {
				t.Fatalf("seed %d: %q gets the table of %v, and sees it", seed, c.Finest, c.Table)
			}
			for _, column := range c.Joined {
				if what, fix := c.Breach(column); what != "" && fix != "" {
					got[c.Finest+" "+column.Name] = true
					breaches++
				}
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: %+v: breaches are %v, not %v", seed, policy, got, want)
		}
	}
	if breaches < 500 {
		t.Errorf("%d breaches are too few to tell", breaches)
	}
}

// drawAudiences draws a table with up to three audiences.
func drawAudiences(random *rand.Rand) TablePolicy {
	columns := []ColumnPolicy{{Name: "age", Role: QuasiIdentifying}, {Name: "illness", Role: Sensitive}, {Name: "cost", Role: Sensitive}, {Name: "name", Role: Identifying}}
	hidden := func() (names []string) {
		for _, c := range columns {
			if random.IntN(3) == 0 {
				names = append(names, c.Name)
			}
		}
		return names
	}
	constraints := func() (specs []privacy.Spec) {
		for _, of := range []string{"illness", "cost"} {
			if random.IntN(2) == 0 {
				specs = append(specs, privacy.Spec{Model: privacy.DistinctL, L: float64(2 + random.IntN(3)), Of: of})
			}
			if random.IntN(4) == 0 {
				specs = append(specs, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.3 + 0.2*float64(random.IntN(3)), Of: of})
			}
		}
		return specs
	}
	policy := TablePolicy{Columns: columns, Hidden: hidden(), Constraints: append(constraints(), privacy.Spec{Model: privacy.K, K: 5})}
	for i := range random.IntN(4) {
		policy.Audiences = append(policy.Audiences, AudiencePolicy{Audience: fmt.Sprint("a", i), Constraints: constraints(), Hidden: hidden(), Unseen: random.IntN(4) == 0})
	}
	return policy
}

// TestReservedColumns: what audiences alone see is stored, and neither published to the table's own readers
// nor named to them.
func TestReservedColumns(t *testing.T) {
	t.Parallel()
	relation := Relation{Name: Name{"public", "people"}, Kind: KindTable, Key: []string{"id"}, Columns: []Column{
		{Name: "id", Type: "integer", BaseType: "int4", Deterministic: true, NotNull: true},
		{Name: "cost", Type: "integer", BaseType: "int4", Deterministic: true},
		{Name: "illness", Type: "text", BaseType: "text", Deterministic: true},
	}}
	policy := TablePolicy{
		Table: relation.Name, Method: "rounded-partition", Updates: Updates{Mode: Immediate}, Hidden: []string{"cost"},
		Columns:     []ColumnPolicy{{Name: "cost", Role: Sensitive}, {Name: "illness", Role: Sensitive}},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 5}, {Model: privacy.DistinctL, L: 2, Of: "cost"}},
		Audiences:   []AudiencePolicy{{Audience: "press", Hidden: []string{"illness"}}},
	}
	p, _ := Publish(policy, relation)
	names := func(columns []PublishedColumn) (names []string) {
		for _, c := range columns {
			names = append(names, c.Name)
		}
		return names
	}
	press, _ := p.For("press")
	if got := fmt.Sprint(names(p.Columns), names(p.Copied()), names(press.Columns)); got != "[illness] [cost illness] [cost]" {
		t.Errorf("columns are %s", got)
	}
	if comment, _ := p.Comments(); comment != "Anonymized by kproxy: k = 5." {
		t.Errorf("readers are told %q", comment)
	}
	if d := p.Describe(); d.Constraints != "k = 5" || len(d.Columns) != 1 {
		t.Errorf("readers are told %+v", d)
	}
	snapshot := NewSnapshot(Policy{Tables: []TablePolicy{policy}, Audiences: []Audience{{Name: "press"}}}, []Relation{relation}, nil)
	if snapshot.Names("cost") || !snapshot.Names("illness") {
		t.Error("the words that readers may see are others")
	}
}
