package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
)

const policy = `
tables:
  public.people:
    method: rounded-partition
    constraints: [{k: 2}, {l: 2, of: illness}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      sex: {role: quasi-identifying, hierarchy: categorical}
      illness: sensitive
`

// people are a hundred records: ages 20 to 69 twice, illnesses in turn.
func people(t *testing.T, policyText, label string) *dataset.Table {
	t.Helper()
	p, err := config.ParsePolicy("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("age,sex,illness,class\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%d,%s,%s,%d\n", 20+i/2, []string{"f", "m"}[i/3%2], []string{"flu", "cold", "gout"}[i%3], i%2)
	}
	f, err := dataset.Parse([]byte(text.String()), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.Anonymizable(p, label)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestGridMakesEveryCombination(t *testing.T) {
	t.Parallel()
	cases, err := eval.Grid{Methods: []string{"rounded-partition", "mondrian-strict", "rounded-partition"}, K: []int{5, 2, 5}, L: []float64{2, 3}}.Cases(people(t, policy, ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, fmt.Sprintf("%s %d %g %s", c.Method, c.K, c.L, strings.Join(c.Constraints(), ", ")))
	}
	want := []string{
		"rounded-partition 2 2 2-anonymity, distinct 2-diversity of illness",
		"rounded-partition 5 2 5-anonymity, distinct 2-diversity of illness",
		"rounded-partition 2 3 2-anonymity, distinct 3-diversity of illness",
		"rounded-partition 5 3 5-anonymity, distinct 3-diversity of illness",
	}
	for _, w := range slices.Clone(want) {
		want = append(want, strings.Replace(w, "rounded-partition", "mondrian-strict", 1))
	}
	if !slices.Equal(got, want) {
		t.Errorf("cases\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGridRefusesBeforeRunning(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "")
	for name, row := range map[string]struct {
		grid eval.Grid
		want []string
	}{
		"unknown method":    {eval.Grid{Methods: []string{"magic"}}, []string{`"magic"`, "rounded-partition"}},
		"cannot honor":      {eval.Grid{Methods: []string{"classfly-plus-complete"}}, []string{"classfly-plus-complete", "methods that can", "rounded-partition"}},
		"changes nothing":   {eval.Grid{Alpha: []float64{0.5}}, []string{"--alpha changes nothing"}},
		"all that is wrong": {eval.Grid{K: []int{0}, L: []float64{0.5, math.NaN()}}, []string{"--k must", "--l must"}},
	} {
		_, err := row.grid.Cases(table)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range row.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q lacks %q", name, err, want)
			}
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "class")
	cases, err := eval.Grid{}.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		told := map[string]int{}
		m, err := eval.Measure(context.Background(), table, c, eval.Options{
			Seed: 1, Population: table.Records, Progress: func(stage string, done, _ int) { told[stage] = done },
		})
		if err != nil {
			t.Fatalf("%s: %v", c.Method, err)
		}
		in := 0
		for _, s := range m.Sizes {
			in += s.Size * s.Classes
		}
		switch {
		case m.Refused != "", m.Records != 100, in+m.Withheld != 100, m.Smallest < 2, m.Largest < m.Smallest:
			t.Errorf("%s: %+v", c.Method, m)
		case m.Prosecutor != 1/float64(m.Smallest) || m.Journalist > m.Prosecutor || m.MeanRisk > m.Journalist+1e-9 || m.MeanRisk <= 0 || m.Joint != eval.None:
			t.Errorf("%s: risks %v, %v and %v in classes from %d", c.Method, m.Prosecutor, m.MeanRisk, m.Journalist, m.Smallest)
		case m.Loss <= 0 || m.Loss > 1 || m.Precision < 0 || m.Precision >= 1 || m.Classification < 0 || m.Classification > 100:
			t.Errorf("%s: %+v", c.Method, m)
		case (m.LevelLoss == eval.None) == byLevels(c.Method) || byLevels(c.Method) && m.LevelLoss < m.Loss:
			t.Errorf("%s loses %v, %v by levels", c.Method, m.Loss, m.LevelLoss)
		case told[eval.Anonymizing] == 0 || told[eval.Measuring] == 0:
			t.Errorf("%s: no progress", c.Method)
		}
	}
}

// byLevels reports whether a method of that name recodes by levels.
func byLevels(method string) bool {
	return method == "datafly" || strings.HasPrefix(method, "classfly") || method == "alpha-k-lattice"
}

// TestLossIsOfWhatIsPublished: two of nine jobs without a taxonomy are published
// as "*", however near they stand to each other.
func TestLossIsOfWhatIsPublished(t *testing.T) {
	t.Parallel()
	const text = "csv: {header: true}\ntables: {public.people: {constraints: [{k: 2}], columns: {job: {role: quasi-identifying, hierarchy: categorical}}}}"
	p, err := config.ParsePolicy("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataset.Parse([]byte("job,n\na,1\nb,1\nc,1\nc,1\nd,1\nd,1\ne,1\ne,1\nf,1\nf,1\n"), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.Anonymizable(p, "")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := eval.Grid{Methods: []string{"rounded-partition"}}.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	m, err := eval.Measure(context.Background(), table, cases[0], eval.Options{})
	if err != nil || m.Classes != 5 || math.Abs(m.Loss-0.2) > 1e-9 || math.Abs(m.AxisLoss-0.04) > 1e-9 {
		t.Errorf("error %v, measurement %+v", err, m)
	}
}

// TestValuesAreThoseOfTheServer: the values that a constraint names are brought to
// PostgreSQL's form, as the server does.
func TestValuesAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	const text = "csv: {header: true, types: {rate: numeric}}\ntables: {public.people: {constraints: [{k: 2}, {alpha: 0.5, of: rate, values: ['1.50']}], columns: {age: {role: quasi-identifying, hierarchy: numeric}, rate: sensitive}}}"
	p, err := config.ParsePolicy("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataset.Parse([]byte("age,rate\n1,1.5\n2,2\n3,1.5\n4,1.5\n"), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.Anonymizable(p, "")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := eval.Grid{Methods: []string{"rounded-partition"}}.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	m, err := eval.Measure(context.Background(), table, cases[0], eval.Options{})
	if err != nil || m.Refused == "" {
		t.Errorf("error %v, measurement %+v: three of four have the value that half may have", err, m)
	}
}

// TestMeasureStops when the context ends, while it anonymizes and while it
// measures.
func TestMeasureStops(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "")
	cases, err := eval.Grid{Methods: []string{"rounded-partition"}}.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{eval.Anonymizing, eval.Measuring} {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := eval.Measure(ctx, table, cases[0], eval.Options{Progress: func(stage string, _, _ int) {
			if stage == at {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", at, err)
		}
		cancel()
	}
}

func TestInfeasibleConstraintsAreAnOutcome(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "")
	cases, err := eval.Grid{Methods: []string{"rounded-partition"}, L: []float64{4}}.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	m, err := eval.Measure(context.Background(), table, cases[0], eval.Options{})
	if err != nil || !strings.Contains(m.Refused, "distinct values") || m.Classes != 0 {
		t.Errorf("error %v, measurement %+v", err, m)
	}
}

// TestParts has two constraints without a common attribute: the classes of both
// count, and each part has its own risk. A constraint on illness over all
// attributes makes one part of them.
func TestParts(t *testing.T) {
	t.Parallel()
	for l, want := range map[string]eval.Measurement{
		"{l: 2, of: illness, over: [sex]}": {Classes: 50 + 3, Smallest: 2, Prosecutor: 0.5},
		"{l: 2, of: illness}":              {Classes: 3, Smallest: 32, Prosecutor: 1.0 / 32},
	} {
		parts := strings.Replace(policy, "[{k: 2}, {l: 2, of: illness}]", "[{k: 2, over: [age]}, {k: 30, over: [sex]}, "+l+"]", 1)
		table := people(t, parts, "")
		cases, err := eval.Grid{Methods: []string{"rounded-partition"}}.Cases(table)
		if err != nil {
			t.Fatal(err)
		}
		m, err := eval.Measure(context.Background(), table, cases[0], eval.Options{})
		if err != nil || m.Classes != want.Classes || m.Smallest != want.Smallest || m.Prosecutor != want.Prosecutor {
			t.Errorf("%s: error %v, measurement %+v", l, err, m)
		}
	}
}
