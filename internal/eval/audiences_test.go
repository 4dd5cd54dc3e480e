package eval_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval"
)

func TestMeasureAudiences(t *testing.T) {
	t.Parallel()
	table := people(t, policy, "")
	var cases []eval.Case
	for i, k := range []int{4, 10, 1000} {
		found, err := eval.Grid{Methods: []string{"rounded-partition"}, K: []int{k}, L: []float64{[]float64{2, 3, 2}[i]}}.Cases(table)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, found[0])
	}
	measured, err := eval.MeasureAudiences(context.Background(), table, cases, eval.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	fine, coarse, refused := measured.Audiences[0], measured.Audiences[1], measured.Audiences[2]
	if fine.Nested != fine.Alone || fine.LossRatio != 1 {
		t.Errorf("the finest audience: %+v", fine)
	}
	if coarse.Nested.Classes == 0 || coarse.Nested.Classes > 10 || coarse.Nested.Loss <= fine.Nested.Loss || coarse.LossRatio != coarse.Nested.Loss/coarse.Alone.Loss {
		t.Errorf("the coarser audience: %+v", coarse)
	}
	if want := []string{"4-anonymity", "10-anonymity", "distinct 3-diversity of illness"}; slices.ContainsFunc(want, func(c string) bool { return !slices.Contains(coarse.Constraints, c) }) {
		t.Errorf("constraints %v, want %v and more", coarse.Constraints, want)
	}
	if refused.Refused == "" || refused.Nested.Classes > 0 {
		t.Errorf("an audience that asks for 1000 of 100 records: %+v", refused)
	}
	var text, csv strings.Builder
	if err := measured.WriteText(&text); err != nil || !strings.Contains(text.String(), "k = 1000: 1000-anonymity needs") {
		t.Errorf("error %v, text\n%s", err, text.String())
	}
	if err := measured.WriteCSV(&csv); err != nil || strings.Count(csv.String(), "\n") != 4 {
		t.Errorf("error %v, CSV\n%s", err, csv.String())
	}
}
