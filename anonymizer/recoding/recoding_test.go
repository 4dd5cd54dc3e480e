package recoding

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

var everyMethod = []anonymizer.Method{
	Datafly{}, Classfly{}, ClassflyPlus{Naive}, ClassflyPlus{Complete}, ClassflyPlus{Partial}, Lattice{},
}

func anonymize(t testing.TB, m anonymizer.Method, table *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) *anonymizer.Release {
	t.Helper()
	r, err := m.Anonymize(context.Background(), table, c, o)
	if err != nil {
		t.Fatalf("%s: %v", m.Name(), err)
	}
	return r
}

// levelsOf gives each record's levels, nil for a withheld one.
func levelsOf(table *anonymizer.Table, r *anonymizer.Release) [][]uint8 {
	levels := make([][]uint8, table.Len())
	for e, class := range r.Classes {
		for _, i := range class {
			levels[i] = r.Levels[e]
		}
	}
	return levels
}

// sets are constraint sets over four attributes.
var sets = []privacy.ConstraintSet{
	{},
	{privacy.KAnonymity{K: 3}},
	{privacy.KAnonymity{K: 3, Over: []int{0, 1, 2}}, privacy.KAnonymity{K: 2, Over: []int{1, 2, 3}}},
	{privacy.KAnonymity{K: 5, Over: []int{0, 1}}, privacy.KAnonymity{K: 2, Over: []int{1, 2}}, privacy.KAnonymity{K: 4, Over: []int{2, 3}}},
	{privacy.KAnonymity{K: 2}, privacy.KAnonymity{K: 6, Over: []int{3}}, privacy.KAnonymity{K: 0, Over: []int{1, 3}}},
	{privacy.KAnonymity{K: 2, Over: []int{}}, privacy.KAnonymity{K: 3, Over: []int{3, 0, 1, 0, 2}}},
	{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2}},
	{privacy.DistinctDiversity{L: 3}},
	{privacy.KAnonymity{K: 3, Over: []int{0, 3}}, privacy.KAnonymity{K: 2, Over: []int{1, 2, 3}}, privacy.DistinctDiversity{L: 2}},
	{privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.6}},
	{privacy.AlphaBound{Alpha: 0.7}, privacy.KAnonymity{K: 3, Over: []int{0, 1}}, privacy.KAnonymity{K: 2, Over: []int{1, 2, 3}}},
	{privacy.KAnonymity{K: 200}},
}

// testData makes small tables of four attributes of various kinds.
func testData(seed uint64, records int) *workload.Data {
	d := workload.Generate(seed, workload.Shape{
		Records: records, Attributes: 4, Distinct: []int{2, 6, 40}[seed%3], Nulls: []float64{0, 0.1}[seed%2], Sensitive: 3,
	})
	if seed%4 == 3 {
		random := rand.New(rand.NewPCG(seed, 9))
		for range records {
			d.Subjects = append(d.Subjects, random.Uint32N(uint32(1+records/2)))
		}
	}
	return d
}

// TestReleases: every method, on every constraint set that it accepts, gives a
// release that holds for a reader of its labels, and gives it again.
func TestReleases(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		table := testData(seed, int(seed*7%90)).Table()
		for number, c := range sets {
			for _, m := range everyMethod {
				if m.Accepts(table.Attributes(), c) != nil {
					continue
				}
				o := anonymizer.Options{Seed: seed, Suppression: []float64{0, 0.15, 1}[seed%3]}
				r := anonymize(t, m, table, c, o)
				if err := anonymizertest.CheckLevels(table, r, c); err != nil {
					t.Fatalf("%s, seed %d, set %d: %v", m.Name(), seed, number, err)
				}
				if again := anonymize(t, m, table, c, o); !reflect.DeepEqual(r, again) {
					t.Fatalf("%s, seed %d, set %d: another release the second time", m.Name(), seed, number)
				}
				infeasible := c.Feasible(table.Population().Summary) != nil
				if infeasible && len(r.Withheld) != table.Len() {
					t.Fatalf("%s, seed %d, set %d: %d withheld though infeasible", m.Name(), seed, number, len(r.Withheld))
				}
				switch m.(type) {
				case Datafly, Lattice:
					if most := allowance(table, o); !infeasible && len(r.Withheld) > most {
						t.Fatalf("%s, seed %d, set %d: %d withheld, %d allowed", m.Name(), seed, number, len(r.Withheld), most)
					}
				}
			}
		}
	}
}

