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

// TestDivergenceByHand: weights 3, 8, 14, 27, 33 and NULL are six values, each
// with one record; sparrow, eagle, bat, horse and cow are five.
func TestDivergenceByHand(t *testing.T) {
	t.Parallel()
	table := zoo(t)
	singles := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0}, {1}, {2}, {3}, {4}, {5}}}
	pairs := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}, {4, 5}}}
	part := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}}, Withheld: []int32{4, 5}}
	levels := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3, 4, 5}}, Levels: [][]uint8{{1, 2}, {3, 3}}}
	sixth := 1.0 / 6
	for _, row := range []struct {
		name    string
		release *anonymizer.Release
		over    []int
		want    float64
	}{
		{"nothing generalized", singles, []int{0, 1}, 0},
		{"no attributes", pairs, nil, 0},
		// {3,8}: 1 each. {14,27}: 1 each. {33, NULL}: hidden, 2/6 on each of six.
		{"weight", pairs, []int{0}, 4*sixth*math.Log(1/(1+1.0/3)) + 2*sixth*math.Log(1/(1.0/3))},
		// birds: 1 each of two; bat and horse: *, 2/5 on each of five; horse, cow: 1 each.
		// The original has 2 horses.
		{"animal", pairs, []int{1}, sixth * (3*math.Log(1/1.4) + math.Log(1/0.4) + 2*math.Log(2/1.4))},
		// The same for weight, as 4 and 5 are spread over everything when withheld.
		{"weight, withheld", part, []int{0}, 4*sixth*math.Log(1/(1+1.0/3)) + 2*sixth*math.Log(1/(1.0/3))},
		// Boxes: 2x2 of 2 records, 2x5 (14 and 27 with any) of 2, 6x2 (any with horse or cow) of 2.
		{"both", pairs, []int{0, 1}, sixth * (2*math.Log(1/0.5) + math.Log(1/0.2) + math.Log(1/(0.2+1.0/6)) + 2*math.Log(6))},
		// Level 1 of weight: 3 and 8; level 2 of animal: three leaves of flying.
		{"levels", levels, []int{1}, sixth * (3*math.Log(1/(2.0/3+0.8)) + 2*math.Log(2/0.8) + math.Log(1/0.8))},
	} {
		if got := metric.Divergence(table, row.release, row.over); math.Abs(got-row.want) > 1e-12 {
			t.Errorf("%s: %v, %v expected", row.name, got, row.want)
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

// TestDivergenceByBruteForce compares with a walk over all classes for each
// record.
func TestDivergenceByBruteForce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		table, r := brutal(t, seed, 10+int(seed), 3)
		all := slices.Concat(r.Classes, []anonymizer.EquivalenceClass{})
		for _, over := range [][]int{{0}, {1}, {2, 0}, {0, 1, 2}} {
			want, n := 0.0, float64(table.Len())
			for i := range table.Len() {
				same, q := 0, 0.0
				for j := range table.Len() {
					if !slices.ContainsFunc(over, func(a int) bool { return table.Cells(a)[i] != table.Cells(a)[j] }) {
						same++
					}
				}
				for _, class := range all {
					if inside, size := fits(table, class, func(a int) hierarchy.Cell { return table.Cells(a)[i] }, over); inside {
						q += float64(len(class)) / float64(size)
					}
				}
				combinations := 1
				for _, a := range over {
					values := map[float64]bool{}
					for _, c := range table.Cells(a) {
						values[c] = true
					}
					combinations *= len(values)
				}
				q += float64(len(r.Withheld)) / float64(combinations)
				want += math.Log(float64(same)/q) / n
			}
			if got := metric.Divergence(table, r, over); !near(got, want) {
				t.Fatalf("seed %d over %v: %v, %v expected", seed, over, got, want)
			}
		}
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	table, r := brutal(t, 4, 60, 4)
	singles := &anonymizer.Release{}
	for i := range table.Len() {
		singles.Classes = append(singles.Classes, anonymizer.EquivalenceClass{int32(i)})
	}
	q := metric.Queries{Seed: 3, Count: 200, Attributes: 2, Selectivity: 0.2}
	if e := metric.QueryError(table, singles, q); e != 0 {
		t.Errorf("an error of %v without generalization", e)
	}
	one, again := metric.QueryErrors(table, r, q), metric.QueryErrors(table, r, q)
	if !slices.Equal(one, again) || len(one) != 200 {
		t.Error("the same queries are not asked again")
	}
	whole := &anonymizer.Release{Withheld: make([]int32, table.Len())}
	for i, e := range metric.QueryErrors(table, whole, q) {
		if e != 0 && e != 1 {
			t.Fatalf("query %d finds something although all is withheld: %v", i, e)
		}
	}
	if pairs := metric.QueryError(table, r, q); pairs <= 0 || pairs > 5 {
		t.Errorf("an error of %v", pairs)
	}
	if e := metric.QueryError(table, r, metric.Queries{Count: 1, Selectivity: 1, Attributes: 1, Seed: 5}); e < 0 || e > 1 {
		t.Errorf("an error of %v by defaults", e)
	}
}

// TestQueryByHand: one numeric attribute 0..9, one class of everything; a query
// of half of the values finds half of the records by estimate.
func TestQueryByHand(t *testing.T) {
	t.Parallel()
	a := workload.Attribute("a", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	cells := []hierarchy.Cell{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for range 10 {
		cells = append(cells, 0)
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{a}, [][]hierarchy.Cell{cells}, nil)
	if err != nil {
		t.Fatal(err)
	}
	class := make(anonymizer.EquivalenceClass, len(cells))
	for i := range class {
		class[i] = int32(i)
	}
	r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{class}}
	errs := metric.QueryErrors(table, r, metric.Queries{Count: 100, Attributes: 1, Selectivity: 0.5})
	seen := map[bool]bool{}
	for _, e := range errs {
		// Half of 20 is 10. With 0 in the range there are 15, else 5.
		if !near(e, 5.0/15) && !near(e, 5.0/5) {
			t.Fatalf("an error of %v", e)
		}
		seen[near(e, 1)] = true
	}
	if len(seen) != 2 {
		t.Error("all queries are alike")
	}
}

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
		"GCP": metric.GCP, "taxonomy GCP": metric.TaxonomyGCP, "Prec": metric.Precision,
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
		"divergence/1":  func() { metric.Divergence(table, r, []int{0}) },
		"divergence/2":  func() { metric.Divergence(table, r, []int{0, 1}) },
		"divergence/3":  func() { metric.Divergence(table, r, []int{0, 1, 4}) },
		"divergence/30": func() { metric.Divergence(table, r, []int{2, 3, 5}) },
		"queries":       func() { metric.QueryError(table, r, metric.Queries{Count: 100}) },
		"prosecutor":    func() { metric.Prosecutor(table, r) },
	} {
		b.Run(name+"/rows=1000000", func(b *testing.B) {
			for b.Loop() {
				measure()
			}
		})
	}
}
