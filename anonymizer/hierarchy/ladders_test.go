package hierarchy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// labeled is a text with its labels from level 0 to the root.
type labeled struct{ text, labels string }

func checkLabels(t *testing.T, s hierarchy.Spec, rows []labeled) {
	t.Helper()
	h := build(t, s)
	var column []hierarchy.Cell
	for _, row := range rows {
		column = append(column, h.Encode(row.text))
	}
	l := hierarchy.LevelsOf(h, column)
	if err := checkLadder(l, column); err != nil {
		t.Errorf("%v: %v", s.Kind, err)
	}
	for i, row := range rows {
		var labels []string
		for level := 0; level <= l.Height(); level++ {
			labels = append(labels, written(l.Label(column[i], level)))
		}
		if got := strings.Join(labels, ", "); got != row.labels {
			t.Errorf("%v: %q is called\n%s, expected\n%s", s.Kind, row.text, got, row.labels)
		}
	}
}

func written(g hierarchy.Generalization) string {
	switch {
	case g.Hidden:
		return "NULL"
	case g.Lower == "":
		return g.Value
	case g.Lower == g.Upper:
		return g.Lower
	default:
		return g.Lower + " to " + g.Upper
	}
}

func TestLaddersOfNumbers(t *testing.T) {
	t.Parallel()
	integer := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	checkLabels(t, integer, []labeled{
		{"1", "1, 1 to 2, 1 to 3, NULL"},
		{"2", "2, 1 to 2, 1 to 3, NULL"},
		{"3", "3, 3, 1 to 3, NULL"},
		{"70", "70, 70 to 800, 70 to 900, NULL"},
		{"800", "800, 70 to 800, 70 to 900, NULL"},
		{"900", "900, 900, 70 to 900, NULL"},
	})
	checkLabels(t, integer, []labeled{{"7", "7, NULL"}, {"9", "9, NULL"}, {"x", "NULL, NULL"}})
	checkLabels(t, integer, []labeled{{"", "NULL, NULL"}})

	integer.Steps = []float64{1, 5, 20}
	checkLabels(t, integer, []labeled{
		{"-1", "-1, -5 to -1, -20 to -1, NULL"},
		{"0", "0, 0 to 4, 0 to 19, NULL"},
		{"19", "19, 15 to 19, 0 to 19, NULL"},
	})
	checkLabels(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{0.1, 0.3}, Origin: 0.05}, []labeled{
		{"0.05", "0.05 to 0.15, 0.05 to 0.15, 0.05 to 0.35, NULL"},
		{"0.149999999999999999999999", "0.05 to 0.15, 0.05 to 0.15, 0.05 to 0.35, NULL"},
		{"0.15", "0.15 to 0.25, 0.15 to 0.25, 0.05 to 0.35, NULL"},
		{"0.35", "0.35 to 0.45, 0.35 to 0.45, 0.35 to 0.65, NULL"},
		{"1e15", "NULL, NULL, NULL, NULL"},
	})
}

func TestLaddersOfDates(t *testing.T) {
	t.Parallel()
	date := hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}
	checkLabels(t, date, []labeled{
		{"1999-12-31", "1999-12-31, 1999-12-01 to 1999-12-31, 1999-10-01 to 1999-12-31, 1999-01-01 to 1999-12-31, 1990-01-01 to 1999-12-31, 1900-01-01 to 1999-12-31, NULL"},
		{"2000-02-29", "2000-02-29, 2000-02-01 to 2000-02-29, 2000-01-01 to 2000-03-31, 2000-01-01 to 2000-12-31, 2000-01-01 to 2009-12-31, 2000-01-01 to 2099-12-31, NULL"},
	})
	// All of one year: quarters are the coarsest that divide the column.
	checkLabels(t, date, []labeled{
		{"2024-01-31", "2024-01-31, 2024-01-01 to 2024-01-31, 2024-01-01 to 2024-03-31, NULL"},
		{"2024-04-01", "2024-04-01, 2024-04-01 to 2024-04-30, 2024-04-01 to 2024-06-30, NULL"},
	})
	date.Units = []hierarchy.Unit{hierarchy.Day, hierarchy.Decade}
	checkLabels(t, date, []labeled{
		{"0001-01-01", "0001-01-01, 0001-01-01 BC to 0009-12-31, NULL"},
		{"0001-12-31 BC", "0001-12-31 BC, 0001-01-01 BC to 0009-12-31, NULL"},
		{"0002-12-31 BC", "0002-12-31 BC, 0011-01-01 BC to 0002-12-31 BC, NULL"},
		{"4713-01-01 BC", "4713-01-01 BC, 4714-11-24 BC to 4712-12-31 BC, NULL"},
	})
	checkLabels(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Century}}, []labeled{
		{"2024-02-29 12:00:00.5", "2024-02-29 00:00:00 to 2024-02-29 23:59:59.999999, 2024-02-29 00:00:00 to 2024-02-29 23:59:59.999999, 2000-01-01 00:00:00 to 2099-12-31 23:59:59.999999, NULL"},
		// Far from 2000 bounds are as wide as what a cell stands for.
		{"1500-01-01 00:00:00", "1499-12-31 23:59:59.999998 to 1500-01-02 00:00:00, 1499-12-31 23:59:59.999998 to 1500-01-02 00:00:00, 1499-12-31 23:59:59.999998 to 1600-01-01 00:00:00, NULL"},
		{"294276-12-31 23:59:59.999999", "294276-12-31 23:59:59.998976 to 294276-12-31 23:59:59.999999, 294276-12-31 23:59:59.998976 to 294276-12-31 23:59:59.999999, 294199-12-31 23:59:59.998976 to 294276-12-31 23:59:59.999999, NULL"},
	})
}

