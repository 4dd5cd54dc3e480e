package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/journal"
)

// onlyK is the policy without diversity.
var onlyK = strings.Replace(policy, "[{k: 2}, {l: 2, of: illness}]", "[{k: 2}]", 1)

func cases(t *testing.T, g eval.Grid, table *dataset.Table) []eval.Case {
	t.Helper()
	cases, err := g.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestGridOfEfforts(t *testing.T) {
	t.Parallel()
	g := eval.Grid{Methods: []string{"rounded-partition", "lookahead-partition"}, K: []int{2, 5}, Efforts: []anonymizer.Effort{anonymizer.Good, anonymizer.Fast, anonymizer.Good}}
	var got []string
	for _, c := range cases(t, g, people(t, onlyK, "")) {
		got = append(got, fmt.Sprintf("%s %v %d%s", c.Method, c.Effort, c.K, c.SameAs))
	}
	want := []string{
		"rounded-partition fast 2", "rounded-partition fast 5",
		"lookahead-partition fast 2", "lookahead-partition fast 5", "lookahead-partition good 2", "lookahead-partition good 5",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSameMethodsRunOnce: without several constraints all variants of Classfly are one method,
// the first one that is asked for.
func TestSameMethodsRunOnce(t *testing.T) {
	t.Parallel()
	table := people(t, onlyK, "")
	g := eval.Grid{Methods: []string{"classfly-plus-naive", "datafly", "classfly", "classfly-plus-partial"}, K: []int{2, 5}}
	list := cases(t, g, table)
	runs := map[string]bool{}
	s := eval.Series{Table: table, Cases: list, Progress: func(_ int, c eval.Case, _ string, _, _ int) { runs[c.Method] = true }}
	made, err := s.Measure(context.Background())
	if err != nil || len(made) != 8 {
		t.Fatalf("%d measurements, %v", len(made), err)
	}
	if len(runs) != 2 || !runs["classfly-plus-naive"] || !runs["datafly"] {
		t.Errorf("%v were run", runs)
	}
	for i, m := range made {
		same := ""
		if i >= 4 {
			same = "classfly-plus-naive"
		}
		if m.Method != g.Methods[i/2] || m.SameAs != same || m.K != []int{2, 5}[i%2] {
			t.Errorf("measurement %d: %s, k = %d, same as %q", i, m.Method, m.K, m.SameAs)
		}
		if own := made[i%2]; same != "" && (m.Loss != own.Loss || m.Seconds != own.Seconds || m.Discernibility != own.Discernibility) {
			t.Errorf("measurement %d is not that of %s", i, same)
		}
	}
}

// TestSeriesGoesOn after an interruption with the runs that are missing, and gives what one
// without an interruption gives.
func TestSeriesGoesOn(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "")
	list := cases(t, eval.Grid{Methods: []string{"rounded-partition", "mondrian-strict"}, K: []int{2, 3, 5}}, table)
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	series := func(ctx context.Context, stop func(run int)) ([]eval.Measurement, []int, error) {
		kept, err := journal.Open(path, "digest")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = kept.Close() }()
		var ran []int
		s := eval.Series{Table: table, Cases: list, Options: eval.Options{Seed: 4}, Seeds: 2, Keeper: kept, Progress: func(run int, _ eval.Case, _ string, _, _ int) {
			if len(ran) == 0 || ran[len(ran)-1] != run {
				ran = append(ran, run)
			}
			stop(run)
		}}
		if s.Runs() != 12 {
			t.Errorf("%d runs", s.Runs())
		}
		made, err := s.Measure(ctx)
		return made, ran, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	made, _, err := series(ctx, func(run int) {
		if run == 7 { // the second seed of the fourth case
			cancel()
		}
	})
	cancel()
	if !errors.Is(err, context.Canceled) || len(made) != 3 {
		t.Fatalf("%d measurements, %v", len(made), err)
	}
	before := made
	made, ran, err := series(context.Background(), func(int) {})
	if err != nil || !slices.Equal(ran, []int{7, 8, 9, 10, 11}) || len(made) != 6 {
		t.Fatalf("%d measurements of the runs %v, %v", len(made), ran, err)
	}
	if !reflect.DeepEqual(made[:3], before) {
		t.Error("the measurements of the first part are others")
	}
	fresh, err := eval.Series{Table: table, Cases: list, Options: eval.Options{Seed: 4}, Seeds: 2}.Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range fresh {
		fresh[i].Seconds, fresh[i].HeapGrowth, made[i].Seconds, made[i].HeapGrowth = 0, 0, 0, 0
	}
	if !reflect.DeepEqual(made, fresh) {
		t.Errorf("%+v\n%+v", made, fresh)
	}
}

// TestSeeds: figures of several seeds are means, with what they spread by.
func TestSeeds(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "")
	list := cases(t, eval.Grid{Methods: []string{"rounded-partition"}, K: []int{7}}, table)
	var single []eval.Measurement
	for seed := range uint64(3) {
		m, err := eval.Measure(context.Background(), table, list[0], eval.Options{Seed: 1 + seed})
		if err != nil {
			t.Fatal(err)
		}
		single = append(single, m)
	}
	made, err := eval.Series{Table: table, Cases: list, Options: eval.Options{Seed: 1}, Seeds: 3}.Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m := made[0]
	errs := []float64{single[0].QueryError, single[1].QueryError, single[2].QueryError}
	mean := (errs[0] + errs[1] + errs[2]) / 3
	if m.Spread == nil || m.Spread.Seeds != 3 || math.Abs(m.QueryError-mean) > 1e-12 || m.Spread.QueryError.Mean != m.QueryError ||
		m.Spread.QueryError.Least != slices.Min(errs) || m.Spread.QueryError.Greatest != slices.Max(errs) || m.Spread.QueryError.Deviation == 0 {
		t.Errorf("%+v of %v", m.Spread, errs)
	}
	if one, err := (eval.Series{Table: table, Cases: list, Options: eval.Options{Seed: 1}}).Measure(context.Background()); err != nil || one[0].Spread != nil {
		t.Errorf("one seed spreads by %+v, %v", one[0].Spread, err)
	}
}

func TestRangeOf(t *testing.T) {
	t.Parallel()
	if r := eval.RangeOf([]float64{2, 4, 9}); r.Mean != 5 || math.Abs(r.Deviation-math.Sqrt(13)) > 1e-12 || r.Least != 2 || r.Greatest != 9 {
		t.Errorf("%+v", r)
	}
	if r := eval.RangeOf([]float64{2}); r != (eval.Range{Mean: 2, Least: 2, Greatest: 2}) {
		t.Errorf("%+v", r)
	}
}

// TestClassesAreWhatIsPublished: two classes with the same values count as one, and with the
// same representative where that alone is published.
func TestClassesAreWhatIsPublished(t *testing.T) {
	t.Parallel()
	dm := func(sizes []eval.SizeCount) (sum int64) {
		for _, s := range sizes {
			sum += int64(s.Size * s.Size * s.Classes)
		}
		return sum
	}
	// The midpoint of 20 and 21 is 20.
	for publish, want := range map[string][]eval.SizeCount{"both": {{Size: 2, Classes: 2}, {Size: 4, Classes: 1}}, "value": {{Size: 4, Classes: 2}}} {
		text := strings.NewReplacer("sex: {role: quasi-identifying, hierarchy: categorical}", "sex: insensitive", "hierarchy: numeric", "hierarchy: numeric, publish: "+publish).Replace(onlyK)
		table := withAges(t, text, 10, 10, 10, 10, 20, 20, 20, 21)
		list := cases(t, eval.Grid{Methods: []string{"rounded-partition"}}, table)
		m, err := eval.Measure(context.Background(), table, list[0], eval.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Sizes, want) || m.Discernibility != dm(want) || m.Average != 8/float64(m.Classes) || m.MeanRisk != float64(m.Classes)/8 {
			t.Errorf("%s: %d classes of %v, DM %d, mean risk %v", publish, m.Classes, m.Sizes, m.Discernibility, m.MeanRisk)
		}
	}
}

// withAges is a table of records with these ages.
func withAges(t *testing.T, policyText string, ages ...int) *dataset.Table {
	t.Helper()
	p, err := config.ParsePolicy("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	text := "age,sex,illness,class\n"
	for i, age := range ages {
		text += fmt.Sprintf("%d,f,%s,%d\n", age, []string{"flu", "cold"}[i%2], i%2)
	}
	f, err := dataset.Parse([]byte(text), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.Anonymizable(p, "")
	if err != nil {
		t.Fatal(err)
	}
	return table
}
