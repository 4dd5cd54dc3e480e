package metric_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// sample is worked by hand: ages 20 to 60, of which one is missing, and a flat
// category.
//
//	record  age  color  label
//	0       20   red    1
//	1       30   red    1
//	2       60   green  2
//	3       40   blue   1
//	4       40   blue   2
//	5       NULL blue   3
func sample(t *testing.T) *anonymizer.Table {
	t.Helper()
	age := workload.Attribute("age", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	color := workload.Attribute("color", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText})
	var colors []hierarchy.Cell
	for _, c := range []string{"red", "red", "green", "blue", "blue", "blue"} {
		colors = append(colors, color.Hierarchy.Encode(c))
	}
	table, err := anonymizer.NewTable(
		[]anonymizer.Attribute{age, color},
		[][]hierarchy.Cell{{20, 30, 60, 40, 40, hierarchy.OffScale()}, colors},
		[][]uint32{{1, 1, 2, 1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestByHand(t *testing.T) {
	t.Parallel()
	table := sample(t)
	for _, row := range []struct {
		name    string
		release anonymizer.Release
		dm      int64
		cm      int
		average float64
		largest int
		ncp     []float64
		gcp     float64
	}{
		{
			// ages 40/40 = 1, colors red to green 1/2; then age hidden 1, color 0
			name:    "two classes",
			release: anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1, 2}, {3, 4, 5}}},
			dm:      18, cm: 1 + 2, average: 3, largest: 3,
			ncp: []float64{0.75, 0.5}, gcp: 0.625,
		},
		{
			// ages 10/40, colors 0; nothing; age of one missing record 0
			name:    "small classes, one withheld",
			release: anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {3, 4}, {5}}, Withheld: []int32{2}},
			dm:      4 + 4 + 1 + 6, cm: 0 + 1 + 0 + 1, average: 5.0 / 3, largest: 2,
			ncp: []float64{0.125, 0, 0}, gcp: (2*0.125 + 1) / 6,
		},
		{
			name:    "all withheld",
			release: anonymizer.Release{Withheld: []int32{0, 1, 2, 3, 4, 5}},
			dm:      36, cm: 6, gcp: 1,
		},
	} {
		r := &row.release
		if dm := metric.Discernibility(r); dm != row.dm {
			t.Errorf("%s: DM %d, %d expected", row.name, dm, row.dm)
		}
		if cm := metric.Classification(table, r, 0); cm != row.cm {
			t.Errorf("%s: CM %d, %d expected", row.name, cm, row.cm)
		}
		if metric.AverageClassSize(r) != row.average || metric.LargestClass(r) != row.largest || metric.Classes(r) != len(r.Classes) {
			t.Errorf("%s: average %v, largest %d", row.name, metric.AverageClassSize(r), metric.LargestClass(r))
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
		if ncp := metric.NCP(table, r); !slices.EqualFunc(ncp, row.ncp, near) {
			t.Errorf("%s: NCP %v, %v expected", row.name, ncp, row.ncp)
		}
		if gcp := metric.GCP(table, r); !near(gcp, row.gcp) {
			t.Errorf("%s: GCP %v, %v expected", row.name, gcp, row.gcp)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	t.Parallel()
	table, err := anonymizer.NewTable(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &anonymizer.Release{}
	if metric.GCP(table, r) != 0 || metric.Discernibility(r) != 0 || metric.AverageClassSize(r) != 0 || metric.LargestClass(r) != 0 {
		t.Error("nothing has a measure other than 0")
	}
}
