package weighted

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

func small(t *testing.T) Data {
	t.Helper()
	d, err := Hospital(600, 3)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOverlapCountsValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		low, high, from, to := random.IntN(20), random.IntN(20), random.IntN(20), random.IntN(20)
		low, high, from, to = min(low, high), max(low, high), min(from, to), max(from, to)
		n := 0
		for v := low; v <= high; v++ {
			if v >= from && v < to {
				n++
			}
		}
		c := condition{ordered: true, discrete: true, low: float64(from), high: float64(to)}
		if got, want := c.share(cell{low: float64(low), high: float64(high)}), float64(n)/float64(high-low+1); math.Abs(got-want) > 1e-12 {
			t.Fatalf("of %d to %d in [%d,%d): %v, want %v", low, high, from, to, got, want)
		}
	}
	for _, c := range []struct {
		label, wanted string
		want          float64
	}{
		{"10115", "101", 1}, {"101**", "101", 1}, {"10***", "101", 0.1}, {"1*", "101", 0.01}, {"*", "10", 0.01}, {"20***", "10", 0}, {"10115", "102", 0}, {"10", "101", 0},
	} {
		if got := overlapOfCodes(c.label, c.wanted); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s in %s*: %v, want %v", c.label, c.wanted, got, c.want)
		}
	}
}

func TestTaxonomyCountsValues(t *testing.T) {
	t.Parallel()
	tree := newTaxonomy([]hierarchy.Node{{Label: "a", Children: []hierarchy.Node{{Label: "x"}, {Label: "y"}}}, {Label: "b"}}, []string{"x", "z", "z"})
	for _, c := range []struct {
		label, wanted string
		want          float64
	}{
		{"x", "a", 1},
		{"a", "x", 0.5},
		{"*", "x", 0.25},
		{"*", "a", 0.5},
		{"b", "a", 0},
		{"z", "z", 1},
		{"z", "a", 0},
	} {
		if got := (condition{label: c.wanted, taxonomy: tree}).share(cell{label: c.label}); got != c.want {
			t.Errorf("%s in %s: %v, want %v", c.label, c.wanted, got, c.want)
		}
	}
}

// TestQueriesAreWithinTheirBounds: and the same for the same seed.
func TestQueriesAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	d := small(t)
	axes := newAxes(d.Table)
	queries := draw(axes, 30, 4)
	if !reflect.DeepEqual(queries, draw(axes, 30, 4)) || reflect.DeepEqual(queries, draw(axes, 30, 5)) {
		t.Error("queries do not depend on the seed alone")
	}
	columns := map[int]int{}
	for _, q := range queries {
		columns[len(q)]++
		if share := q.truth(axes, nil).count / 600; share < leastSelective || share > mostSelective {
			t.Errorf("a query is about %v of the records", share)
		}
	}
	if columns[1] != 30 || columns[2] != 30 || columns[3] != 30 {
		t.Errorf("queries by columns: %v", columns)
	}
}

// TestWeightsAnswerBetter than plain filtering does, over all buckets together; with k = 1
// both are exact.
func TestWeightsAnswerBetter(t *testing.T) {
	t.Parallel()
	s := Setup{Methods: []string{"rounded-partition", "mondrian-strict"}, K: []int{1, 5, 25}, Queries: 40, Seed: 1}
	r, err := s.Run(t.Context(), small(t))
	if err != nil {
		t.Fatal(err)
	}
	var plain, weighted float64
	for _, one := range r.Summaries {
		if one.K == 1 && one.Count.Weighted > 1e-9 {
			t.Errorf("%s alone are off by %v", one.Method, one.Count.Weighted)
		}
		plain += float64(one.Queries) * (one.Count.Plain + one.Sum.Plain)
		weighted += float64(one.Queries) * (one.Count.Weighted + one.Sum.Weighted)
	}
	if !(weighted < 0.8*plain) {
		t.Errorf("weighted answers are off by %v, plain ones by %v", weighted, plain)
	}
	var first, again bytes.Buffer
	if r2, err := s.Run(t.Context(), small(t)); err != nil || r.WriteJSON(&first) != nil || r2.WriteJSON(&again) != nil || first.String() != again.String() {
		t.Errorf("the same seed gives another report: %v", err)
	}
	names, err := r.WriteFiles(filepath.Join(t.TempDir(), "out"))
	if err != nil || strings.Join(names, " ") != "weighted-hospital-mondrian-strict.svg weighted-hospital-rounded-partition.svg weighted-hospital.json" {
		t.Errorf("files %v: %v", names, err)
	}
	if err := (Setup{Methods: []string{"no"}, K: []int{0}}).Validate(); err == nil {
		t.Error("a setup that is wrong is accepted")
	}
}