func TestLaddersOfLabels(t *testing.T) {
	t.Parallel()
	checkLabels(t, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "Non-Government", Children: []hierarchy.Node{{Label: "Private"}, {Label: "Self-emp", Children: []hierarchy.Node{{Label: "inc"}, {Label: "not-inc"}}}}},
		{Label: "Unemployed"},
	}}, []labeled{
		{"Private", "Private, Non-Government, *, *"},
		{"inc", "inc, Self-emp, Non-Government, *"},
		{"Unemployed", "Unemployed, *, *, *"},
		{"unknown", "unknown, *, *, *"},
		{"Self-emp", "Self-emp, Self-emp, Non-Government, *"},
		// Its nearest leaf, Private, is one step below.
		{"Non-Government", "Non-Government, Non-Government, *, *"},
	})
	for _, kind := range []hierarchy.Kind{hierarchy.Categorical, hierarchy.Suppression} {
		checkLabels(t, hierarchy.Spec{Kind: kind, Domain: hierarchy.DomainText}, []labeled{{"a", "a, *"}, {"b", "b, *"}, {"", ", *"}, {"*", "*, *"}})
	}
	checkLabels(t, hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}, []labeled{
		{"10115", "10115, 1011*, 101**, 10*, 1*, *"},
		{"10117", "10117, 1011*, 101**, 10*, 1*, *"},
		{"1", "1, 1, 1, 1, 1*, *"},
		{"104", "104, 104, 104, 10*, 1*, *"},
		{"ż", "ż, ż, ż, ż, ż, *"},
	})
	checkLabels(t, hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{9, 3, 2}}, []labeled{
		{"10115", "10115, 101**, 10*, *"},
		{"104", "104, 104, 10*, *"},
	})
	order := hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"none", "low", "medium", "high", "severe"}}
	checkLabels(t, order, []labeled{
		{"none", "none, none..low, none..medium, *"},
		{"medium", "medium, medium, none..medium, *"},
		{"severe", "severe, severe, high..severe, *"},
	})
	checkLabels(t, order, []labeled{{"low", "low, none..low, none..medium, NULL"}, {"fatal", "NULL, NULL, NULL, NULL"}})
}

func TestShares(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		spec  hierarchy.Spec
		texts []string
		want  []float64 // of the first text
	}{
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, []string{"1", "2", "3", "70", "800", "901"}, []float64{0, 1. / 900, 2. / 900, 1}},
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{10}}, []string{"12", "32"}, []float64{7. / 20, 7. / 20, 1}},
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{1, 10}}, []string{"12.5", "32.5"}, []float64{.5 / 20, .5 / 20, 7.5 / 20, 1}},
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, []string{"5", "5", "NULL"}, []float64{0, 1}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, []string{"2024-01-31", "2024-03-31"}, []float64{0, 0, 1}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, []string{"2024-03-01", "2024-01-01"}, []float64{0, 0, 1}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, []string{"2024-01-21", "2024-03-01"}, []float64{0, 10. / 40, 1}},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Month}}, []string{"2024-01-21", "2024-03-01"}, []float64{10. / 40, 10. / 40, 1}},
		{hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}, []string{"111", "112", "112", "211"}, []float64{0, 2. / 3, 2. / 3, 1}},
		{hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{2}}, []string{"111", "112", "112", "211"}, []float64{2. / 3, 2. / 3, 1}},
		{hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"a", "b", "c", "d", "e"}}, []string{"a"}, []float64{0, 2. / 5, 3. / 5, 1}},
		{hierarchy.Spec{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText}, []string{"a", "b"}, []float64{0, 1}},
		{hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
			{Label: "x", Children: []hierarchy.Node{{Label: "a"}, {Label: "b"}}}, {Label: "c"}, {Label: "d"},
		}}, []string{"a"}, []float64{0, 2. / 4, 1}},
	} {
		h := build(t, row.spec)
		cells := encode(h, row.texts...)
		l := hierarchy.LevelsOf(h, cells)
		if l.Height() != len(row.want)-1 {
			t.Errorf("%+v: height %d", row.spec, l.Height())
			continue
		}
		for level, want := range row.want {
			if got := l.Share(cells[0], level); math.Abs(got-want) > 1e-12 {
				t.Errorf("%+v: share %v at level %d, %v expected", row.spec, got, level, want)
			}
		}
	}
}
