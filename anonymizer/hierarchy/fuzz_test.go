package hierarchy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// fuzzed are specifications of every kind, with and without options.
var fuzzed = []hierarchy.Spec{
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger},
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{1, 10, 1000}, Origin: -7},
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal},
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{0.25, 100}},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainDate},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Year}},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ, Units: []hierarchy.Unit{hierarchy.Month, hierarchy.Century}},
	{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText},
	{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "x", Children: []hierarchy.Node{{Label: "a"}, {Label: "y", Children: []hierarchy.Node{{Label: "b"}, {Label: "c"}}}}}, {Label: "d"},
	}},
	{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText},
	{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{3, 1}},
	{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"a", "b", "c", "d", "e"}},
	{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText},
}

// FuzzHierarchy encodes the lines of a text, generalizes them together and
// climbs their ladder, for each kind of hierarchy.
func FuzzHierarchy(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "1\n2\n-3", "0.1\n0.10\n1e-7\n99999999999999999999", "NaN\nInfinity\n-Infinity\ninfinity",
		"2024-02-29\n2024-02-30\n0044-03-15 BC\n5874897-12-31", "2024-05-06 07:08:09.5\n294276-12-31 23:59:59.999999\n0001-01-01 00:00:00 BC",
		"2024-05-06 07:08:09+00\n1500-01-01 00:00:00+00", "a\nb\nx\ny\nd\n*\nunknown", "12345\n123\n1\n12*\n*****\n\xff\xfe\nżółw",
		"9007199254740993\n9223372036854775807\n-9223372036854775808", strings.Repeat("long", 300) + "\nlong",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		texts := strings.Split(text, "\n")
		if len(texts) > 64 {
			texts = texts[:64]
		}
		for _, spec := range fuzzed {
			h := build(t, spec)
			column := encode(h, texts...)
			forward := h.Generalize(column)
			slices.Reverse(column)
			if back := h.Generalize(column); back != forward {
				t.Fatalf("%+v: %+v, and %+v in reverse", spec, forward, back)
			}
			if slices.ContainsFunc(column, hierarchy.IsOffScale) && !forward.Hidden {
				t.Fatalf("%+v: %+v is published of something off the scale", spec, forward)
			}
			column = append(column, hierarchy.OffScale())
			if err := checkLadder(hierarchy.LevelsOf(h, column), column); err != nil {
				t.Fatalf("%+v: %v", spec, err)
			}
			if err := checkEnds(h, forward, column); err != nil {
				t.Fatalf("%+v: %v", spec, err)
			}
		}
	})
}

// checkEnds reads published bounds back: they enclose all cells.
func checkEnds(h hierarchy.Hierarchy, g hierarchy.Generalization, column []hierarchy.Cell) error {
	if g.Lower == "" {
		return nil
	}
	low, high := h.Encode(g.Lower), h.Encode(g.Upper)
	for _, c := range column {
		if low > c || high < c {
			return fmt.Errorf("%v is not between %s and %s", c, g.Lower, g.Upper)
		}
	}
	return nil
}

// FuzzReadTaxonomy: what is read is a valid taxonomy, in which each value has
// its place.
func FuzzReadTaxonomy(f *testing.F) {
	for _, seed := range []string{
		"", "a;x;*\nb;x;*\n", "\ufeffa;*;\r\nb;*;\r\n", "\"a;1\";\"\"\"x\"\"\";*", "a;a;b\nb;b;b", "a;b\nb;a", "a;*;b", "1;0-4;0-9;*\n2;0-4;0-9;*",
		"\";\n", "*;*", ";;;", "a;x\n\n\nb;x;", "a\rb\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := hierarchy.ReadTaxonomy(strings.NewReader(text))
		if (err == nil) != (len(nodes) > 0) {
			t.Fatalf("%d nodes, %v", len(nodes), err)
		}
		spec := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: nodes}
		if err := spec.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
