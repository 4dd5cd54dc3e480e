package agglomerative_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/agglomerative"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestSimilarityByHand: four records (1,a), (1,a), (2,a), (4,b); n(n-1) = 12.
//
// Numbers by rising gap: (1,1) D = 2/12, (1,2) + 4 = 6/12, (2,4) + 2 = 8/12,
// (1,4) + 4 = 1. Labels: D(a,a) = 6/12, and 1 for different ones, below which 1/2
// is next: half the chi-squares are 1 - ln(1/2) = 1 + ln 2 and 1 - ln 2. D of a
// pair is e^-h (1 + h).
func TestSimilarityByHand(t *testing.T) {
	t.Parallel()
	number := workload.Attribute("x", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	label := workload.Attribute("y", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText})
	cells := make([][]hierarchy.Cell, 2)
	for _, record := range [][2]string{{"1", "a"}, {"1", "a"}, {"2", "a"}, {"4", "b"}} {
		cells[0] = append(cells[0], number.Hierarchy.Encode(record[0]))
		cells[1] = append(cells[1], label.Hierarchy.Encode(record[1]))
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{number, label}, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{
		{0.1374926, 0.3114371, 0.9615288}, // h = ln 6 + 1 + ln 2; ln 2 + 1 + ln 2; 0 + 1 - ln 2
		{0.3114371, 0.9615288},
		{0.8399020}, // h = ln 12/8 + 1 - ln 2
		{},
	}
	got := agglomerative.Dissimilarities(table)
	for i, row := range want {
		for j, d := range row {
			if math.Abs(got[i][j]-d) > 1e-6 {
				t.Errorf("D of records %d and %d is %.7f, %.7f expected", i, i+1+j, got[i][j], d)
			}
		}
	}
}

// TestSimilarityAgrees with the sums over all pairs of values.
func TestSimilarityAgrees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		shape := workload.Shape{
			Records: 2 + int(seed)*9, Attributes: int(seed) % 8, Distinct: []int{1, 3, 12, 60}[seed%4], Nulls: []float64{0, 0.2, 1}[seed%3],
		}
		t.Run(fmt.Sprintf("%+v", shape), func(t *testing.T) {
			t.Parallel()
			table := workload.Generate(seed, shape).Table()
			want := naiveSimilarity(table)
			for i, row := range agglomerative.Dissimilarities(table) {
				for j, d := range row {
					if other := 1 - want[i][i+1+j]; math.Abs(d-other) > 1e-9 {
						t.Fatalf("D of records %d and %d is %v, %v expected", i, i+1+j, d, other)
					}
				}
			}
		})
	}
}

// TestGaps: what is derived for many different values rises with the gap and
// lies between the shares of pairs that are not farther apart than a step below
// and a step above, a sixteenth of an octave's begin.
func TestGaps(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(r *rand.Rand) float64{
		"uniform":   func(r *rand.Rand) float64 { return r.Float64() },
		"normal":    func(r *rand.Rand) float64 { return r.NormFloat64() },
		"heavy":     func(r *rand.Rand) float64 { return math.Exp(3 * r.NormFloat64()) },
		"clustered": func(r *rand.Rand) float64 { return float64(r.IntN(5)) + r.Float64()/1000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			column := make([]float64, 5000)
			for i := range column {
				column[i] = draw(random)
			}
			derive, last := agglomerative.GapDissimilarity(column), 0.0
			for gap := 1e-6; gap <= 1; gap *= 1.03 {
				derived := derive(gap)
				below, above := naiveWithin(column, gap/1.0625), naiveWithin(column, gap*1.0625)
				if derived < below-1e-9 || derived > above+1e-7 {
					t.Errorf("gap %g: derived %g, not between %g and %g", gap, derived, below, above)
				}
				if derived < last {
					t.Errorf("gap %g is more similar than a smaller one", gap)
				}
				last = derived
			}
		})
	}
}

// naiveWithin is the share of pairs of records whose gap is at most a part of
// the domain's width.
func naiveWithin(column []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(column))
	gap := part * (sorted[len(sorted)-1] - sorted[0])
	count := 0
	for i, v := range sorted {
		count += sort.Search(len(sorted)-i-1, func(j int) bool { return sorted[i+1+j]-v > gap })
	}
	return 2 * float64(count) / float64(len(column)*(len(column)-1))
}
