package metric_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// column is a table of one attribute.
func column(t *testing.T, spec hierarchy.Spec, texts ...string) *anonymizer.Table {
	t.Helper()
	a := workload.Attribute("a", spec)
	cells := make([]hierarchy.Cell, len(texts))
	for i, text := range texts {
		cells[i] = workload.Encode(a.Hierarchy, text)
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{a}, [][]hierarchy.Cell{cells}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestPublishedLossByHand publishes the first two values of a column together,
// and each other one alone.
func TestPublishedLossByHand(t *testing.T) {
	t.Parallel()
	of := func(kind hierarchy.Kind, domain hierarchy.Domain) hierarchy.Spec {
		return hierarchy.Spec{Kind: kind, Domain: domain}
	}
	integer, text := of(hierarchy.Numeric, hierarchy.DomainInteger), of(hierarchy.Categorical, hierarchy.DomainText)
	steps, keep, order, units, jobs := integer, of(hierarchy.Prefix, hierarchy.DomainText), of(hierarchy.Ordered, hierarchy.DomainText), of(hierarchy.Date, hierarchy.DomainDate), text
	steps.Steps = []float64{10, 20}
	keep.Keep = []int{2, 1}
	order.Order = []string{"XS", "S", "M", "L", "XL"}
	units.Units = []hierarchy.Unit{hierarchy.Month}
	jobs.Taxonomy = []hierarchy.Node{
		{Label: "health", Children: []hierarchy.Node{{Label: "nurse"}, {Label: "doctor"}, {Label: "midwife"}}},
		{Label: "food", Children: []hierarchy.Node{{Label: "cook"}, {Label: "baker"}}},
	}
	for _, row := range []struct {
		name   string
		spec   hierarchy.Spec
		texts  []string
		others float64 // what the values that are published alone lose
		want   float64
	}{
		{"numbers", integer, []string{"10", "15", "20", "30"}, 0, 5.0 / 20},
		{"equal numbers", integer, []string{"10", "10", "30"}, 0, 0},
		{"one number", integer, []string{"10", "10"}, 0, 0},
		{"a number and NULL", integer, []string{"10", workload.Null, "30"}, 0, 1},
		{"NULLs", integer, []string{workload.Null, workload.Null, "30"}, 0, 1},
		{"a step", steps, []string{"1", "2", "31"}, 1, 8.0 / 30},
		{"a step beyond the values", steps, []string{"1", "2", "6"}, 1, 1},
		{"no step", steps, []string{"1", "31"}, 0, 1},
		{"a month", units, []string{"2024-01-10", "2024-01-20", "2024-03-10"}, 1, 21.0 / 60},
		{"no month", units, []string{"2024-01-10", "2024-03-10"}, 0, 1},
		{"neighbors of a flat taxonomy", text, []string{"nurse", "cook", "a", "b", "c", "d", "e", "f", "g", "h"}, 0, 1},
		{"equal labels", text, []string{"nurse", "nurse", "cook"}, 0, 0},
		{"a node of which one value is not there", jobs, []string{"nurse", "doctor", "cook", "baker", "unlisted"}, 0, 2.0 / 5},
		{"the root", jobs, []string{"doctor", "cook", "baker"}, 0, 1},
		{"a node that is a value", jobs, []string{"health", "doctor", "nurse", "cook"}, 0, 3.0 / 4},
		{"a prefix", of(hierarchy.Prefix, hierarchy.DomainText), []string{"1201", "1202", "1291", "3000"}, 0, 2.0 / 4},
		{"no prefix", of(hierarchy.Prefix, hierarchy.DomainText), []string{"1201", "3000", "4000"}, 0, 1},
		{"a shortened code", keep, []string{"1201", "1202", "1291", "3000"}, 3.0 / 4, 3.0 / 4},
		{"too short a prefix", keep, []string{"1201", "2202", "3000"}, 0, 1},
		{"a range", order, []string{"S", "L", "M", "XL"}, 0, 3.0 / 4},
		{"a range without some values", order, []string{"XS", "L", "XL"}, 0, 2.0 / 3},
		{"suppression", of(hierarchy.Suppression, hierarchy.DomainText), []string{"a", "b", "c"}, 0, 1},
		{"no suppression", of(hierarchy.Suppression, hierarchy.DomainText), []string{"a", "a", "c"}, 0, 0},
	} {
		table := column(t, row.spec, row.texts...)
		loss := func(class ...int32) float64 {
			rest := int32(table.Len() - len(class))
			r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{class}}
			for i := range int32(table.Len()) {
				if !slices.Contains(class, i) {
					r.Withheld = append(r.Withheld, i)
				}
			}
			return (metric.PublishedLoss(table, r)*float64(table.Len()) - float64(rest)) / float64(len(class))
		}
		if got := loss(0, 1); !near(got, row.want) {
			t.Errorf("%s: %v, %v expected", row.name, got, row.want)
		}
		if len(row.texts) > 2 && !strings.HasSuffix(row.name, "beyond the values") {
			if got := loss(2); row.others == 0 && !near(got, 0) || row.others > 0 && got <= 0 {
				t.Errorf("%s: %v of the value alone", row.name, got)
			}
		}
	}
}

// TestPublishedLossReadsLabels compares with what somebody makes of the published
// labels who has the texts of the table; levels change nothing.
func TestPublishedLossReadsLabels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 3))
		d := workload.Generate(seed, workload.Shape{Records: 60, Attributes: 12, Distinct: 20, Nulls: float64(seed%3) / 20})
		table := d.Table()
		r := &anonymizer.Release{}
		for order := random.Perm(table.Len()); len(order) > 3; {
			size := 1 + random.IntN(3)
			class := make(anonymizer.EquivalenceClass, size)
			for i, record := range order[:size] {
				class[i] = int32(record)
			}
			if random.IntN(9) == 0 {
				r.Withheld = append(r.Withheld, class...)
			} else {
				r.Classes = append(r.Classes, class)
			}
			order = order[size:]
			if len(order) <= 3 {
				for _, record := range order {
					r.Withheld = append(r.Withheld, int32(record))
				}
			}
		}
		want := float64(len(r.Withheld) * len(d.Specs))
		for _, class := range r.Classes {
			for a, published := range table.Generalize(class) {
				loss := readLoss(d, a, published)
				want += loss * float64(len(class))
				if blank := published.Hidden || published.Value == "*"; blank && loss != 1 {
					t.Errorf("%v: a loss of %v where nothing is published", d.Specs[a].Kind, loss)
				}
			}
		}
		want /= float64(table.Len() * len(d.Specs))
		if got := metric.PublishedLoss(table, r); !near(got, want) {
			t.Errorf("seed %d: %v, %v expected", seed, got, want)
		}
		r.Levels = make([][]uint8, len(r.Classes))
		for e := range r.Levels {
			r.Levels[e] = slices.Repeat([]uint8{1}, len(d.Specs))
		}
		if got := metric.PublishedLoss(table, r); !near(got, want) {
			t.Errorf("seed %d: %v with levels", seed, got)
		}
	}
}

