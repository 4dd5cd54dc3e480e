package metric_test

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
)

// TestParts: a table in parts of different widths loses what it does as a whole
// when both are divided into the same classes.
func TestParts(t *testing.T) {
	t.Parallel()
	table, r := brutal(t, 3, 40, 3)
	attributes := table.Attributes()
	part := func(over ...int) anonymizer.Part {
		p := anonymizer.Part{Attributes: over, Release: r}
		var list []anonymizer.Attribute
		var cells [][]hierarchy.Cell
		for _, a := range over {
			list, cells = append(list, attributes[a]), append(cells, table.Cells(a))
		}
		var err error
		if p.Table, err = anonymizer.NewTable(list, cells, nil); err != nil {
			t.Fatal(err)
		}
		return p
	}
	parts := []anonymizer.Part{part(0, 2), part(1)}
	for name, measure := range map[string]func(*anonymizer.Table, *anonymizer.Release) float64{
		"GCP": metric.GCP, "taxonomy GCP": metric.TaxonomyGCP, "Prec": metric.Precision, "published": metric.PublishedLoss,
	} {
		if whole, split := measure(table, r), metric.MeanOfParts(parts, measure); !near(whole, split) {
			t.Errorf("%s: %v of the whole, %v of its parts", name, whole, split)
		}
	}
	pairs := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}}}
	parts[0].Release, parts[1].Release = pairs, &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1, 2, 3}}}
	highest := metric.HighestOfParts(parts, func(t *anonymizer.Table, r *anonymizer.Release) float64 { return metric.Prosecutor(t, r).Highest })
	if highest != 0.5 || metric.MeanOfParts(nil, metric.GCP) != 0 {
		t.Errorf("the highest risk is %v", highest)
	}
}

// TestJoint: records are alike in everything where they are alike in each part.
func TestJoint(t *testing.T) {
	t.Parallel()
	classes := func(withheld []int32, list ...anonymizer.EquivalenceClass) anonymizer.Part {
		return anonymizer.Part{Release: &anonymizer.Release{Classes: list, Withheld: withheld}}
	}
	for _, row := range []struct {
		parts []anonymizer.Part
		want  anonymizer.Release
	}{
		{nil, anonymizer.Release{}},
		{
			[]anonymizer.Part{classes(nil, []int32{5, 0, 1}, []int32{2, 3, 4})},
			anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1, 5}, {2, 3, 4}}},
		},
		{
			[]anonymizer.Part{classes(nil, []int32{0, 1, 2}, []int32{3, 4, 5}), classes(nil, []int32{5, 3, 1, 0}, []int32{2, 4})},
			anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2}, {3, 5}, {4}}},
		},
		{
			[]anonymizer.Part{classes([]int32{5}, []int32{0, 1, 2}, []int32{3, 4}), classes([]int32{0}, []int32{1, 2, 3, 4, 5})},
			anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{1, 2}, {3, 4}}, Withheld: []int32{0, 5}},
		},
	} {
		got := metric.Joint(row.parts)
		if !slices.EqualFunc(got.Classes, row.want.Classes, slices.Equal) || !slices.Equal(got.Withheld, row.want.Withheld) {
			t.Errorf("%v, %v expected", got, row.want)
		}
	}
}
