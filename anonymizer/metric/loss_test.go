package metric_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// zoo is worked by hand: weights in intervals of 10 and 20, and a taxonomy of
// height 3 with five leaves.
//
//	record  weight  animal
//	0       3       sparrow  (birds, flying, *)
//	1       8       eagle    (birds, flying, *)
//	2       14      bat      (flying, *)
//	3       27      horse    (walking, *)
//	4       33      horse
//	5       NULL    cow      (walking, *)
func zoo(t testing.TB) *anonymizer.Table {
	t.Helper()
	weight := workload.Attribute("weight", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{10, 20}})
	animal := workload.Attribute("animal", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "flying", Children: []hierarchy.Node{
			{Label: "birds", Children: []hierarchy.Node{{Label: "sparrow"}, {Label: "eagle"}}},
			{Label: "bat"},
		}},
		{Label: "walking", Children: []hierarchy.Node{{Label: "horse"}, {Label: "cow"}}},
	}})
	var weights, animals []hierarchy.Cell
	for _, text := range []string{"3", "8", "14", "27", "33"} {
		weights = append(weights, weight.Hierarchy.Encode(text))
	}
	for _, text := range []string{"sparrow", "eagle", "bat", "horse", "horse", "cow"} {
		animals = append(animals, animal.Hierarchy.Encode(text))
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{weight, animal},
		[][]hierarchy.Cell{append(weights, hierarchy.OffScale()), animals}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestLossByHand(t *testing.T) {
	t.Parallel()
	table := zoo(t)
	classes := []anonymizer.EquivalenceClass{{0, 1}, {2, 3}, {4, 5}}
	for _, row := range []struct {
		name      string
		release   anonymizer.Release
		precision float64
		ncp       []float64
	}{
		{
			// Heights of 3 each. Weight: level 1, 3 (14 and 27 lie in different twenties),
			// 3 (hidden). Animal: 1; * for bat and horse, 2 above each; 1. Weights
			// of 30: 5, 13, all; animals of 5: 2, all, 2.
			name:      "extents",
			release:   anonymizer.Release{Classes: classes},
			precision: 1 - (2*(1+1)+2*(3+2)+2*(3+1))/3.0/12,
			ncp:       []float64{(5.0/30 + 2.0/5) / 2, (13.0/30 + 1) / 2, (1 + 2.0/5) / 2},
		},
		{
			// Sparrow and bat have flying in common, 2 and 1 levels up.
			name:      "different depths",
			release:   anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 2}}, Withheld: []int32{1, 3, 4, 5}},
			precision: 1 - (2*2+(2+1))/3.0/12 - 4*2/12.0,
			ncp:       []float64{(11.0/30 + 3.0/5) / 2},
		},
		{
			name:      "one class and the rest withheld",
			release:   anonymizer.Release{Classes: classes[:1], Withheld: []int32{2, 3, 4, 5}},
			precision: 1 - (2*(1+1)/3.0+4*2)/12,
			ncp:       []float64{(5.0/30 + 2.0/5) / 2},
		},
		{
			// Levels 1 of weight and 2 of animal; then the top of both. Flying
			// has 3 of 5 leaves; 0 to 9 is 3 to 9 of a domain of 3 to 33.
			name: "levels",
			release: anonymizer.Release{
				Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3, 4, 5}}, Levels: [][]uint8{{1, 2}, {3, 3}},
			},
			precision: 1 - (2*(1+2)/3.0+4*2)/12,
			ncp:       []float64{(6.0/30 + 3.0/5) / 2, 1},
		},
	} {
		r := &row.release
		if p := metric.Precision(table, r); !near(p, row.precision) {
			t.Errorf("%s: precision %v, %v expected", row.name, p, row.precision)
		}
		ncp := metric.TaxonomyNCP(table, r)
		if !slices.EqualFunc(ncp, row.ncp, near) {
			t.Errorf("%s: NCP %v, %v expected", row.name, ncp, row.ncp)
		}
		gcp := float64(len(r.Withheld)) / 6
		for e, penalty := range row.ncp {
			gcp += penalty * float64(len(r.Classes[e])) / 6
		}
		if got := metric.TaxonomyGCP(table, r); !near(got, gcp) {
			t.Errorf("%s: GCP %v, %v expected", row.name, got, gcp)
		}
		if r.Levels != nil && !slices.EqualFunc(metric.NCP(table, r), row.ncp, near) {
			t.Errorf("%s: NCP on axes %v, %v expected", row.name, metric.NCP(table, r), row.ncp)
		}
	}
}

