package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// jobs is a taxonomy of three levels, of which one branch ends early.
var jobs = []hierarchy.Node{
	{Label: "care", Children: []hierarchy.Node{{Label: "health", Children: []hierarchy.Node{{Label: "nurse"}, {Label: "doctor"}}}, {Label: "carer"}}},
	{Label: "craft", Children: []hierarchy.Node{{Label: "wood", Children: []hierarchy.Node{{Label: "joiner"}, {Label: "turner"}}}, {Label: "metal", Children: []hierarchy.Node{{Label: "smith"}}}}},
	{Label: "clerk"},
}

// ladder is a hierarchy with limits, each of which is within the one before, and how values are drawn.
type ladder struct {
	name   string
	spec   hierarchy.Spec
	limits []hierarchy.Coarseness
	draw   func(*rand.Rand) string
}

func ladders() []ladder {
	number := func(digits string) func(*rand.Rand) string {
		return func(r *rand.Rand) string { return fmt.Sprintf(digits, r.NormFloat64()*40) }
	}
	day := func(r *rand.Rand) string {
		return fmt.Sprintf("%04d-%02d-%02d", 1890+r.IntN(150), 1+r.IntN(12), 1+r.IntN(28))
	}
	moment := func(zone string) func(*rand.Rand) string {
		return func(r *rand.Rand) string {
			return fmt.Sprintf("%s %02d:%02d:%02d.%06d%s", day(r), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e6), zone)
		}
	}
	job := func(r *rand.Rand) string {
		return []string{"nurse", "doctor", "carer", "joiner", "turner", "smith", "clerk", "health", "pilot", "judge"}[r.IntN(10)]
	}
	code := func(r *rand.Rand) string { return fmt.Sprintf("%05d", r.IntN(1000)*97%100000) }
	units := []hierarchy.Coarseness{{Units: []hierarchy.Unit{hierarchy.Month, hierarchy.Year, hierarchy.Century}}, {Units: []hierarchy.Unit{hierarchy.Year, hierarchy.Century}}, {Units: []hierarchy.Unit{hierarchy.Century}}}
	steps := []hierarchy.Coarseness{{Steps: []float64{5, 10, 50}}, {Steps: []float64{10, 50}}, {Steps: []float64{50}}}
	keeps := []hierarchy.Coarseness{{Keep: []int{3, 2, 1}}, {Keep: []int{2, 1}}, {Keep: []int{1}}}
	return []ladder{
		{"integers", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, steps, number("%.0f")},
		{"integers on a grid", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{1, 5, 10, 50}, Origin: 3}, steps, number("%.0f")},
		{"decimals", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}, steps, number("%.0f")},
		{"long decimals", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}, steps, number("%.3f")},
		{"decimals on a grid", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{0.5, 5, 10, 50}, Origin: 0.25}, steps, number("%.2f")},
		{"dates", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, units, day},
		{"dates by units", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Month, hierarchy.Year, hierarchy.Century}}, units, day},
		{"moments", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp}, units, moment("")},
		{"moments by units", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ, Units: []hierarchy.Unit{hierarchy.Month, hierarchy.Year, hierarchy.Century}}, units, moment("+02")},
		{"codes", hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}, keeps, code},
		{"cut codes", hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{4, 3, 2, 1}}, keeps, code},
		{"labels", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: jobs}, []hierarchy.Coarseness{{Depth: 2}, {Depth: 1}}, job},
	}
}

// chain makes the hierarchies of a ladder, each of the one before, over one that has met the values.
func (l ladder) chain(t *testing.T) (all []hierarchy.Hierarchy, specs []hierarchy.Spec) {
	t.Helper()
	h := workload.Attribute(l.name, l.spec).Hierarchy
	all, specs = []hierarchy.Hierarchy{h}, []hierarchy.Spec{l.spec}
	depth := 0
	for _, limit := range l.limits {
		last := len(all) - 1
		if err := limit.Within(specs[last], depth); err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		coarse, err := hierarchy.Coarser(all[last], specs[last], limit)
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		all, specs, depth = append(all, coarse), append(specs, limit.Of(specs[last])), limit.Depth
	}
	return all, specs
}

