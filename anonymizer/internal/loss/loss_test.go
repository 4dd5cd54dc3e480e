package loss_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/loss"
	"github.com/kproxy/kproxy/anonymizer/metric"
)

var tree = []hierarchy.Node{
	{Label: "north", Children: []hierarchy.Node{{Label: "a"}, {Label: "b"}, {Label: "c"}}},
	{Label: "south", Children: []hierarchy.Node{{Label: "far", Children: []hierarchy.Node{{Label: "d"}, {Label: "e"}}}, {Label: "f"}}},
	{Label: "g"},
}

var kinds = map[string]struct {
	spec  hierarchy.Spec
	value func(*rand.Rand) string
}{
	"numeric":   {hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(40)) }},
	"many":      {hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(100_000)) }},
	"date":      {hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, func(r *rand.Rand) string { return fmt.Sprintf("2020-01-%02d", 1+r.IntN(30)) }},
	"steps":     {hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{5, 20}, Origin: 3}, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(90)) }},
	"fractions": {hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{0.5, 2}}, func(r *rand.Rand) string { return fmt.Sprint(float64(r.IntN(1000)) / 100) }},
	"units": {hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Month, hierarchy.Year}}, func(r *rand.Rand) string {
		return fmt.Sprintf("20%02d-%02d-%02d", 15+r.IntN(9), 1+r.IntN(12), 1+r.IntN(28))
	}},
	"moments": {hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Month}}, func(r *rand.Rand) string {
		return fmt.Sprintf("2024-%02d-%02d %02d:00:00", 1+r.IntN(3), 1+r.IntN(28), r.IntN(24))
	}},
	"ordered":     {hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"a", "b", "c", "d"}}, func(r *rand.Rand) string { return string(rune('a' + r.IntN(4))) }},
	"categorical": {hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: tree}, func(r *rand.Rand) string { return string(rune('a' + r.IntN(7))) }},
	"prefix":      {hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}, func(r *rand.Rand) string { return fmt.Sprintf("%03d", r.IntN(200)) }},
	"suppression": {hierarchy.Spec{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText}, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(9)) }},
}

// TestOfClasses compares what the ends of classes say with what is published of all their members.
func TestOfClasses(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		random := rand.New(rand.NewPCG(3, 9))
		h, err := hierarchy.New(kind.spec)
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]hierarchy.Cell, 3000)
		for i := range cells {
			if cells[i] = h.Encode(kind.value(random)); random.IntN(40) == 0 {
				cells[i] = hierarchy.OffScale()
			}
		}
		table, err := anonymizer.NewTable([]anonymizer.Attribute{{Name: name, Hierarchy: h}}, [][]hierarchy.Cell{cells}, nil)
		if err != nil {
			t.Fatal(err)
		}
		scales, rows := loss.Scales(context.Background(), table)
		for range 300 {
			class := make(anonymizer.EquivalenceClass, 1+random.IntN(3))
			for i := range class {
				class[i] = int32(random.IntN(len(cells)))
			}
			low, high := rows[class[0]], rows[class[0]]
			for _, i := range class {
				low, high = min(low, rows[i]), max(high, rows[i])
			}
			r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{class}}
			measure := metric.PublishedLoss
			if name == "ordered" { // PublishedLoss counts values, Coverage measures the distance
				if measure = metric.GCP; scales[0].Hidden(high) {
					continue
				}
			}
			want := measure(table, r) * float64(table.Len()) / float64(len(class))
			if got := float64(scales[0].Of(low, high)); math.Abs(got-want) > 1e-5 {
				t.Fatalf("%s: class of ranks %d to %d loses %v, published %v", name, low, high, got, want)
			}
		}
	}
}