// readLoss is the loss of a published value.
func readLoss(d *workload.Data, a int, g hierarchy.Generalization) float64 {
	spec, h := d.Specs[a], d.Attributes[a].Hierarchy
	if g.Hidden || g.Value == "*" {
		return 1
	}
	var texts []string
	for _, text := range d.Raw[a] {
		if text != workload.Null {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	covered := func(covers func(text string) bool) float64 {
		count := 0
		for _, text := range texts {
			if covers(text) {
				count++
			}
		}
		if count <= 1 {
			return 0
		}
		return float64(count) / float64(len(texts))
	}
	switch spec.Kind {
	case hierarchy.Numeric, hierarchy.Date:
		cells := make([]float64, len(texts))
		for i, text := range texts {
			cells[i] = h.Encode(text)
		}
		least, greatest := slices.Min(cells), slices.Max(cells)
		return (min(greatest, h.Encode(g.Upper)) - max(least, h.Encode(g.Lower))) / (greatest - least)
	case hierarchy.Ordered:
		low, high, isRange := strings.Cut(g.Value, "..")
		if !isRange {
			return 0
		}
		rank := func(text string) int { return slices.Index(spec.Order, text) }
		return covered(func(text string) bool { return rank(low) <= rank(text) && rank(text) <= rank(high) })
	case hierarchy.Prefix:
		return covered(func(text string) bool { return strings.HasPrefix(text, strings.TrimRight(g.Value, "*")) })
	default:
		return covered(func(text string) bool { return below(spec.Taxonomy, g.Value, text, false) || text == g.Value })
	}
}

// below reports whether the text is a node below, or equal to, that of the label.
func below(nodes []hierarchy.Node, label, text string, within bool) bool {
	return slices.ContainsFunc(nodes, func(n hierarchy.Node) bool {
		inside := within || n.Label == label
		return inside && n.Label == text || below(n.Children, label, text, inside)
	})
}
