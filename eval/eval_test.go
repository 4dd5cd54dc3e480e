package eval_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/dataset"
	"github.com/kproxy/kproxy/eval"
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
	cases, err := eval.Grid{Methods: []string{"rounded-partition", "mondrian-strict"}, K: []int{5, 2}, L: []float64{2, 3}}.Cases(people(t, policy, ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, fmt.Sprintf("%s %d %g %s", c.Method, c.K, c.L, strings.Join(c.Constraints(), ", ")))
	}
	want := []string{
		"rounded-partition 5 2 5-anonymity, distinct 2-diversity of illness",
		"rounded-partition 2 2 2-anonymity, distinct 2-diversity of illness",
		"rounded-partition 5 3 5-anonymity, distinct 3-diversity of illness",
		"rounded-partition 2 3 2-anonymity, distinct 3-diversity of illness",
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
		told := 0
		m, err := eval.Measure(context.Background(), table, c, eval.Options{Seed: 1, Population: table.Records, Progress: func(done, _ int) { told = done }})
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
		case m.Prosecutor != 1/float64(m.Smallest) || m.MeanRisk > m.Prosecutor || m.Journalist > m.Prosecutor || m.Journalist <= 0:
			t.Errorf("%s: risks %v, %v and %v in classes from %d", c.Method, m.Prosecutor, m.MeanRisk, m.Journalist, m.Smallest)
		case m.Loss <= 0 || m.Loss > 1 || m.Precision < 0 || m.Precision >= 1 || m.Classification < 0 || m.Classification > 100:
			t.Errorf("%s: %+v", c.Method, m)
		case told == 0:
			t.Errorf("%s: no progress", c.Method)
		}
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