// TestCoarserIsClosed: what a release shows is what its own hierarchy shows of the values, whatever way it is
// made: of the values, of what is shown of the union, of the union of what is shown, and along a chain. So it
// is a function of what the finer release shows, and covers all that.
func TestCoarserIsClosed(t *testing.T) {
	t.Parallel()
	for _, l := range ladders() {
		hidden, shown := 0, 0
		for seed := range uint64(300) {
			random := rand.New(rand.NewPCG(seed, 1))
			chain, specs := l.chain(t)
			first := l.draw(random)
			var sets [][]hierarchy.Cell
			var texts []string
			var all []hierarchy.Cell
			for range 1 + random.IntN(4) {
				var set []hierarchy.Cell
				for range 1 + random.IntN(3) {
					text := l.draw(random)
					if random.IntN(3) > 0 {
						text = near(random, l, first, text)
					}
					texts, set = append(texts, text), append(set, workload.Encode(chain[0], text))
				}
				sets, all = append(sets, set), append(all, set...)
			}
			shownFiner := make([]hierarchy.Generalization, len(sets))
			for i, set := range sets {
				shownFiner[i] = chain[0].Generalize(set)
			}
			for i := 1; i < len(chain); i++ {
				finer := hierarchy.Union(chain[i-1], shownFiner)
				for s := range shownFiner {
					shownFiner[s] = hierarchy.Show(chain[i], shownFiner[s])
				}
				got := hierarchy.Union(chain[i], shownFiner)
				if lifted := hierarchy.Show(chain[i], finer); lifted != got {
					t.Fatalf("%s, limit %d: %v are shown as %v, and their union %v as %v", l.name, i, shownFiner, got, finer, lifted)
				}
				if of := chain[i].Generalize(all); !sameLabel(l.spec, of, got) {
					t.Fatalf("%s, limit %d: the values %v are shown as %v, and the union as %v", l.name, i, texts, of, got)
				}
				next, err := hierarchy.Coarser(chain[i], specs[i], hierarchy.Coarseness{})
				if err != nil {
					t.Fatal(err)
				}
				if again := hierarchy.Show(next, got); again != got || hierarchy.Union(next, shownFiner) != got || !sameLabel(l.spec, next.Generalize(all), got) {
					t.Fatalf("%s, limit %d: of %v a release without limits of its own shows %v", l.name, i, got, again)
				}
				unnamed := specs[i].Kind == hierarchy.Categorical && got.Value == hierarchy.Root // values that no taxonomy names
				if err := anonymizertest.CheckGeneralization(specs[i], texts, got); err != nil && !unnamed {
					t.Fatalf("%s, limit %d: %v", l.name, i, err)
				}
				if got.Hidden || got.Value == hierarchy.Root {
					hidden++
				} else {
					shown++
				}
				if specs[i].Kind == hierarchy.Categorical {
					checkDepth(t, got.Value, l.limits[i-1].Depth)
				}
			}
		}
		if hidden == 0 || shown < 50 {
			t.Errorf("%s: %d labels say something and %d nothing, which tests little", l.name, shown, hidden)
		}
	}
}

// sameLabel compares labels, of which masked prefixes end in one asterisk or in several: see Union.
func sameLabel(spec hierarchy.Spec, a, b hierarchy.Generalization) bool {
	if spec.Kind == hierarchy.Prefix {
		a.Value, b.Value = strings.TrimRight(a.Value, "*"), strings.TrimRight(b.Value, "*")
	}
	return a == b
}

// near is often the same value again, or one with the same beginning.
func near(random *rand.Rand, l ladder, first, text string) string {
	if l.spec.Kind == hierarchy.Prefix {
		cut := random.IntN(5)
		return first[:cut] + text[cut:]
	}
	return first
}

