package hierarchy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// build makes the hierarchy of a specification that must be valid.
func build(t testing.TB, s hierarchy.Spec) hierarchy.Hierarchy {
	t.Helper()
	h, err := hierarchy.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func encode(h hierarchy.Hierarchy, texts ...string) []hierarchy.Cell {
	cells := make([]hierarchy.Cell, len(texts))
	for i, text := range texts {
		cells[i] = h.Encode(text)
	}
	return cells
}

// generalized is a row of a table test; an empty want means hidden.
type generalized struct {
	texts        []string
	value        string
	lower, upper string
}

func checkRows(t *testing.T, s hierarchy.Spec, rows []generalized) {
	t.Helper()
	for _, row := range rows {
		h := build(t, s)
		got := h.Generalize(encode(h, row.texts...))
		want := hierarchy.Generalization{Hidden: row.value == "", Value: row.value, Lower: row.lower, Upper: row.upper}
		if got != want {
			t.Errorf("%v %v of %q: %+v, %+v expected", s.Kind, s.Domain, row.texts, got, want)
		}
	}
}

func TestKindNames(t *testing.T) {
	t.Parallel()
	for k, spec := range []hierarchy.Spec{
		hierarchy.Numeric:     {Domain: hierarchy.DomainInteger},
		hierarchy.Date:        {Domain: hierarchy.DomainDate},
		hierarchy.Categorical: {Domain: hierarchy.DomainText},
		hierarchy.Prefix:      {Domain: hierarchy.DomainText},
		hierarchy.Ordered:     {Domain: hierarchy.DomainText, Order: []string{"a", "b"}},
		hierarchy.Suppression: {Domain: hierarchy.DomainText},
	} {
		spec.Kind = hierarchy.Kind(k)
		if build(t, spec).Kind() != spec.Kind {
			t.Errorf("%v: hierarchy of another kind", spec.Kind)
		}
	}
}

func TestValidateReportsAll(t *testing.T) {
	t.Parallel()
	leaf := func(label string) hierarchy.Node { return hierarchy.Node{Label: label} }
	s := hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainDate, Taxonomy: []hierarchy.Node{
		{Label: "", Children: []hierarchy.Node{leaf("a"), leaf("b")}},
		{Label: "*", Children: []hierarchy.Node{leaf("a")}},
		{Label: "b"},
	}}
	err := s.Validate()
	if err == nil {
		t.Fatal("valid")
	}
	for _, part := range []string{
		"prefix hierarchy cannot stand over a column of date", "takes no taxonomy", "empty label at level 1",
		`"*" is reserved`, `"a" stands in 2 places`, `"b" stands in 2 places`,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in:\n%v", part, err)
		}
	}
	if err := (hierarchy.Spec{Kind: 9}).Validate(); err == nil {
		t.Error("kind 9 accepted")
	}
	deep := hierarchy.Node{Label: "x"}
	for range 100 {
		deep = hierarchy.Node{Label: strings.Repeat("x", len(deep.Label)+1), Children: []hierarchy.Node{deep}}
	}
	if _, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{deep}}); err == nil {
		t.Error("taxonomy of a hundred levels accepted")
	}
}

func TestOffScale(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		spec  hierarchy.Spec
		texts []string
	}{
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, []string{"", "x", "NaN", "Infinity", "1.5", "9223372036854775808"}},
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}, []string{"", "NaN", "Infinity", "-Infinity", "inf", "1e999", "-1e999", "0x10", "1_0", "1.7976931348623157e308", "--1", "+-1", ".", "e5"}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, []string{"", "infinity", "-infinity", "2001-02-29", "2000-13-01", "2000-00-01", "2000-01-00", "0000-01-01", "2000-01-01 00:00:00", "9999999-01-01", "+200-01-01", "2000-1-01", "4715-01-01 BC"}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp}, []string{"infinity", "2000-01-01", "2000-01-01 24:00:00", "2000-01-01 10:61:00", "2000-01-01 10:00", "2000-01-01 10:00:00.", "2000-01-01 10:00:00.1234567", "2000-01-01 10:00:00+00", "294277-01-01 00:00:00", "9999999-01-01 00:00:00"}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ}, []string{"-infinity", "2000-01-01 10:00:00", "2000-01-01 10:00:00+", "2000-01-01 10:00:00+1", "2000-01-01 +00"}},
	} {
		h := build(t, row.spec)
		for _, text := range row.texts {
			if c := h.Encode(text); !hierarchy.IsOffScale(c) || !math.IsNaN(h.Position(c)) {
				t.Errorf("%v: %q has the cell %v", row.spec.Domain, text, c)
			}
		}
	}
	for _, k := range []hierarchy.Kind{hierarchy.Categorical, hierarchy.Prefix, hierarchy.Suppression} {
		h := build(t, hierarchy.Spec{Kind: k, Domain: hierarchy.DomainText})
		for _, c := range []hierarchy.Cell{hierarchy.OffScale(), -1, 7, math.Inf(1), math.Inf(-1)} {
			if !math.IsNaN(h.Position(c)) || !h.Generalize([]hierarchy.Cell{h.Encode("a"), c}).Hidden {
				t.Errorf("%v: cell %v has a place", k, c)
			}
		}
	}
	for _, s := range []hierarchy.Spec{
		{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger},
		{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal},
		{Kind: hierarchy.Date, Domain: hierarchy.DomainDate},
		{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText},
		{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText},
	} {
		h := build(t, s)
		if !h.Generalize(nil).Hidden || !h.Generalize([]hierarchy.Cell{h.Encode("2000-01-01"), h.Encode("1"), hierarchy.OffScale()}).Hidden {
			t.Errorf("%v: nothing, or something off the scale, is not hidden", s.Kind)
		}
	}
}

