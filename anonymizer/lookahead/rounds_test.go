package lookahead

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestRounds: classes are disjoint, hold all that is not withheld, satisfy the constraints, and are the same each time.
func TestRounds(t *testing.T) {
	t.Parallel()
	for name, table := range tables(t) {
		for _, bound := range []float64{0.02, 0.2, 1} {
			for _, c := range []privacy.ConstraintSet{kAnonymous(2), kAnonymous(30), {privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 2}}} {
				if c[len(c)-1] == (privacy.DistinctDiversity{L: 2}) && table.SensitiveLen() == 0 {
					continue
				}
				r, err := rounds{bound}.Anonymize(t.Context(), table, c, anonymizer.Options{Seed: 7})
				if err != nil {
					t.Fatal(err)
				}
				seen := make([]bool, table.Len())
				for _, class := range append(slices.Clone(r.Classes), r.Withheld) {
					for _, record := range class {
						if seen[record] {
							t.Fatalf("%s, bound %v: record %d is in two classes", name, bound, record)
						}
						seen[record] = true
					}
				}
				if slices.Contains(seen, false) {
					t.Errorf("%s, bound %v: a record is missing", name, bound)
				}
				for _, class := range r.Classes {
					if !c.Satisfied(table.Summarize(class), table.Population()) {
						t.Errorf("%s, bound %v: a class of %d violates %v", name, bound, len(class), c)
					}
				}
				again, err := rounds{bound}.Anonymize(t.Context(), table, c, anonymizer.Options{Seed: 7})
				if err != nil || fmt.Sprint(again) != fmt.Sprint(r) {
					t.Errorf("%s, bound %v: another release by the same seed: %v", name, bound, err)
				}
			}
		}
	}
}

// TestRoundsByHand: four records are alike in their town, and four in their job; no level of both hierarchies holds all.
func TestRoundsByHand(t *testing.T) {
	t.Parallel()
	flat := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
	list := []anonymizer.Attribute{workload.Attribute("town", flat), workload.Attribute("job", flat)}
	cells := make([][]hierarchy.Cell, 2)
	for i := range 8 {
		town, job := "Kiel", fmt.Sprint("job ", i)
		if i >= 4 {
			town, job = fmt.Sprint("town ", i), "nurse"
		}
		for a, value := range []string{town, job} {
			cells[a] = append(cells[a], list[a].Hierarchy.Encode(value))
		}
	}
	table, err := anonymizer.NewTable(list, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rounds{1}.Anonymize(t.Context(), table, kAnonymous(4), anonymizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range r.Classes {
		slices.Sort(class)
	}
	slices.SortFunc(r.Classes, slices.Compare)
	if fmt.Sprint(r.Classes) != "[[0 1 2 3] [4 5 6 7]]" || len(r.Withheld) > 0 || metric.PublishedLoss(table, r) != 0.5 {
		t.Errorf("%v, and %v are withheld", r.Classes, r.Withheld)
	}
	if r, err = (rounds{0.4}).Anonymize(t.Context(), table, kAnonymous(4), anonymizer.Options{}); err != nil || len(r.Classes) > 0 || len(r.Withheld) != 8 {
		t.Errorf("each class loses a half, and %v leave with a bound of 0.4: %v", r.Classes, err)
	}
}

// TestClimb compares what the next levels are worth with counts by brute force, all the way up.
func TestClimb(t *testing.T) {
	t.Parallel()
	const k, bound = 4, 0.3
	table := workload.Census(5, 300).Table()
	l := newLeveled(table, 3)
	records := make([]int32, 0, 200)
	for i := range int32(200) {
		records = append(records, i+50)
	}
	c := newClimb(l, records, k, bound)
	for steps := 0; ; steps++ {
		up := -1
		for a := range c.levels {
			if c.levels[a]+1 == len(l.nodes[a]) {
				continue
			}
			up = a
			c.try(a)
			levels := slices.Clone(c.levels)
			levels[a]++
			worth, exact := 0.0, 0.0
			for _, class := range l.alike(records, levels) {
				for _, record := range class {
					loss := 0.0
					for b, level := range levels {
						loss += float64(l.shares[b][level][record])
					}
					worth += (bound - loss) * min(1, float64(len(class))/k)
					if len(class) >= k {
						exact += bound - loss
					}
				}
			}
			if got := c.tries[a]; math.Abs(got.worth-worth) > 1e-3 || math.Abs(got.exact-exact) > 1e-3 {
				t.Fatalf("at %v, attribute %d: %v and %v, by brute force %v and %v", c.levels, a, got.worth, got.exact, worth, exact)
			}
		}
		if up < 0 {
			if steps < len(c.levels) {
				t.Errorf("only %d steps", steps)
			}
			break
		}
		c.raise(up)
	}
	if len(c.tuples) != 1 || c.tuples[0].count != 200 {
		t.Errorf("at the top there are %d tuples", len(c.tuples))
	}
}
