package metric_test

import (
	"math"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestRunsLossByHand publishes one run of the first two values and withholds the others.
func TestRunsLossByHand(t *testing.T) {
	t.Parallel()
	number := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	category := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
	for name, row := range map[string]struct {
		spec  hierarchy.Spec
		texts []string
		run   metric.Run
		want  float64
	}{
		"a number":                   {number, []string{"10", "10", "30"}, metric.Run{Low: 10, High: 10}, 0},
		"wider than the members":     {number, []string{"10", "15", "20", "30"}, metric.Run{Low: 10, High: 20}, 0.5},
		"wider than the column":      {number, []string{"10", "15", "30"}, metric.Run{Low: 0, High: 25}, 0.75},
		"any number":                 {number, []string{"10", "10"}, metric.Anything, 1},
		"a category":                 {category, []string{"a", "a", "b"}, metric.Run{Low: 0, High: 0}, 0},
		"a run of categories":        {category, []string{"a", "b", "c", "d"}, metric.Run{Low: 0, High: 2}, 0.75},
		"between values":             {category, []string{"a", "b", "c", "d"}, metric.Run{Low: -0.5, High: 1.5}, 0.5},
		"any category":               {category, []string{"a", "b", "c", "d"}, metric.Anything, 1},
		"all categories, by a run":   {category, []string{"a", "b", "c", "d"}, metric.Run{Low: 0, High: 3}, 1},
		"any category, there is one": {category, []string{"a", "a"}, metric.Anything, 1},
	} {
		table := column(t, row.spec, row.texts...)
		r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}}}
		for i := 2; i < table.Len(); i++ {
			r.Withheld = append(r.Withheld, int32(i))
		}
		got := (metric.RunsLoss(table, r, [][]metric.Run{{row.run}})*float64(table.Len()) - float64(len(r.Withheld))) / 2
		if !near(got, row.want) {
			t.Errorf("%s: %v, %v expected", name, got, row.want)
		}
	}
}

// TestRunsOfAReleaseLoseTheSame: where the runs are what kproxy publishes of the classes, loss
// and errors are those of the release.
func TestRunsOfAReleaseLoseTheSame(t *testing.T) {
	t.Parallel()
	table := taxonomies(t)
	r, err := partition.RoundedPartition{}.Anonymize(t.Context(), table, privacy.ConstraintSet{privacy.KAnonymity{K: 7}}, anonymizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs := make([][]metric.Run, len(r.Classes))
	for e, class := range r.Classes {
		for a, attribute := range table.Attributes() {
			runs[e] = append(runs[e], runOf(attribute.Hierarchy, table.Cells(a), class))
		}
	}
	if got, want := metric.RunsLoss(table, r, runs), metric.PublishedLoss(table, r); !near(got, want) || want == 0 {
		t.Errorf("the loss is %v, %v expected", got, want)
	}
	if got, want := metric.RunsQueryError(table, r, runs, metric.Queries{}), metric.QueryError(table, r, metric.Queries{}); !near(got, want) || want == 0 {
		t.Errorf("the error is %v, %v expected", got, want)
	}
	for e := range runs {
		for a := range runs[e] {
			runs[e][a] = metric.Anything
		}
	}
	if loss, hidden := metric.RunsLoss(table, r, runs), metric.RunsQueryError(table, r, runs, metric.Queries{}); loss != 1 || !(hidden > metric.QueryError(table, r, metric.Queries{})) {
		t.Errorf("nothing is told, the loss is %v and the error %v", loss, hidden)
	}
}

// taxonomies is a table like the census of which a category has a taxonomy.
func taxonomies(t *testing.T) *anonymizer.Table {
	t.Helper()
	flat := workload.AdultLike(1, 2000)
	attributes, cells := flat.Attributes()[:5:5], make([][]hierarchy.Cell, 5)
	for a := range cells {
		cells[a] = flat.Cells(a)
	}
	deep := workload.Attribute("marital-status", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "single", Children: []hierarchy.Node{{Label: "7"}, {Label: "2"}, {Label: "4"}}},
		{Label: "not", Children: []hierarchy.Node{{Label: "1"}, {Label: "3"}, {Label: "5"}, {Label: "6"}}},
	}})
	own := make([]hierarchy.Cell, flat.Len())
	for i, c := range cells[3] {
		own[i] = deep.Hierarchy.Encode(attributes[3].Hierarchy.Generalize([]hierarchy.Cell{c}).Value)
	}
	attributes = append([]anonymizer.Attribute{}, attributes...)
	attributes[3], cells[3] = deep, own
	table, err := anonymizer.NewTable(attributes, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// runOf is what kproxy publishes of a class, as a run: of the values of the column that, beside
// the members, change nothing of it.
func runOf(h hierarchy.Hierarchy, column []hierarchy.Cell, class anonymizer.EquivalenceClass) metric.Run {
	var members []hierarchy.Cell
	for _, i := range class {
		members = append(members, column[i])
	}
	published := h.Generalize(members)
	run := metric.Run{Low: math.Inf(1), High: math.Inf(-1)}
	for _, c := range column {
		if h.Generalize(append(members[:len(members):len(members)], c)) == published {
			run.Low, run.High = min(run.Low, h.Position(c)), max(run.High, h.Position(c))
		}
	}
	return run
}