// brutal is a table of small whole numbers and flat categories, whose boxes can
// be walked through.
func brutal(t testing.TB, seed uint64, records, attributes int) (*anonymizer.Table, *anonymizer.Release) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 5))
	list, cells := make([]anonymizer.Attribute, attributes), make([][]hierarchy.Cell, attributes)
	for a := range list {
		kind := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
		if a%2 == 1 {
			kind = hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
		}
		list[a] = workload.Attribute(fmt.Sprint(a), kind)
		for range records {
			cells[a] = append(cells[a], list[a].Hierarchy.Encode(fmt.Sprint(random.IntN(7))))
		}
	}
	table, err := anonymizer.NewTable(list, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &anonymizer.Release{}
	for i, record := range random.Perm(records) {
		switch {
		case seed%3 == 0 && i < 4:
			r.Withheld = append(r.Withheld, int32(record))
		case i%3 == 0 || len(r.Classes) == 0:
			r.Classes = append(r.Classes, anonymizer.EquivalenceClass{int32(record)})
		default:
			last := len(r.Classes) - 1
			r.Classes[last] = append(r.Classes[last], int32(record))
		}
	}
	return table, r
}

// fits reports whether the cells are in the box of the class, and among how many
// combinations of the table's values.
func fits(t *anonymizer.Table, class anonymizer.EquivalenceClass, of func(a int) hierarchy.Cell, over []int) (inside bool, size int) {
	inside, size = true, 1
	for _, a := range over {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range class {
			low, high = min(low, t.Cells(a)[i]), max(high, t.Cells(a)[i])
		}
		if a%2 == 1 && low < high {
			low, high = math.Inf(-1), math.Inf(1) // the root of a flat taxonomy
		}
		values := map[float64]bool{}
		for _, c := range t.Cells(a) {
			if low <= c && c <= high {
				values[c] = true
			}
		}
		size *= len(values)
		inside = inside && low <= of(a) && of(a) <= high
	}
	return inside, size
}

func BenchmarkMetrics(b *testing.B) {
	const rows = 1_000_000
	d := workload.Generate(1, workload.Shape{Records: rows, Attributes: 8, Distinct: 500})
	table := d.Table()
	order := make([]int32, rows)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		for _, column := range []int{0, 4, 1} {
			if d.Cells[column][a] != d.Cells[column][b] {
				if d.Cells[column][a] < d.Cells[column][b] {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	r := &anonymizer.Release{}
	for from := 0; from < rows; from += 5 {
		r.Classes = append(r.Classes, anonymizer.EquivalenceClass(order[from:from+5]))
	}
	for name, measure := range map[string]func(){
		"precision":     func() { metric.Precision(table, r) },
		"taxonomy":      func() { metric.TaxonomyGCP(table, r) },
		"GCP":           func() { metric.GCP(table, r) },
		"published":     func() { metric.PublishedLoss(table, r) },
		"divergence/1":  func() { metric.Divergence(table, r, []int{0}) },
		"divergence/2":  func() { metric.Divergence(table, r, []int{0, 1}) },
		"divergence/3":  func() { metric.Divergence(table, r, []int{0, 1, 4}) },
		"divergence/n":  func() { metric.NeighborDivergence(table, r) },
		"divergence/30": func() { metric.Divergence(table, r, []int{2, 3, 5}) },
		"queries":       func() { metric.QueryError(table, r, metric.Queries{}) },
		"prosecutor":    func() { metric.Prosecutor(table, r) },
	} {
		b.Run(name+"/rows=1000000", func(b *testing.B) {
			for b.Loop() {
				measure()
			}
		})
	}
}
