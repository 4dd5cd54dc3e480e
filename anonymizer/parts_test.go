package anonymizer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestDiversityOverAllColumns: by age alone and by zip alone each value comes with
// two diagnoses, by both with one, so that two parts would tell everything.
func TestDiversityOverAllColumns(t *testing.T) {
	t.Parallel()
	numbers := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	attributes := []anonymizer.Attribute{workload.Attribute("age", numbers), workload.Attribute("zip", numbers)}
	table, err := anonymizer.NewTable(attributes, [][]hierarchy.Cell{{1, 1, 2, 2}, {1, 2, 1, 2}}, [][]uint32{{0, 1, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	sizes := []privacy.Spec{{K: 2, Over: []string{"age"}}, {K: 2, Over: []string{"zip"}}}
	for name, test := range map[string]struct {
		specs   []privacy.Spec
		parts   [][]int
		classes int // of each part
	}{
		"all":      {append(slices.Clone(sizes), privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "s"}), [][]int{{0, 1}}, 2},
		"age":      {append(slices.Clone(sizes), privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "s", Over: []string{"age"}}), [][]int{{0}, {1}}, 2},
		"age, zip": {append(slices.Clone(sizes), privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "s", Over: []string{"zip", "age"}}), [][]int{{0, 1}}, 2},
		"each": {append(
			slices.Clone(sizes),
			privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "s", Over: []string{"age"}}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "s", Over: []string{"zip"}},
		), [][]int{{0}, {1}}, 2},
	} {
		parts, set := anonymized(t, table, test.specs)
		var got [][]int
		for _, part := range parts {
			got = append(got, part.Attributes)
			if len(part.Release.Classes) != test.classes {
				t.Errorf("%s: %d classes over %v", name, len(part.Release.Classes), part.Attributes)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(test.parts) {
			t.Errorf("%s: parts %v, expected %v", name, got, test.parts)
		}
		if err := checkReaders(table, parts, set); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadersOfWholeRows: whatever the parts are, every constraint holds for
// records that look alike in the columns that it speaks of.
func TestReadersOfWholeRows(t *testing.T) {
	t.Parallel()
	k := func(k int, over ...string) privacy.Spec { return privacy.Spec{K: k, Over: over} }
	l := func(over ...string) privacy.Spec {
		return privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "s", Over: over}
	}
	for seed := range uint64(4) {
		d := workload.Generate(seed, workload.Shape{Records: 300, Attributes: 4, Distinct: 12, Nulls: 0.05, Sensitive: 6})
		var names [4]string
		for i, a := range d.Attributes {
			names[i] = a.Name
		}
		a, b, c, e := names[0], names[1], names[2], names[3]
		closeness := privacy.Spec{Model: privacy.TClose, T: 0.4, Of: "s", Over: []string{a}}
		for _, test := range []struct {
			parts int
			specs []privacy.Spec
		}{
			{1, []privacy.Spec{k(3, a, b), k(4, c, e), l()}},
			{1, []privacy.Spec{k(3, a), k(2, b), k(2, c), k(4, e), l(a), l(b, e), {Model: privacy.AlphaK, Alpha: 0.6, Of: "s"}}},
			{2, []privacy.Spec{k(3, a, b), k(4, c, e), l(c), closeness}},
			{2, []privacy.Spec{k(3, a), k(2, b), k(2, c), k(4, e), l(a, c), l(b, e), closeness}},
			{3, []privacy.Spec{k(3, a), k(2, b), k(2, c), k(4, e), l(b, e), closeness}},
			{4, []privacy.Spec{k(3, a), k(2, b), k(2, c), k(4, e), closeness, {Model: privacy.EntropyL, L: 2, Of: "s", Over: []string{c}}}},
		} {
			parts, set := anonymized(t, d.Table(), test.specs)
			if len(parts) != test.parts {
				t.Errorf("%v: %d parts, expected %d", test.specs, len(parts), test.parts)
			}
			if err := checkReaders(d.Table(), parts, set); err != nil {
				t.Errorf("%v: %v", test.specs, err)
			}
		}
	}
}

func anonymized(t *testing.T, table *anonymizer.Table, specs []privacy.Spec) ([]anonymizer.Part, privacy.ConstraintSet) {
	t.Helper()
	schema := privacy.Schema{Sensitive: []privacy.Sensitive{{Name: "s"}}}
	for _, a := range table.Attributes() {
		schema.Attributes = append(schema.Attributes, a.Name)
	}
	set, err := privacy.NewSet(specs, schema)
	if err != nil {
		t.Fatal(err)
	}
	method, err := methods.Named(methods.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	parts, err := anonymizer.Anonymize(t.Context(), method, table, set, anonymizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return parts, set
}

// checkReaders groups the published rows by what is published of the attributes
// that a constraint speaks of, and judges each group by its definition.
func checkReaders(table *anonymizer.Table, parts []anonymizer.Part, set privacy.ConstraintSet) error {
	looks := make([][]string, table.Len()) // record, attribute
	for i := range looks {
		looks[i] = make([]string, len(table.Attributes()))
	}
	for _, part := range parts {
		if len(part.Release.Withheld) > 0 {
			return fmt.Errorf("%d records are withheld over %v", len(part.Release.Withheld), part.Attributes)
		}
		for _, class := range part.Release.Classes {
			for place, g := range part.Table.Generalize(class) {
				for _, record := range class {
					looks[record][part.Attributes[place]] = fmt.Sprintf("%+v", g)
				}
			}
		}
	}
	whole := anonymizertest.Group{Records: table.Len(), Sensitive: [][]uint32{table.Sensitive(0)}}.Counted()
	for _, c := range set {
		var over []int // nil = all
		switch constraint := c.(type) {
		case privacy.KAnonymity:
			over = constraint.Over
		case privacy.Restricted:
			over, c = constraint.Over, constraint.Constraint
		}
		groups := map[string]anonymizertest.Group{}
		for record, look := range looks {
			var seen []string
			for a, text := range look {
				if over == nil || slices.Contains(over, a) {
					seen = append(seen, text)
				}
			}
			key := strings.Join(seen, "|")
			g := groups[key]
			g.Records++
			if g.Sensitive == nil {
				g.Sensitive = [][]uint32{nil}
			}
			g.Sensitive[0] = append(g.Sensitive[0], table.Sensitive(0)[record])
			groups[key] = g
		}
		for _, g := range groups {
			if err := anonymizertest.CheckConstraints(g, whole, privacy.ConstraintSet{c}); err != nil {
				return fmt.Errorf("over %v: %w", over, err)
			}
		}
	}
	return nil
}
