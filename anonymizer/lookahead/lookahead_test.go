package lookahead

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func kAnonymous(k int) privacy.ConstraintSet {
	return privacy.ConstraintSet{privacy.KAnonymity{K: k}}
}

func run(t testing.TB, table *anonymizer.Table, c privacy.ConstraintSet, effort anonymizer.Effort) *anonymizer.Release {
	t.Helper()
	r, err := Partition{Effort: effort}.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEveryEffort: whatever the effort, releases are sound, classes are as small as they can be where
// the size decides, and more effort does not lose more.
func TestEveryEffort(t *testing.T) {
	t.Parallel()
	k := privacy.KAnonymity{K: 4}
	shapes := []workload.Shape{
		{Records: 3, Attributes: 2, Distinct: 3, Sensitive: 2},
		{Records: 23, Attributes: 2, Distinct: 4, Sensitive: 4},
		{Records: 60, Attributes: 3, Distinct: 1, Sensitive: 4},
		{Records: 60, Attributes: 3, Distinct: 9, Nulls: 1, Sensitive: 4},
		{Records: 300, Attributes: 14, Distinct: 12, Nulls: 0.05, Sensitive: 6},
		{Records: 600, Attributes: 3, Distinct: 5000, Sensitive: 3},
	}
	sets := []privacy.ConstraintSet{{k}, {k, privacy.DistinctDiversity{L: 3, Name: "s"}}, {k, privacy.AlphaBound{Alpha: 0.6, Name: "s"}}, {k, privacy.TCloseness{T: 0.4, Name: "s"}}}
	for s, shape := range shapes {
		for c, set := range sets {
			t.Run(fmt.Sprintf("%d/%v", s, set), func(t *testing.T) {
				t.Parallel()
				d := workload.Generate(uint64(7*s+c), shape)
				before := 2.0
				for effort := anonymizer.Fast; effort <= anonymizer.Best; effort++ {
					r := run(t, d.Table(), set, effort)
					if err := anonymizertest.CheckRelease(d, r, set); err != nil {
						t.Fatal(err)
					}
					if most := metric.LargestClass(r); len(set) == 1 && most >= 2*k.K {
						t.Errorf("effort %v: a class of %d", effort, most)
					}
					lost := metric.PublishedLoss(d.Table(), r)
					if effort == anonymizer.Good && lost > before+1e-6 {
						t.Errorf("%.4f is lost, without improvement %.4f", lost, before)
					}
					before = lost
				}
			})
		}
	}
}

// TestRare: a value that fewer than k records have leaves no large class behind, and is not cut off
// alone, wherever the sample has it.
func TestRare(t *testing.T) {
	t.Parallel()
	for rare := range 5 {
		number, text := make([]hierarchy.Cell, 6000), make([]hierarchy.Cell, 6000)
		same := workload.Attribute("text", hierarchy.Spec{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText})
		for i := range text {
			text[i] = same.Hierarchy.Encode("the same")
		}
		for i := range rare {
			number[1000*i] = 1
		}
		table, err := anonymizer.NewTable([]anonymizer.Attribute{
			workload.Attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}),
			same,
		}, [][]hierarchy.Cell{number, text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for effort := anonymizer.Fast; effort <= anonymizer.Best; effort++ {
			r := run(t, table, kAnonymous(5), effort)
			for _, class := range r.Classes {
				if len(class) < 5 || len(class) >= 10 {
					t.Fatalf("%d rare values, effort %v: a class of %d", rare, effort, len(class))
				}
			}
			if lost := metric.PublishedLoss(table, r); lost > 0.002 {
				t.Errorf("%d rare values, effort %v: %.4f is lost", rare, effort, lost)
			}
		}
	}
}

// TestExchanges: where no cut gives parts that satisfy the constraints, records are exchanged.
func TestExchanges(t *testing.T) {
	t.Parallel()
	d := workload.Generate(2, workload.Shape{Records: 400, Attributes: 3, Distinct: 50, Sensitive: 1})
	codes := make([]uint32, 400)
	for i := range codes {
		codes[i] = uint32(i % 2)
	}
	table, err := anonymizer.NewTable(d.Attributes, d.Cells, [][]uint32{codes})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, table, privacy.ConstraintSet{privacy.KAnonymity{K: 4}, privacy.AlphaBound{Alpha: 0.5}}, anonymizer.Fast)
	if len(r.Classes) < 50 {
		t.Errorf("%d classes", len(r.Classes))
	}
}

// TestPilot: to follow several cuts to the end loses less than to make the best one at once.
func TestPilot(t *testing.T) {
	t.Parallel()
	d := newDivision(context.Background(), workload.AdultLike(5, 3000), kAnonymous(20), anonymizer.Best, anonymizer.Options{})
	c := newCutter(d)
	var piloted func(records []int32) float64
	piloted = func(records []int32) float64 {
		size := c.pilot(t.Context(), records)
		if size == 0 {
			return c.greedy(t.Context(), records)
		}
		return piloted(records[:size]) + piloted(records[size:])
	}
	greedy := c.greedy(t.Context(), append([]int32(nil), d.records...))
	if lost := piloted(append([]int32(nil), d.records...)); lost > 0.98*greedy {
		t.Errorf("%.0f is lost, greedily %.0f", lost, greedy)
	} else {
		t.Logf("%.3f of what is lost greedily", lost/greedy)
	}
}

