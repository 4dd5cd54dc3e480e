package eval_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval"
)

// TestColumnsAddUp to the loss of the whole, and what is reached is what is demanded.
func TestColumnsAddUp(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one part":  policy,
		"two parts": strings.Replace(policy, "[{k: 2}, {l: 2, of: illness}]", "[{k: 2, over: [age]}, {k: 5, over: [sex]}, {l: 2, of: illness, over: [age]}]", 1),
		"hidden":    strings.Replace(policy, "[{k: 2}", "[{k: 60}", 1),
	} {
		table := people(t, text, "")
		cases, err := eval.Grid{Methods: []string{"rounded-partition"}}.Cases(table)
		if err != nil {
			t.Fatal(err)
		}
		m, err := eval.Measure(t.Context(), table, cases[0], eval.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Columns) != 2 || m.Columns[0].Column != "age" || m.Columns[1].Column != "sex" {
			t.Fatalf("%s: columns %+v", name, m.Columns)
		}
		mean := (m.Columns[0].Loss + m.Columns[1].Loss) / 2
		if math.Abs(mean-m.Loss) > 1e-9 {
			t.Errorf("%s: the columns lose %v, the whole %v", name, mean, m.Loss)
		}
		if sex := m.Columns[1]; sex.Suppressed != sex.Loss { // two values: one of them, or nothing
			t.Errorf("%s: %+v", name, sex)
		}
		if m.Columns[0].Suppressed != 0 {
			t.Errorf("%s: %+v", name, m.Columns[0])
		}
		r := m.Reached[0]
		if len(m.Reached) != 1 || r.Column != "illness" || r.Values < 2 && name != "two parts" || r.Share < 1.0/3 || r.Share > 1 || r.Closeness < 0 || r.Closeness > 1 {
			t.Errorf("%s: reached %+v", name, m.Reached)
		}
	}
}