func TestCategorical(t *testing.T) {
	t.Parallel()
	s := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "Non-Government", Children: []hierarchy.Node{{Label: "Private"}, {Label: "Self-emp", Children: []hierarchy.Node{{Label: "inc"}, {Label: "not-inc"}}}}},
		{Label: "Government", Children: []hierarchy.Node{{Label: "State"}, {Label: "Federal"}}},
		{Label: "Unemployed"},
	}}
	checkRows(t, s, []generalized{
		{[]string{"Private"}, "Private", "", ""},
		{[]string{"inc", "inc"}, "inc", "", ""},
		{[]string{"not-inc", "inc"}, "Self-emp", "", ""},
		{[]string{"inc", "Private"}, "Non-Government", "", ""},
		{[]string{"inc", "State"}, "*", "", ""},
		{[]string{"State", "Federal", "State"}, "Government", "", ""},
		{[]string{"Unemployed", "Federal"}, "*", "", ""},
		{[]string{"unknown"}, "unknown", "", ""},
		{[]string{"unknown", "Private"}, "*", "", ""},
		// A value that is an inner node's label is that node.
		{[]string{"Self-emp"}, "Self-emp", "", ""},
		{[]string{"Self-emp", "inc"}, "Self-emp", "", ""},
		{[]string{"Self-emp", "Private"}, "Non-Government", "", ""},
		{[]string{"Self-emp", "Government"}, "*", "", ""},
		{[]string{"*"}, "*", "", ""},
		{[]string{"*", "inc"}, "*", "", ""},
	})
	h := build(t, s)
	for i, label := range []string{"Private", "inc", "not-inc", "State", "Federal", "Unemployed", "new", "newer"} {
		if p := h.Position(h.Encode(label)); p != float64(i) {
			t.Errorf("%s lies at %v, %d expected", label, p, i)
		}
	}
	if p := h.Position(h.Encode("Non-Government")); p != 1 {
		t.Errorf("an inner node lies at %v, in the middle of its leaves expected", p)
	}
	flat := build(t, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText})
	for i, label := range []string{"z", "", "a", "z"} {
		if p := flat.Position(flat.Encode(label)); p != float64(i%3) {
			t.Errorf("flat %q lies at %v", label, p)
		}
	}
	if g := flat.Generalize(encode(flat, "", "")); g.Hidden || g.Value != "" {
		t.Errorf("the empty text is published as %+v", g)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	s := hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}
	checkRows(t, s, []generalized{
		{[]string{"12345"}, "12345", "", ""},
		{[]string{"12345", "12345"}, "12345", "", ""},
		{[]string{"12345", "12399"}, "123**", "", ""},
		{[]string{"12345", "92399"}, "*****", "", ""},
		{[]string{"12345", "123"}, "123*", "", ""},
		{[]string{"123", "12345"}, "123*", "", ""},
		{[]string{"12345", "12345", "123", "12345"}, "123*", "", ""},
		{[]string{"", "1"}, "*", "", ""},
		{[]string{"żółw", "żółć"}, "żół*", "", ""},
		{[]string{"é", "è"}, "*", "", ""}, // the first byte is common, the rune is not
		{[]string{"1*3", "1*4"}, "1**", "", ""},
		{[]string{"1*", "1*"}, "1*", "", ""},
		{[]string{"1*", "12345"}, "1*", "", ""},
		{[]string{"\xff\xfe", "\xff\xfd"}, "\xff*", "", ""},
	})
	h := build(t, s)
	sorted := encode(h, "", "0", "00", "1", "10115", "10117", "9", "A", "a", "é")
	for i := 1; i < len(sorted); i++ {
		if h.Position(sorted[i-1]) >= h.Position(sorted[i]) {
			t.Errorf("code %d does not lie behind the one before", i)
		}
	}
	if h.Position(h.Encode("1234567")) != h.Position(h.Encode("1234568")) {
		t.Error("the seventh byte has a say in the position")
	}
}