// TestLeast: with k = 1, also where values are missing, and without attributes, there are classes of every effort.
func TestLeast(t *testing.T) {
	t.Parallel()
	missing := workload.Generate(3, workload.Shape{Records: 200, Attributes: 3, Distinct: 9, Nulls: 0.4})
	none, err := anonymizer.NewTable(nil, nil, [][]uint32{make([]uint32, 70)})
	if err != nil {
		t.Fatal(err)
	}
	for effort := anonymizer.Fast; effort <= anonymizer.Best; effort++ {
		if err := anonymizertest.CheckRelease(missing, run(t, missing.Table(), kAnonymous(1), effort), kAnonymous(1)); err != nil {
			t.Errorf("effort %v: %v", effort, err)
		}
		r := run(t, none, kAnonymous(5), effort)
		if metric.LargestClass(r) >= 10 || metric.AverageClassSize(r)*float64(len(r.Classes)) != 70 {
			t.Errorf("effort %v: %d classes of up to %d records without attributes", effort, len(r.Classes), metric.LargestClass(r))
		}
	}
}

// TestPersons: with subjects, k counts persons.
func TestPersons(t *testing.T) {
	t.Parallel()
	table := workload.AdultLike(2, 3000)
	subjects := make([]uint32, table.Len())
	for i := range subjects {
		subjects[i] = uint32(i * i % 800)
	}
	table, err := table.WithSubjects(subjects)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, table, kAnonymous(5), anonymizer.Good)
	if len(r.Classes) < 20 {
		t.Errorf("%d classes", len(r.Classes))
	}
	for _, class := range r.Classes {
		persons := map[uint32]bool{}
		for _, i := range class {
			persons[subjects[i]] = true
		}
		if len(persons) < 5 {
			t.Fatalf("a class of %d persons", len(persons))
		}
	}
}

// TestEnded: a context that has ended gives its error at every effort.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for effort := anonymizer.Fast; effort <= anonymizer.Best; effort++ {
		if r, err := (Partition{effort}).Anonymize(ctx, workload.AdultLike(1, 500), kAnonymous(3), anonymizer.Options{}); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("effort %v: %v, %v", effort, r, err)
		}
	}
}

// TestLosesLess: on tables of other kinds than Adult, it loses less than RoundedPartition.
func TestLosesLess(t *testing.T) {
	t.Parallel()
	for _, k := range []int{3, 12, 40} {
		for name, table := range map[string]*anonymizer.Table{
			"adult-like": workload.AdultLike(4, 6000),
			"every kind": workload.Generate(5, workload.Shape{Records: 3000, Attributes: 14, Distinct: 12, Nulls: 0.02}).Table(),
		} {
			rounded, err := partition.RoundedPartition{}.Anonymize(context.Background(), table, kAnonymous(k), anonymizer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if own, other := metric.PublishedLoss(table, run(t, table, kAnonymous(k), anonymizer.Fast)), metric.PublishedLoss(table, rounded); own >= other {
				t.Errorf("%s, k=%d: %.4f is lost, by rounded partition %.4f", name, k, own, other)
			}
		}
	}
}

// TestBestOfLargeClasses: the cuts of a class whose parts may be evened are followed at the same time.
func TestBestOfLargeClasses(t *testing.T) {
	t.Parallel()
	const k = 50
	table := workload.AdultLike(1, parallelPilots)
	if n := parallelPilots; n > mostEven*k {
		t.Fatalf("the cuts of %d records are not evened at k=%d", n, k)
	}
	best, good := run(t, table, kAnonymous(k), anonymizer.Best), run(t, table, kAnonymous(k), anonymizer.Good)
	if own, other := metric.PublishedLoss(table, best), metric.PublishedLoss(table, good); own > other {
		t.Errorf("%.4f is lost, with effort good %.4f", own, other)
	}
}

// adult is the census table with its own taxonomies, without which the test is skipped.
func adult(t testing.TB) *anonymizer.Table {
	t.Helper()
	table, err := anonymizertest.AdultWithTaxonomies("../../../shared/data/adult")
	if errors.Is(err, anonymizertest.ErrNoAdult) {
		t.Skip("skipped: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestAdult: on Adult, the published loss is at most what the documents say.
func TestAdult(t *testing.T) {
	t.Parallel()
	table := adult(t)
	for _, row := range []struct {
		k          int
		fast, good float64 // percent
	}{{5, 5.0, 4.5}, {10, 8.4, 7.7}, {25, 14.1, 13.5}, {50, 18.7, 17.9}} {
		for effort, most := range []float64{row.fast, row.good} {
			r := run(t, table, kAnonymous(row.k), anonymizer.Effort(effort))
			if lost := 100 * metric.PublishedLoss(table, r); lost > most {
				t.Errorf("k=%d, effort %v: %.2f %% is lost, at most %v %%", row.k, effort, lost, most)
			}
		}
	}
}

func BenchmarkPartition(b *testing.B) {
	measure := func(name string, table *anonymizer.Table, k int, effort anonymizer.Effort) {
		b.Run(fmt.Sprintf("%s/rows=%d/k=%d/effort=%v", name, table.Len(), k, effort), func(b *testing.B) {
			var r *anonymizer.Release
			for b.Loop() {
				r = run(b, table, kAnonymous(k), effort)
			}
			b.ReportMetric(100*metric.PublishedLoss(table, r), "loss-%")
		})
	}
	for effort := anonymizer.Fast; effort <= anonymizer.Best; effort++ {
		for _, k := range []int{5, 10, 25, 50} {
			measure("adult", adult(b), k, effort)
		}
	}
	for rows := 10_000; rows <= 1_000_000; rows *= 10 {
		measure("adult-like", workload.AdultLike(1, rows), 5, anonymizer.Fast)
	}
}
