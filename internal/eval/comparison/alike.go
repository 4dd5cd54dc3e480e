package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/eval"
)

// alike are methods that made releases of the same figures wherever they ran, and
// so share a curve and a row.
type alike struct {
	methods []string
	runs    []eval.Measurement // of the first method
	// slowest and growth are the most seconds and bytes of any of the methods, fastest
	// the least seconds, for each run.
	fastest, slowest []float64
	growth           []int64
}

// name is the group's short name.
func (g alike) name() string {
	if more := len(g.methods) - 1; more > 0 {
		return fmt.Sprintf("%s + %d alike", g.methods[0], more)
	}
	return g.methods[0]
}

func (g alike) has(method string) bool { return slices.Contains(g.methods, method) }

// groups are the methods in the order of their runs, those alike together.
func (r *Report) groups() []alike {
	var order []string
	runs := map[string][]eval.Measurement{}
	for _, m := range r.Measurements {
		name := m.Name()
		if len(runs[name]) == 0 {
			order = append(order, name)
		}
		runs[name] = append(runs[name], m)
	}
	var groups []alike
	for _, method := range order {
		i := slices.IndexFunc(groups, func(g alike) bool { return slices.EqualFunc(g.runs, runs[method], sameFigures) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, alike{runs: runs[method]})
		}
		groups[i].add(method, runs[method])
	}
	return groups
}

func (g *alike) add(method string, runs []eval.Measurement) {
	first := len(g.methods) == 0
	g.methods = append(g.methods, method)
	for i, m := range runs {
		if first {
			g.fastest, g.slowest, g.growth = append(g.fastest, m.Seconds), append(g.slowest, m.Seconds), append(g.growth, m.HeapGrowth)
			continue
		}
		g.fastest[i], g.slowest[i], g.growth[i] = min(g.fastest[i], m.Seconds), max(g.slowest[i], m.Seconds), max(g.growth[i], m.HeapGrowth)
	}
}

// sameFigures compares all that the methods do not differ in by their cost, to
// as many digits as are written.
func sameFigures(a, b eval.Measurement) bool {
	figures := func(m eval.Measurement) string {
		m.Method, m.Effort, m.SameAs, m.Seconds, m.HeapGrowth = "", "", "", 0, 0
		var texts []string
		for _, c := range columns {
			texts = append(texts, c.value(m))
		}
		return strings.Join(texts, "\x00")
	}
	return figures(a) == figures(b) && slices.Equal(a.Sizes, b.Sizes)
}