// TestReference: the levels of each record are those that the paper's loops give.
func TestReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		d := testData(seed, int(seed*5%60))
		for number, c := range sets {
			o := anonymizer.Options{Suppression: []float64{0, 0.1}[seed%2]}
			for m, want := range map[anonymizer.Method]func(r *reference) [][]uint8{
				Datafly{}:              func(r *reference) [][]uint8 { return r.datafly(c, allowance(d.Table(), o)) },
				Classfly{}:             func(r *reference) [][]uint8 { return r.naive(c) },
				ClassflyPlus{Naive}:    func(r *reference) [][]uint8 { return r.naive(c) },
				ClassflyPlus{Complete}: func(r *reference) [][]uint8 { return r.complete(c) },
				ClassflyPlus{Partial}:  func(r *reference) [][]uint8 { return r.partial(c) },
			} {
				if m.Accepts(d.Attributes, c) != nil {
					continue
				}
				got := levelsOf(d.Table(), anonymize(t, m, d.Table(), c, o))
				if expected := want(newReference(d)); !reflect.DeepEqual(got, expected) {
					t.Fatalf("%s, seed %d, set %d:\n%v, expected\n%v", m.Name(), seed, number, got, expected)
				}
			}
		}
	}
}

// TestCompleteIsPartial on the data of the paper's experiment.
func TestCompleteIsPartial(t *testing.T) {
	t.Parallel()
	for m := 2; m <= 8; m++ {
		for _, n := range []int{100, 1024, 4096} {
			d, c := workload.Census(uint64(m), n).Cover(workload.CensusConstraints(m))
			var releases [][]anonymizer.Part
			for _, v := range []Variant{Complete, Partial} {
				parts, err := anonymizer.Anonymize(context.Background(), ClassflyPlus{v}, d.Table(), c, anonymizer.Options{})
				if err != nil {
					t.Fatal(err)
				}
				releases = append(releases, parts)
			}
			for i, part := range releases[0] {
				if err := anonymizertest.CheckLevels(part.Table, part.Release, part.Constraints); err != nil {
					t.Errorf("%d constraints, %d records: %v", m, n, err)
				}
				if !reflect.DeepEqual(part.Release, releases[1][i].Release) {
					t.Errorf("%d constraints, %d records: complete and partial differ", m, n)
				}
			}
		}
	}
}

// figure1 is subtable T1 of figure 1 of Yang et al. 2006 with its constraints.
func figure1() (*workload.Data, privacy.ConstraintSet) {
	d := &workload.Data{
		Specs: []hierarchy.Spec{
			{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText},
			{Kind: hierarchy.Date, Domain: hierarchy.DomainDate},
			{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText},
		},
		Raw: [][]string{
			{"White", "White", "White", "White", "Black", "Black", "Black", "Black", "White"},
			{"1965-08-25", "1965-08-25", "1965-08-25", "1965-08-25", "1966-06-20", "1966-06-20", "1966-06-20", "1966-06-20", "1966-06-20"},
			{"02138", "02138", "02135", "02135", "02137", "02137", "02137", "02136", "02136"},
		},
	}
	for a, spec := range d.Specs {
		d.Attributes = append(d.Attributes, workload.Attribute([]string{"Race", "Birth", "ZIP"}[a], spec))
		cells := make([]hierarchy.Cell, len(d.Raw[a]))
		for i, text := range d.Raw[a] {
			cells[i] = d.Attributes[a].Hierarchy.Encode(text)
		}
		d.Cells = append(d.Cells, cells)
	}
	return d, privacy.ConstraintSet{
		privacy.KAnonymity{K: 3, Over: []int{0, 1}},
		privacy.KAnonymity{K: 2, Over: []int{1, 2}},
	}
}

