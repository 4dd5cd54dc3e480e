package release

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// TestNumbersAreCompared compares decimal numbers of all forms with what package big says of them.
func TestNumbersAreCompared(t *testing.T) {
	t.Parallel()
	texts := []string{"0", "-0", "0.0", "-0.00", ".5", "5.", "0.5", "-0.5", "0.05", "00.5", "10", "9", "-10", "-9", "1e3", "1000", "999.999", "-1000.1", "99999999999999999999", "1.10", "1.1", "1.01"}
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		texts = append(texts, fmt.Sprint(random.IntN(300)-150), fmt.Sprintf("%.2f", random.Float64()*20-10))
	}
	for _, a := range texts {
		for _, b := range texts {
			x, _ := new(big.Rat).SetString(a)
			y, _ := new(big.Rat).SetString(b)
			if got, ok := compareNumbers(a, b); !ok || got != x.Cmp(y) {
				t.Errorf("%s and %s: %d, %v, want %d", a, b, got, ok, x.Cmp(y))
			}
		}
	}
	for _, none := range []string{"", "-", ".", "1.2.3", "1-2", "NaN", "ten"} {
		if _, ok := compareNumbers(none, "1"); ok {
			t.Errorf("%q is a number", none)
		}
	}
}

// TestTruths decides what is true of a value, whatever was asked before.
func TestTruths(t *testing.T) {
	t.Parallel()
	of := func(part catalog.Part, spec hierarchy.Spec) *truth {
		return newTruth(catalog.PublishedColumn{Part: part}, spec)
	}
	number, date := of(catalog.Range, hierarchy.Spec{Kind: hierarchy.Numeric}), of(catalog.Range, hierarchy.Spec{Kind: hierarchy.Date})
	prefix := of(catalog.Label, hierarchy.Spec{Kind: hierarchy.Prefix})
	ordered := of(catalog.Label, hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"none", "low", "middle", "high"}})
	towns := of(catalog.Label, hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{{Label: "north", Children: []hierarchy.Node{{Label: "Kiel"}}}, {Label: "south", Children: []hierarchy.Node{{Label: "Ulm"}}}}})
	for range 2 { // the second time with what is kept of the first
		for _, test := range []struct {
			of         *truth
			shown, raw string
			want       bool
		}{
			{number, "[20,30)", "20", true},
			{number, "[20,30)", "30", false},
			{number, "[20,30]", "30", true},
			{number, "(,30)", "-5", true},
			{number, "[20,)", "19.99", false},
			{number, "[20,)", "20.00", true},
			{number, "(,)", "7", true},
			{number, "[20,30)", "", false},
			{number, "20", "20", false},
			{number, "[20,30)", "x", false},
			{date, "[2020-01-01,2021-01-01)", "2020-12-31", true},
			{date, "[2020-01-01,2021-01-01)", "2021-01-01", false},
			{date, `["2020-01-01 10:00:00","2020-01-01 11:00:00"]`, "2020-01-01 11:00:00", true},
			{date, "[0044-03-15 BC,)", "0001-01-01", true},
			{date, "[0044-03-15 BC,)", "0045-03-15 BC", false},
			{prefix, "101**", "10115", true},
			{prefix, "101**", "10215", false},
			{prefix, "101**", "101", false},
			{prefix, "*", "1", true},
			{prefix, "*", "", false},
			{ordered, "low..high", "middle", true},
			{ordered, "low..middle", "high", false},
			{ordered, "low..middle", "other", false},
			{towns, "north", "Kiel", true},
			{towns, "north", "Ulm", false},
			{towns, "south", "Ulm", true},
			{towns, "Ulm", "Ulm", true},
			{towns, "Kiel", "Ulm", false},
		} {
			if got := test.of.holds(test.shown, test.raw); got != test.want {
				t.Errorf("%s of %q: %v", test.shown, test.raw, got)
			}
		}
	}
}
