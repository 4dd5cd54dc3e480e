package metric_test

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestMerged: what is published alike is one group, which is larger, has a higher DM and
// is at less risk.
func TestMerged(t *testing.T) {
	t.Parallel()
	integer := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	table := column(t, integer, "1", "4", "1", "4", "2", "3", workload.Null, "1", workload.Null)
	r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {4, 5}, {2, 3}, {6, 7}}, Withheld: []int32{8}}
	before := metric.PublishedLoss(table, r)
	merged := metric.Merged(table, r, nil)
	want := []anonymizer.EquivalenceClass{{0, 1, 2, 3}, {4, 5}, {6, 7}}
	if !slices.EqualFunc(merged.Classes, want, slices.Equal) || !slices.Equal(merged.Withheld, r.Withheld) {
		t.Errorf("%+v", merged)
	}
	if len(r.Classes[0]) != 2 || !near(metric.PublishedLoss(table, merged), before) {
		t.Errorf("the release became %+v", r)
	}
	if metric.Discernibility(r) != 4*4+9 || metric.Discernibility(merged) != 16+4+4+9 {
		t.Errorf("DM %d, merged %d", metric.Discernibility(r), metric.Discernibility(merged))
	}
	// Both classes have 2 as their midpoint, and no ranges are published.
	values := metric.Merged(table, r, func(_ int, g hierarchy.Generalization) string { return g.Value })
	if len(values.Classes) != 2 || len(values.Classes[0]) != 6 {
		t.Errorf("%+v of values alone", values)
	}
}

// TestMergedTellsAttributesApart, and what is hidden from what is called so.
func TestMergedTellsAttributesApart(t *testing.T) {
	t.Parallel()
	flat := workload.Attribute("a", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText})
	encode := func(texts ...string) (cells []hierarchy.Cell) {
		for _, text := range texts {
			cells = append(cells, workload.Encode(flat.Hierarchy, text))
		}
		return cells
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{flat, flat},
		[][]hierarchy.Cell{encode("x", "x1", "hidden", workload.Null), encode("1y", "y", "a", "a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if merged := metric.Merged(table, alone(table), nil); len(merged.Classes) != 4 {
		t.Errorf("%+v", merged)
	}
}