// TestFigure2 has the tables Ta (naive) and Tb (complete and partial): t8 and t9
// are withheld, and ZIP is generalized for t1 to t4 in Ta alone.
func TestFigure2(t *testing.T) {
	t.Parallel()
	d, c := figure1()
	table := d.Table()
	zip := hierarchy.LevelsOf(d.Attributes[2].Hierarchy, d.Cells[2])
	tb := []string{"02138", "02138", "02135", "02135", "02137", "02137", "02137", "", ""}
	for _, row := range []struct {
		method anonymizer.Method
		zips   []string
	}{
		{ClassflyPlus{Naive}, []string{"0213*", "0213*", "0213*", "0213*", "02137", "02137", "02137", "", ""}},
		{ClassflyPlus{Complete}, tb},
		{ClassflyPlus{Partial}, tb},
	} {
		r := anonymize(t, row.method, table, c, anonymizer.Options{})
		if err := anonymizertest.CheckLevels(table, r, c); err != nil {
			t.Errorf("%s: %v", row.method.Name(), err)
		}
		if slices.Sort(r.Withheld); !slices.Equal(r.Withheld, []int32{7, 8}) {
			t.Errorf("%s: withheld %v", row.method.Name(), r.Withheld)
		}
		zips := make([]string, 9)
		for e, class := range r.Classes {
			if r.Levels[e][0] != 0 || r.Levels[e][1] != 0 {
				t.Errorf("%s: levels %v of Race and Birth", row.method.Name(), r.Levels[e][:2])
			}
			for _, i := range class {
				zips[i] = zip.Label(d.Cells[2][i], int(r.Levels[e][2])).Value
			}
		}
		if !slices.Equal(zips, row.zips) {
			t.Errorf("%s: ZIP %v, %v expected", row.method.Name(), zips, row.zips)
		}
	}
}

// TestDataflyMonotone: whatever K, Datafly takes the same steps and only ends
// later, so that no attribute's level falls when K rises.
func TestDataflyMonotone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		table := testData(4*seed, 80).Table()
		last := make([]uint8, 4)
		for k := 1; k <= 80; k += 3 {
			r := anonymize(t, Datafly{}, table, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, anonymizer.Options{})
			for a, level := range r.Levels[0] {
				if level < last[a] {
					t.Errorf("seed %d: level %d of attribute %d at k=%d, %d before", seed, level, a, k, last[a])
				}
			}
			last = r.Levels[0]
		}
	}
}