func checkDepth(t *testing.T, label string, depth int) {
	t.Helper()
	var level func(nodes []hierarchy.Node, at int) int
	level = func(nodes []hierarchy.Node, at int) int {
		for _, n := range nodes {
			if n.Label == label {
				return at
			}
			if found := level(n.Children, at+1); found > 0 {
				return found
			}
		}
		return 0
	}
	if at := level(jobs, 1); label != hierarchy.Root && (at == 0 || at > depth) {
		t.Fatalf("%s is shown, %d levels below the root, where %d are allowed", label, at, depth)
	}
}

// TestCoarserTellsNothingNew: values, their order and what else the hierarchy has met make no difference
// where the same is shown.
func TestCoarserTellsNothingNew(t *testing.T) {
	t.Parallel()
	for _, l := range ladders() {
		for seed := range uint64(100) {
			random := rand.New(rand.NewPCG(seed, 2))
			one, _ := l.chain(t)
			other, _ := l.chain(t)
			for range 20 {
				workload.Encode(other[0], l.draw(random))
			}
			var parts []hierarchy.Generalization
			for range 3 {
				parts = append(parts, one[0].Generalize([]hierarchy.Cell{workload.Encode(one[0], l.draw(random)), workload.Encode(one[0], l.draw(random))}))
			}
			for i := 1; i < len(one); i++ {
				for s := range parts {
					a, b := hierarchy.Show(one[i], parts[s]), hierarchy.Show(other[i], parts[s])
					if a != b {
						t.Fatalf("%s: of %v one shows %v and the other %v", l.name, parts[s], a, b)
					}
					parts[s] = a
				}
				spans, same := hierarchy.SpansOf(one[i], parts), hierarchy.SpansOf(other[i], parts)
				if fmt.Sprint(spans.Of) != fmt.Sprint(same.Of) {
					t.Fatalf("%s: spans are %v and %v", l.name, spans.Of, same.Of)
				}
			}
		}
	}
}

// TestCoarsenessWithin: limits are of the attribute's kind, and among the finer ones.
func TestCoarsenessWithin(t *testing.T) {
	t.Parallel()
	grid := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{5, 10}}
	labels := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: jobs}
	for _, c := range []struct {
		spec  hierarchy.Spec
		depth int
		of    hierarchy.Coarseness
		want  string
	}{
		{grid, 0, hierarchy.Coarseness{Steps: []float64{10}}, ""},
		{grid, 0, hierarchy.Coarseness{Steps: []float64{50}}, "steps: 50 is none of the finer ones [5 10]"},
		{grid, 0, hierarchy.Coarseness{Keep: []int{2}}, "a numeric hierarchy has no keep"},
		{grid, 0, hierarchy.Coarseness{Depth: 1}, "a numeric hierarchy has no depth"},
		{hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, 0, hierarchy.Coarseness{Steps: []float64{50, 10}}, "steps: 10 does not exceed 50"},
		{hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"a", "b"}}, 0, hierarchy.Coarseness{Depth: 1}, "an ordered hierarchy has no depth"},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Year}}, 0, hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Month}}, "units: month is none"},
		{hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{3}}, 0, hierarchy.Coarseness{Keep: []int{2}}, "keep: 2 is none"},
		{labels, 0, hierarchy.Coarseness{Depth: 2}, ""},
		{labels, 0, hierarchy.Coarseness{Depth: 3}, "depth: write a number from 1 to 2"},
		{labels, 1, hierarchy.Coarseness{Depth: 2}, "depth: write a number from 1 to 1"},
		{hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}, 0, hierarchy.Coarseness{Depth: 1}, "depth: the column has no taxonomy"},
		{hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: jobs[2:]}, 0, hierarchy.Coarseness{Depth: 1}, "no labels above its values"},
	} {
		err := c.of.Within(c.spec, c.depth)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), "a ordered", "an ordered"), c.want) {
			t.Errorf("%+v within %v: %v, not %q", c.of, c.spec.Kind, err, c.want)
		}
	}
}
