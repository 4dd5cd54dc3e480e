package metric_test

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestLargeTablesAreAskedFewerQueries, so that measuring one stays a matter of
// seconds.
func TestLargeTablesAreAskedFewerQueries(t *testing.T) {
	t.Parallel()
	a := workload.Attribute("a", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	for _, row := range []struct{ records, queries int }{{1, 1000}, {3000, 1000}, {400_000, 250}, {2_000_000, 100}} {
		cells := make([]hierarchy.Cell, row.records)
		for i := range cells {
			cells[i] = float64(i & 7)
		}
		table, err := anonymizer.NewTable([]anonymizer.Attribute{a}, [][]hierarchy.Cell{cells}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(metric.QueryErrors(table, &anonymizer.Release{}, metric.Queries{})); n != row.queries {
			t.Errorf("%d records are asked %d queries, %d expected", row.records, n, row.queries)
		}
	}
}

// alone publishes each record by itself.
func alone(table *anonymizer.Table) *anonymizer.Release {
	r := &anonymizer.Release{}
	for i := range table.Len() {
		r.Classes = append(r.Classes, anonymizer.EquivalenceClass{int32(i)})
	}
	return r
}

// together publishes all records as one class.
func together(table *anonymizer.Table) *anonymizer.Release {
	class := make(anonymizer.EquivalenceClass, table.Len())
	for i := range class {
		class[i] = int32(i)
	}
	return &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{class}}
}

// TestQueriesTellLossesApart over all kinds of attributes with NULLs: nothing lost is no
// error, larger classes have larger errors, one class has a large one, and all is wrong
// where nothing is published.
func TestQueriesTellLossesApart(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		// No fixed intervals and no shortened codes, which lose by themselves.
		d := workload.Generate(seed, workload.Shape{Records: 3000, Attributes: 7, Distinct: 40, Nulls: 0.05, Sensitive: 5})
		table := d.Table()
		q := metric.Queries{Seed: seed}
		if e := slices.Max(metric.QueryErrors(table, alone(table), q)); e != 0 {
			t.Errorf("seed %d: an error of %v although nothing is lost", seed, e)
		}
		errs := []float64{0}
		for _, k := range []int{2, 50} {
			r := &anonymizer.Release{}
			for from := 0; from < table.Len(); from += k {
				r.Classes = append(r.Classes, together(table).Classes[0][from:min(from+k, table.Len())])
			}
			errs = append(errs, metric.QueryError(table, r, q))
		}
		errs = append(errs, metric.QueryError(table, together(table), q))
		if errs[0] >= errs[1] || errs[1] >= errs[2] || errs[3] < 0.3 {
			t.Errorf("seed %d: classes of 1, 2, 50 and all records have errors of %.3f", seed, errs)
		}
		for i, e := range metric.QueryErrors(table, anonymizer.WithholdAll(table), q) {
			if e != 1 {
				t.Fatalf("seed %d: query %d has an error of %v although nothing is published", seed, i, e)
			}
		}
	}
}

// TestQueriesAskNodes: a flat category of two equal halves that is published as * answers
// for either half as if it had half of the records; with 3 to 1, a quarter is off by 1.
func TestQueriesAskNodes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		spec  hierarchy.Spec
		texts []string
		want  []float64 // the errors that there are
	}{
		{hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}, []string{"a", "b"}, []float64{0}},
		{hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}, []string{"a", "b", "b", "b"}, []float64{1}},
		// Of birds (3 of 8 records, 2 of 3 values) 16/3 are found; of a sparrow (1) 8/3, of an eagle (2) too.
		{hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
			{Label: "birds", Children: []hierarchy.Node{{Label: "sparrow"}, {Label: "eagle"}}}, {Label: "horse"},
		}}, []string{"sparrow", "eagle", "eagle", "horse", "horse", "horse", "horse", "horse"}, []float64{5.0 / 3, 1.0 / 3, (16.0/3 - 3) / 3}},
		// Codes that begin with 1 are 3 of 4 values and 3 of 8 records, those with 11 are 2 and 2.
		{hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}, []string{"111", "112", "121", "211", "211", "211", "211", "211"}, []float64{1, 1, 1}},
	} {
		table := column(t, row.spec, row.texts...)
		seen := map[float64]bool{}
		for _, e := range metric.QueryErrors(table, together(table), metric.Queries{Sensitive: -1}) {
			i := slices.IndexFunc(row.want, func(want float64) bool { return near(e, want) })
			if i < 0 {
				t.Fatalf("%v: an error of %v, wanted are %v", row.texts, e, row.want)
			}
			seen[row.want[i]] = true
		}
		if different := slices.Compact(slices.Sorted(slices.Values(row.want))); len(seen) != len(different) {
			t.Errorf("%v: the errors are %v, wanted are %v", row.texts, seen, row.want)
		}
	}
}