// TestTables without what a table usually has.
func TestTables(t *testing.T) {
	t.Parallel()
	sex := workload.Attribute("sex", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText})
	age := workload.Attribute("age", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	m, null := sex.Hierarchy.Encode("m"), hierarchy.OffScale()
	for _, row := range []struct {
		name       string
		attributes []anonymizer.Attribute
		cells      [][]hierarchy.Cell
		sensitive  [][]uint32
		k          int
		published  int
	}{
		{"nothing", nil, nil, nil, 2, 0},
		{"no records", []anonymizer.Attribute{sex}, [][]hierarchy.Cell{{}}, nil, 2, 0},
		{"one record, k=1", []anonymizer.Attribute{sex, age}, [][]hierarchy.Cell{{m}, {3}}, nil, 1, 1},
		{"one record, k=2", []anonymizer.Attribute{sex, age}, [][]hierarchy.Cell{{m}, {3}}, nil, 2, 0},
		{"no attributes", nil, nil, [][]uint32{{1, 2, 3}}, 3, 3},
		{"no attributes, too few", nil, nil, [][]uint32{{1, 2, 3}}, 4, 0},
		{"all NULL", []anonymizer.Attribute{sex, age}, [][]hierarchy.Cell{{null, null, null}, {null, null, null}}, nil, 3, 3},
		{"all equal", []anonymizer.Attribute{sex, age}, [][]hierarchy.Cell{{m, m, m}, {3, 3, 3}}, nil, 2, 3},
		{"some NULL", []anonymizer.Attribute{sex, age}, [][]hierarchy.Cell{{m, m, null, m}, {3, 3, null, 3}}, nil, 4, 4},
	} {
		table, err := anonymizer.NewTable(row.attributes, row.cells, row.sensitive)
		if err != nil {
			t.Fatal(err)
		}
		c := privacy.ConstraintSet{privacy.KAnonymity{K: row.k}}
		for _, method := range everyMethod {
			r := anonymize(t, method, table, c, anonymizer.Options{})
			if err := anonymizertest.CheckLevels(table, r, c); err != nil {
				t.Errorf("%s, %s: %v", row.name, method.Name(), err)
			}
			if published := table.Len() - len(r.Withheld); published != row.published {
				t.Errorf("%s, %s: %d published, %d expected", row.name, method.Name(), published, row.published)
			}
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	attributes := make([]anonymizer.Attribute, 3)
	for _, m := range everyMethod {
		_, ksAlone := m.(ClassflyPlus)
		for _, row := range []struct {
			c       privacy.ConstraintSet
			refused bool
		}{
			{privacy.ConstraintSet{}, false},
			{privacy.ConstraintSet{privacy.KAnonymity{K: 3, Over: []int{0, 2}}, privacy.KAnonymity{K: 2}}, false},
			{privacy.ConstraintSet{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2}}, ksAlone},
			{privacy.ConstraintSet{privacy.KAnonymity{K: 3, Over: []int{3}}}, true},
			{privacy.ConstraintSet{privacy.KAnonymity{K: 3, Over: []int{-1}}}, true},
		} {
			if err := m.Accepts(attributes, row.c); (err != nil) != row.refused {
				t.Errorf("%s on %v: %v", m.Name(), row.c, err)
			}
		}
	}
}

// countdown is a context that is canceled when it has been asked so often.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancellationAndProgress(t *testing.T) {
	t.Parallel()
	d, c := workload.Census(1, 2000).Cover(workload.CensusConstraints(3))
	for _, m := range everyMethod {
		for _, left := range []int{0, 1, 5, 20, 60} {
			if _, err := m.Anonymize(&countdown{context.Background(), left}, d.Table(), c, anonymizer.Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, canceled at look %d: %v", m.Name(), left, err)
			}
		}
		last := 0
		anonymize(t, m, d.Table(), c, anonymizer.Options{Progress: func(done, total int) {
			if done < last || total != 2000 {
				t.Errorf("%s: %d of %d done after %d", m.Name(), done, total, last)
			}
			last = done
		}})
		if last != 2000 {
			t.Errorf("%s: ended with %d done", m.Name(), last)
		}
	}
}

// TestPrecisionOfPaper: on the data of figure 3 of Yang et al. 2006, complete
// loses less than Datafly. That it is 10 to 20 points depends on hierarchies that
// the paper does not print.
func TestPrecisionOfPaper(t *testing.T) {
	t.Parallel()
	for _, m := range []int{2, 4} {
		for _, n := range []int{1024, 4096, 10_240} {
			d, c := workload.Census(1, n).Cover(workload.CensusConstraints(m))
			prec := map[string]float64{}
			for _, method := range everyMethod {
				prec[method.Name()] = metric.Precision(d.Table(), anonymize(t, method, d.Table(), c, anonymizer.Options{}))
			}
			t.Logf("%d constraints, %d records: %v", m, n, prec)
			if prec["classfly-plus-complete"] <= prec["datafly"] {
				t.Errorf("%d constraints, %d records: %v", m, n, prec)
			}
		}
	}
}
