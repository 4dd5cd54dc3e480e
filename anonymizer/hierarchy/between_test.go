package hierarchy_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestBetweenGivesBackWhatWasPublished: what is published of numbers and dates is known by its bounds, also where it is limited.
func TestBetweenGivesBackWhatWasPublished(t *testing.T) {
	t.Parallel()
	compared := 0
	check := func(name string, h hierarchy.Hierarchy, cells []hierarchy.Cell) {
		for from := 0; from+5 <= len(cells); from += 3 {
			g := h.Generalize(cells[from : from+1+from%5])
			if g.Hidden {
				continue
			}
			got := hierarchy.Between(h, g.Lower, g.Upper)
			if len(g.Value) > 15 && h.Kind() == hierarchy.Numeric { // as with Union
				got.Value = g.Value
			}
			if compared++; got != g {
				t.Fatalf("%s: %+v is given back as %+v", name, g, got)
			}
		}
	}
	for seed := range uint64(30) {
		d := workload.Generate(seed, workload.Shape{Records: 80, Attributes: 14, Distinct: []int{3, 12, 5000}[seed%3]})
		for a, attribute := range d.Attributes {
			spec, coarseness := d.Specs[a], hierarchy.Coarseness{}
			switch kind := attribute.Hierarchy.Kind(); {
			case kind != hierarchy.Numeric && kind != hierarchy.Date:
				continue
			case len(spec.Steps) > 1:
				coarseness.Steps = spec.Steps[1:]
			case len(spec.Units) > 1:
				coarseness.Units = spec.Units[1:]
			}
			check(attribute.Name, attribute.Hierarchy, d.Cells[a])
			limited, err := hierarchy.Coarser(attribute.Hierarchy, spec, coarseness)
			if err != nil {
				t.Fatal(err)
			}
			check(attribute.Name+", limited", limited, d.Cells[a])
		}
	}
	if compared < 1000 {
		t.Errorf("%d were compared", compared)
	}
	age := workload.Attribute("age", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}).Hierarchy
	for _, bounds := range [][2]string{{"", "3"}, {"3", ""}, {"x", "y"}} {
		if g := hierarchy.Between(age, bounds[0], bounds[1]); !g.Hidden {
			t.Errorf("between %q and %q it is %+v", bounds[0], bounds[1], g)
		}
	}
}
