package comparison

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/internal/eval"
)

// figures are those of the table of runs: the price of the next k stands beside the loss.
func (r *Report) figures() []figure {
	next := figure{"next k", "next k", func(m eval.Measurement) string {
		price, more := r.price(m)
		if !more {
			return "-"
		}
		return fmt.Sprintf("%+.3f", 100*price)
	}, func(m eval.Measurement) bool { _, more := r.price(m); return more }}
	return slices.Insert(slices.Clone(qualityFigures), 1, next)
}

// price is the loss that one more k costs, up to the next k that the same method was run with;
// false at the last one.
func (r *Report) price(m eval.Measurement) (price float64, more bool) {
	next := m
	for _, other := range r.Released() {
		same := other.Name() == m.Name() && other.L == m.L && other.Alpha == m.Alpha
		if same && other.K > m.K && (next.K == m.K || other.K < next.K) {
			next = other
		}
	}
	if next.K == m.K {
		return 0, false
	}
	return (next.Loss - m.Loss) / float64(next.K-m.K), true
}

// best is a table with a header: for each of the parameters that were run the method that
// loses least, and how far the policy's is behind. It is nil where one method was run.
func (r *Report) best() [][]string {
	released := r.Released()
	settings := shown(parameterFigures, released)
	var header []string
	for _, f := range settings {
		header = append(header, f.short)
	}
	rows := [][]string{append(header, "least loss", "loss", "second")}
	if r.PolicyMethod != "" {
		rows[0] = append(rows[0], "the policy's "+r.PolicyMethod)
	}
	several := false
	for i, m := range released {
		if slices.ContainsFunc(released[:i], func(other eval.Measurement) bool { return sameParameters(m, other) }) {
			continue
		}
		ranked := r.ranked(m)
		several = several || len(ranked) > 1
		var row []string
		for _, f := range settings {
			row = append(row, f.text(m))
		}
		row = append(row, ranked[0].Name(), percent(ranked[0].Loss), "-")
		if len(ranked) > 1 {
			row[len(row)-1] = fmt.Sprintf("%s %s", ranked[1].Name(), percent(ranked[1].Loss))
		}
		if r.PolicyMethod != "" {
			row = append(row, r.behind(ranked))
		}
		rows = append(rows, row)
	}
	if !several {
		return nil
	}
	return rows
}

// ranked are the runs with the parameters of one by rising loss, those of equal loss in their
// order but for the policy's own, which is then first.
func (r *Report) ranked(at eval.Measurement) []eval.Measurement {
	ranked := slices.DeleteFunc(r.Released(), func(m eval.Measurement) bool {
		return !sameParameters(m, at) || m.SameAs != "" && m.Name() != r.PolicyMethod
	})
	other := func(m eval.Measurement) int {
		if m.Name() == r.PolicyMethod {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(ranked, func(a, b eval.Measurement) int {
		return cmp.Or(cmp.Compare(a.Loss, b.Loss), cmp.Compare(other(a), other(b)))
	})
	return ranked
}

// behind is how much the policy's method loses more than the first one.
func (r *Report) behind(ranked []eval.Measurement) string {
	own := slices.IndexFunc(ranked, func(m eval.Measurement) bool { return m.Name() == r.PolicyMethod })
	switch {
	case own < 0:
		return "not run"
	case ranked[own].Loss == ranked[0].Loss:
		return "not behind"
	default:
		return fmt.Sprintf("%.2f points behind", 100*(ranked[own].Loss-ranked[0].Loss))
	}
}
