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
	for _, row := range []struct{ records, queries int }{{1, 1000}, {3000, 1000}, {1_000_000, 300}, {4_000_000, 100}} {
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
