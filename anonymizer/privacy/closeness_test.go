package privacy_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestSalariesOfLi: the example of Li, Li and Venkatasubramanian 2007, section
// 4.1: among salaries of 3k to 11k, {3k,4k,5k} is 0.375 away and {6k,8k,11k}
// 0.167.
func TestSalariesOfLi(t *testing.T) {
	t.Parallel()
	salaries := privacy.NewDictionary()
	whole := privacy.NewSummary(1)
	for _, salary := range []int{7, 3, 11, 4, 10, 5, 9, 6, 8} {
		whole.Add([]uint32{salaries.Code(strconv.Itoa(salary * 1000))})
	}
	numbers := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	c := privacy.TCloseness{
		Name: "salary", Distance: privacy.OrderedDistance,
		Scale: privacy.NewScale(salaries, workload.Attribute("salary", numbers).Hierarchy),
	}
	population := privacy.NewPopulation(whole)
	for _, row := range []struct {
		class       []string
		t, distance float64
	}{
		{[]string{"3000", "4000", "5000"}, 0.375, 0.375},
		{[]string{"6000", "8000", "11000"}, 0.167, 1.0 / 6},
		{[]string{"3000"}, 0.5, 0.5},
	} {
		class := privacy.NewSummary(1)
		for _, salary := range row.class {
			class.Add([]uint32{salaries.Code(salary)})
		}
		if d, ok := c.DistanceOf(class, population); !ok || math.Abs(d-row.distance) > 1e-12 {
			t.Errorf("%v is %v away, %v expected", row.class, d, row.distance)
		}
		for step, want := range map[float64]bool{0: true, -1e-6: row.t != row.distance && row.t-1e-6 > row.distance, 1e-15: true} {
			if c.T = row.t + step; c.Satisfied(class, population) != want {
				t.Errorf("%v: satisfied %v at %v", row.class, !want, c.T)
			}
		}
	}
}

// TestLeastWork: the distances are what moving the class's distribution to the
// table's costs at the least, found by a solver of transport problems that knows
// nothing but the distance between two values.
func TestLeastWork(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		records := 3 + int(seed%20)
		w := newWorld(t, seed, records, 2+int(seed%6), false)
		class := w.pick(w.random.Perm(records)[:1+w.random.IntN(records)])
		summary := summarize(class)
		codes := []uint32{}
		for code := range uint32(8) {
			if w.whole.Sensitive[0][code] > 0 {
				codes = append(codes, code)
			}
		}
		var have, due []int
		for _, code := range codes {
			have = append(have, summary.Sensitive[0][code]*w.whole.Records)
			due = append(due, w.whole.Sensitive[0][code]*summary.Records)
		}
		for _, c := range []privacy.TCloseness{
			{}, {Distance: privacy.OrderedDistance, Scale: w.ordered}, {Distance: privacy.HierarchicalDistance, Scale: w.tree},
		} {
			distance := distances(c, codes)
			want := transport(have, due, distance) / float64(summary.Records*w.whole.Records)
			if got, ok := c.DistanceOf(summary, w.whole); !ok || math.Abs(got-want) > 1e-9 {
				t.Fatalf("seed %d: %v: %v, the least work is %v (%v of %v)", seed, c.Distance, got, want, class, w.group)
			}
		}
	}
}

// distances are those between any two of the values, by the definitions.
func distances(c privacy.TCloseness, codes []uint32) [][]float64 {
	between := make([][]float64, len(codes))
	above := map[string][]string{
		"0": {"low"}, "1": {"low"}, "2": {"low", "least"}, "3": {"low", "least"}, "4": {"high"}, "5": {"high"},
	}
	label := func(i int) string {
		return c.Scale.Hierarchy().Generalize([]hierarchy.Cell{c.Scale.Cell(codes[i])}).Value
	}
	rank := func(i int) float64 { // of m; beyond the scale a whole range further
		lower, m := 0, 0
		for _, other := range codes {
			if x := c.Scale.Position(other); !math.IsNaN(x) {
				m++
				if x < c.Scale.Position(codes[i]) {
					lower++
				}
			}
		}
		last := float64(max(1, m-1))
		if math.IsNaN(c.Scale.Position(codes[i])) {
			return float64(m-1)/last + 1
		}
		return float64(lower) / last
	}
	for i := range codes {
		between[i] = make([]float64, len(codes))
		for j := range codes {
			switch {
			case i == j:
			case c.Distance == privacy.OrderedDistance:
				between[i][j] = math.Abs(rank(i) - rank(j))
			case c.Distance == privacy.HierarchicalDistance:
				// Of the taxonomy in definition_test.go, of height 3.
				one, other, common := above[label(i)], above[label(j)], 0
				for common < min(len(one), len(other)) && one[common] == other[common] {
					common++
				}
				between[i][j] = 1 - float64(common)/3
			default:
				between[i][j] = 1
			}
		}
	}
	return between
}