// TestQueriesReadIntervals as they are published: years of twenty days have them spread
// over 365, and decimals are measured, not counted.
func TestQueriesReadIntervals(t *testing.T) {
	t.Parallel()
	integer := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	steps := integer
	steps.Steps = []float64{10}
	decimal := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}
	for _, row := range []struct {
		spec  hierarchy.Spec
		texts []string
		want  []float64
	}{
		// Half of the records asked for: 0 of the interval 0 to 1, or 1 of it.
		{integer, []string{"0", "1"}, []float64{0}},
		// Of 0 to 9 a single value finds 2/10 of a record instead of one.
		{steps, []string{"0", "1"}, []float64{0.8}},
		// A single value has no width.
		{decimal, []string{"0.5", "1.5"}, []float64{1}},
		// 0 to 3 counts 4 places. 0 alone finds 4/4 of the 3 that there are, 3 alone 1 of 1.
		{integer, []string{"0", "0", "0", "3"}, []float64{0}},
	} {
		table := column(t, row.spec, row.texts...)
		for _, e := range metric.QueryErrors(table, together(table), metric.Queries{Sensitive: -1, Count: 50}) {
			if !slices.ContainsFunc(row.want, func(want float64) bool { return near(e, want) }) {
				t.Fatalf("%v: an error of %v, wanted are %v", row.texts, e, row.want)
			}
		}
	}
}

// TestQueriesAskSensitiveValues: the release says how many of a class have one, so that a
// class of equal records answers right, and one of two values spreads each evenly.
func TestQueriesAskSensitiveValues(t *testing.T) {
	t.Parallel()
	plain := column(t, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}, "a", "a", "b", "b")
	table, err := anonymizer.NewTable(plain.Attributes(), [][]hierarchy.Cell{plain.Cells(0)}, [][]uint32{{7, 7, 8, 8}})
	if err != nil {
		t.Fatal(err)
	}
	always := metric.Queries{Sensitive: 1, Count: 50}
	for i, e := range metric.QueryErrors(table, together(table), always) {
		if !near(e, 0.5) { // of two records with 7, and with a, one is expected
			t.Fatalf("query %d has an error of %v", i, e)
		}
	}
	for i, e := range metric.QueryErrors(table, together(table), metric.Queries{Sensitive: -1, Count: 50}) {
		if e != 0 {
			t.Fatalf("query %d asks for a sensitive value: %v", i, e)
		}
	}
}

// TestQueriesAreThoseOfTheSeed, whatever the release.
func TestQueriesAreThoseOfTheSeed(t *testing.T) {
	t.Parallel()
	table, r := brutal(t, 4, 60, 4)
	q := metric.Queries{Seed: 3, Count: 200}
	one := metric.QueryErrors(table, r, q)
	if again := metric.QueryErrors(table, r, q); !slices.Equal(one, again) || len(one) != 200 {
		t.Error("the same queries are not asked again")
	}
	q.Seed++
	if slices.Equal(one, metric.QueryErrors(table, r, q)) {
		t.Error("another seed asks the same queries")
	}
}

// TestQueriesOfNothing has no error to tell of.
func TestQueriesOfNothing(t *testing.T) {
	t.Parallel()
	integer := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	for _, table := range []*anonymizer.Table{column(t, integer), column(t, integer, workload.Null, workload.Null)} {
		if errs := metric.QueryErrors(table, together(table), metric.Queries{}); errs != nil {
			t.Errorf("%d errors of %d records", len(errs), table.Len())
		}
	}
}

// TestSanityBound: a single record of a thousand is off by five, which is divided by ten.
func TestSanityBound(t *testing.T) {
	t.Parallel()
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "a"
	}
	texts[0] = "b"
	table := column(t, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}, texts...)
	r := together(table)
	r.Classes = []anonymizer.EquivalenceClass{r.Classes[0][:12], r.Classes[0][12:]}
	for _, e := range metric.QueryErrors(table, r, metric.Queries{Sensitive: -1, Sanity: 0.01, Count: 20}) {
		// b: 6 instead of 1. a: 988 and 6 instead of 999, of more than half of the records, which is only asked where nothing else is drawn.
		if !near(e, 5.0/10) && !near(e, 5.0/999) {
			t.Fatalf("an error of %v", e)
		}
	}
}
