package hierarchy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestCoverage: it is the share of the lowest node that holds the class where the
// levels know that node, and the width elsewhere.
func TestCoverage(t *testing.T) {
	t.Parallel()
	data := workload.Generate(9, workload.Shape{Records: 60, Attributes: 14, Distinct: 9})
	random := rand.New(rand.NewPCG(1, 1))
	for a, attribute := range data.Attributes {
		h := attribute.Hierarchy
		low, high := math.Inf(1), math.Inf(-1)
		for _, c := range data.Cells[a] {
			low, high = min(low, h.Position(c)), max(high, h.Position(c))
		}
		for _, covered := range []func(float64, float64) float64{hierarchy.Coverage(h, low, high), hierarchy.Coverage(hierarchy.Frozen(h), low, high)} {
			for range 200 {
				members := make([]hierarchy.Cell, 1+random.IntN(3))
				least, greatest := math.Inf(1), math.Inf(-1)
				for i := range members {
					members[i] = data.Cells[a][random.IntN(len(data.Cells[a]))]
					least, greatest = min(least, h.Position(members[i])), max(greatest, h.Position(members[i]))
				}
				got := covered(least, greatest)
				if h.Kind() == hierarchy.Prefix {
					if !(got >= 0 && got <= 1) || (got == 0) != (least == greatest) {
						t.Fatalf("%s: from %v to %v covers %v", attribute.Name, least, greatest, got)
					}
					continue
				}
				if want := lowestNode(h, data.Cells[a], members, least, greatest, high-low); math.Abs(got-want) > 1e-12 {
					t.Fatalf("%s: from %v to %v covers %v, %v expected", attribute.Name, least, greatest, got, want)
				}
			}
		}
	}
}

// lowestNode is the share of the lowest node that holds all members, or the width.
func lowestNode(h hierarchy.Hierarchy, column, members []hierarchy.Cell, least, greatest, width float64) float64 {
	fixed := hierarchy.Grain(h) != nil
	if k := h.Kind(); k != hierarchy.Categorical && k != hierarchy.Suppression && !fixed {
		return (greatest - least) / width
	}
	levels := hierarchy.LevelsOf(h, column)
	if least == greatest && !fixed {
		return 0
	}
	// Values lie at different depths: the node is known by its label.
	published := h.Generalize(members)
	for level := range levels.Height() {
		if levels.Label(members[0], level) == published {
			return levels.Share(members[0], level)
		}
	}
	return 1
}

// TestGrain: what is published of the beginning of an interval is what is published of all in it.
func TestGrain(t *testing.T) {
	t.Parallel()
	data, fixed := workload.Generate(4, workload.Shape{Records: 90, Attributes: 14, Distinct: 40}), 0
	for a, attribute := range data.Attributes {
		h := attribute.Hierarchy
		grain := hierarchy.Grain(h)
		if grain == nil {
			continue
		}
		fixed++
		for _, c := range data.Cells[a] {
			at := grain(h.Position(c))
			if want, got := h.Generalize([]hierarchy.Cell{c}), h.Generalize([]hierarchy.Cell{at}); got != want || !(at <= h.Position(c)) {
				t.Errorf("%s: of %v the grain is %v, published as %v, not %v", attribute.Name, c, at, got, want)
			}
		}
	}
	if fixed < 2 {
		t.Fatalf("%d attributes have fixed intervals", fixed)
	}
}

// TestCoverageOfCodes counts the codes with the common beginning that may be
// published; of many codes it counts some.
func TestCoverageOfCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		codes       int
		keep        []int
		least, most string
		want, off   float64
	}{
		{1000, nil, "02100", "02100", 0, 0},
		{1000, nil, "02100", "02199", 0.1, 0},
		{1000, nil, "02100", "02300", 1, 0},
		{1000, nil, "02120", "02129", 0.01, 0},
		{1000, []int{3}, "02120", "02129", 0.1, 0},
		{1000, []int{4, 1}, "02120", "02199", 1, 0},
		{1000, []int{6}, "02120", "02121", 1, 0},
		{100_000, nil, "02100", "02101", 0, 0.001},
		{100_000, nil, "02000", "02999", 0.01, 0.001},
		{100_000, nil, "00000", "02999", 0.1, 0.001},
	} {
		h := workload.Attribute("", hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: test.keep}).Hierarchy
		for code := range test.codes {
			h.Encode(fmt.Sprintf("%05d", (2000+code)%100_000))
		}
		at := func(text string) float64 { return h.Position(h.Encode(text)) }
		got := hierarchy.Coverage(h, at("02000"), at("02999"))(at(test.least), at(test.most))
		if math.Abs(got-test.want) > test.off {
			t.Errorf("%d codes, %v: %s to %s covers %v, %v expected", test.codes, test.keep, test.least, test.most, got, test.want)
		}
	}
}