// transport is the least cost of turning one vector into another of the same
// sum: successive cheapest paths through what has been moved, each found by
// relaxing all edges (Bellman and Ford).
func transport(have, due []int, cost [][]float64) float64 {
	n := len(have)
	supply, demand := append([]int{}, have...), append([]int{}, due...)
	flow := make([][]int, n)
	for i := range flow {
		flow[i] = make([]int, n)
	}
	total := 0.0
	for {
		// Nodes 0..n-1 are sources, n..2n-1 sinks.
		far, from := make([]float64, 2*n), make([]int, 2*n)
		for v := range far {
			far[v], from[v] = math.Inf(1), -1
			if v < n && supply[v] > 0 {
				far[v] = 0
			}
		}
		for range 2 * n {
			for i := range n {
				for j := range n {
					if far[i]+cost[i][j] < far[n+j]-1e-12 {
						far[n+j], from[n+j] = far[i]+cost[i][j], i
					}
					if flow[i][j] > 0 && far[n+j]-cost[i][j] < far[i]-1e-12 {
						far[i], from[i] = far[n+j]-cost[i][j], n+j
					}
				}
			}
		}
		end := -1
		for j := range n {
			if demand[j] > 0 && !math.IsInf(far[n+j], 1) && (end < 0 || far[n+j] < far[end]) {
				end = n + j
			}
		}
		if end < 0 {
			return total
		}
		amount, start := demand[end-n], end
		for ; from[start] >= 0; start = from[start] {
			if start < n {
				amount = min(amount, flow[start][from[start]-n])
			}
		}
		amount = min(amount, supply[start])
		supply[start] -= amount
		demand[end-n] -= amount
		for v := end; from[v] >= 0; v = from[v] {
			if v >= n {
				flow[from[v]][v-n] += amount
			} else {
				flow[v][from[v]-n] -= amount
			}
		}
		total += float64(amount) * far[end]
	}
}

// TestLaterValues: a live table has values that the scale has not seen, and a
// class may have one before the population does.
func TestLaterValues(t *testing.T) {
	t.Parallel()
	values := privacy.NewDictionary()
	numbers := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	scale := privacy.NewScale(values, workload.Attribute("n", numbers).Hierarchy)
	c := privacy.TCloseness{T: 0.5, Distance: privacy.OrderedDistance, Scale: scale}
	whole := privacy.NewSummary(1)
	for _, text := range []string{"10", "30", "20"} {
		whole.Add([]uint32{values.Code(text)})
	}
	middle := privacy.NewSummary(1)
	middle.Add([]uint32{values.Code("20")})
	if d, ok := c.DistanceOf(middle, privacy.NewPopulation(whole)); !ok || math.Abs(d-1.0/3) > 1e-12 {
		t.Errorf("the middle of three is %v away", d)
	}
	stranger := privacy.NewSummary(1)
	stranger.Add([]uint32{values.Code("40")})
	if c.Satisfied(stranger, privacy.NewPopulation(whole)) {
		t.Error("a value that the table lacks is close to it")
	}
	whole.Merge(stranger)
	if d, ok := c.DistanceOf(stranger, privacy.NewPopulation(whole)); !ok || math.Abs(d-0.5) > 1e-12 {
		t.Errorf("the end of four is %v away", d)
	}
	unknown := privacy.NewSummary(1)
	unknown.Add([]uint32{4_000_000_000})
	if !c.Satisfied(unknown, privacy.NewPopulation(unknown)) || !hierarchy.IsOffScale(scale.Cell(4_000_000_000)) {
		t.Error("a code without a text has a place")
	}
}

func BenchmarkTCloseness(b *testing.B) {
	const distinct = 100_000
	random := rand.New(rand.NewPCG(1, 1))
	values := privacy.NewDictionary()
	whole := privacy.NewSummary(1)
	for i := range distinct {
		code := values.Code(strconv.Itoa(i * 7919 % 1_000_003))
		for range 1 + i%10 {
			whole.Add([]uint32{code})
		}
	}
	population := privacy.NewPopulation(whole)
	class := privacy.NewSummary(1)
	for range 20 {
		class.Add([]uint32{random.Uint32N(distinct)})
	}
	numbers := workload.Attribute("n", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	for _, c := range []privacy.TCloseness{
		{T: 0.3},
		{T: 0.3, Distance: privacy.OrderedDistance, Scale: privacy.NewScale(values, numbers.Hierarchy)},
		{T: 0.3, Distance: privacy.HierarchicalDistance, Scale: privacy.NewScale(values, numbers.Hierarchy)},
	} {
		b.Run(c.Distance.String()+"/distinct=100000/class=20", func(b *testing.B) {
			c.Satisfied(class, population)
			b.ReportAllocs()
			for b.Loop() {
				c.Satisfied(class, population)
			}
		})
		b.Run(c.Distance.String()+"/distinct=100000/population", func(b *testing.B) {
			for b.Loop() {
				c.Satisfied(class, privacy.NewPopulation(whole))
			}
		})
	}
}
