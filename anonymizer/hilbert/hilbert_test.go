package hilbert_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/hilbert"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func anonymize(t testing.TB, table *anonymizer.Table, c privacy.ConstraintSet, seed uint64) *anonymizer.Release {
	t.Helper()
	if err := (hilbert.Hilbert{}).Accepts(table.Attributes(), c); err != nil {
		t.Fatal(err)
	}
	r, err := hilbert.Hilbert{}.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// constraintSets are those that the method accepts, for a sensitive attribute.
func constraintSets() []privacy.ConstraintSet {
	distinct := func(l int) privacy.Constraint { return privacy.DistinctDiversity{L: l, Name: "s"} }
	alpha := func(a float64) privacy.Constraint { return privacy.AlphaBound{Alpha: a, Name: "s"} }
	k := func(k int) privacy.Constraint { return privacy.KAnonymity{K: k} }
	return []privacy.ConstraintSet{
		{},
		{k(1)},
		{k(3)},
		{k(25)},
		{k(2), privacy.KAnonymity{K: 5, Over: []int{0}}},
		{distinct(2)},
		{k(7), distinct(3)},
		{k(2), distinct(5)},
		{alpha(0.5)},
		{k(6), alpha(0.5)},
		{k(3), alpha(0.35)},
		{k(3), alpha(0.2)},
		{k(20), alpha(0.3)},
		{k(2), privacy.EntropyDiversity{L: 2, Name: "s"}},
		{k(5), privacy.EntropyDiversity{L: 2.7, Name: "s"}},
	}
}

func TestHilbertReleasesAreSound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(90) {
		shape := workload.Shape{
			Records:    int(seed*37%400) + int(seed%3),
			Attributes: 1 + int(seed%8),
			Distinct:   []int{1, 2, 10, 1000, 60_000}[seed%5],
			Nulls:      []float64{0, 0.1, 1}[seed%7%3],
			Sensitive:  1 + int(seed%11),
		}
		d := workload.Generate(seed, shape)
		for _, c := range constraintSets() {
			table := d.Table()
			r := anonymize(t, table, c, seed)
			if err := anonymizertest.CheckRelease(d, r, c); err != nil {
				t.Fatalf("seed %d %+v %v: %v", seed, shape, c, err)
			}
			feasible := c.Feasible(table.Population().Summary) == nil
			if table.Len() > 0 && feasible == (len(r.Withheld) > 0) {
				t.Fatalf("seed %d %+v %v: feasible %v, %d records withheld", seed, shape, c, feasible, len(r.Withheld))
			}
		}
	}
}

// TestHilbertCountsSubjects gives every person three records.
func TestHilbertCountsSubjects(t *testing.T) {
	t.Parallel()
	d := workload.Generate(4, workload.Shape{Records: 600, Attributes: 3, Distinct: 30, Sensitive: 6})
	subjects := make([]uint32, 600)
	for i := range subjects {
		subjects[i] = uint32(i * 7 % 200)
	}
	table, err := d.Table().WithSubjects(subjects)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []privacy.ConstraintSet{
		{privacy.KAnonymity{K: 5}},
		{privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 2}},
		{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.7}},
	} {
		r := anonymize(t, table, c, 1)
		if len(r.Classes) < 2 {
			t.Errorf("%v: %d classes", c, len(r.Classes))
		}
		for _, class := range r.Classes {
			if !c.Satisfied(table.Summarize(class), table.Population()) {
				t.Fatalf("%v: a class of %d records violates it", c, len(class))
			}
		}
	}
}

func TestHilbertTablesAtTheEdge(t *testing.T) {
	t.Parallel()
	k := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	bare, err := anonymizer.NewTable(nil, nil, [][]uint32{{1, 1, 2, 3, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if r := anonymize(t, bare, k, 0); len(r.Classes) != 2 {
		t.Errorf("five records without attributes: %d classes", len(r.Classes))
	}
	empty := workload.Generate(1, workload.Shape{Attributes: 3}).Table()
	if r := anonymize(t, empty, k, 0); len(r.Classes)+len(r.Withheld) != 0 {
		t.Errorf("an empty table gives %+v", r)
	}
	single := workload.Generate(1, workload.Shape{Records: 1, Attributes: 3}).Table()
	if r := anonymize(t, single, k, 0); len(r.Withheld) != 1 {
		t.Errorf("one record at k = 2 gives %+v", r)
	}
}

func TestHilbertRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []privacy.ConstraintSet{
		{privacy.AlphaBound{Alpha: 0.3, Values: []uint32{1}}},
		{privacy.DistinctDiversity{L: 2}, privacy.AlphaBound{Alpha: 0.3}},
		{privacy.KAnonymity{K: 2}, unknown{}},
	} {
		if err := (hilbert.Hilbert{}).Accepts(nil, c); err == nil {
			t.Errorf("%v accepted", c)
		}
	}
}

type unknown struct{ privacy.KAnonymity }

func TestHilbertIsDeterministic(t *testing.T) {
	t.Parallel()
	d := workload.Generate(1, workload.Shape{Records: 70_000, Attributes: 4, Distinct: 9, Sensitive: 9})
	for _, c := range []privacy.ConstraintSet{
		{privacy.KAnonymity{K: 5}}, {privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.4}},
	} {
		first := anonymize(t, d.Table(), c, 7)
		if again := anonymize(t, d.Table(), c, 7); !reflect.DeepEqual(first, again) {
			t.Error("same seed, other release")
		}
		if other := anonymize(t, d.Table(), c, 8); reflect.DeepEqual(first, other) {
			t.Error("the seed decides nothing")
		}
	}
}

func TestHilbertCancellationAndProgress(t *testing.T) {
	t.Parallel()
	d := workload.Generate(3, workload.Shape{Records: 200_000, Attributes: 6, Distinct: 500, Sensitive: 9})
	for _, c := range []privacy.ConstraintSet{
		{privacy.KAnonymity{K: 5}}, {privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 2}},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := hilbert.Hilbert{}.Anonymize(ctx, d.Table(), c, anonymizer.Options{Progress: func(int, int) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled run: error %v", err)
		}
		last := 0
		_, err = hilbert.Hilbert{}.Anonymize(context.Background(), d.Table(), c, anonymizer.Options{
			Progress: func(done, total int) {
				if done < last || total != 200_000 {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			},
		})
		if err != nil || last != 200_000 {
			t.Errorf("whole run: error %v, progress up to %d", err, last)
		}
	}
}

// adultLike makes a table with a sensitive attribute of 14 values, which follows
// the occupation for every second record.
func adultLike(b *testing.B, rows int) *anonymizer.Table {
	b.Helper()
	t := workload.AdultLike(1, rows)
	random := rand.New(rand.NewPCG(1, 1))
	cells, sensitive := make([][]hierarchy.Cell, len(t.Attributes())), make([]uint32, rows)
	for a := range cells {
		cells[a] = t.Cells(a)
	}
	const occupation, values = 4, 14
	for i := range sensitive {
		sensitive[i] = random.Uint32N(values)
		if random.IntN(2) == 0 {
			sensitive[i] = uint32(cells[occupation][i])
		}
	}
	t, err := anonymizer.NewTable(t.Attributes(), cells, [][]uint32{sensitive})
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func BenchmarkHilbert(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		if rows > 1_000_000 && testing.Short() {
			continue
		}
		table := adultLike(b, rows)
		for _, c := range []privacy.ConstraintSet{
			{privacy.KAnonymity{K: 5}},
			{privacy.KAnonymity{K: 20}, privacy.AlphaBound{Alpha: 0.2, Name: "s"}},
		} {
			b.Run(fmt.Sprintf("rows=%d/qi=8/%v", rows, c), func(b *testing.B) {
				var r *anonymizer.Release
				for b.Loop() {
					r = anonymize(b, table, c, 1)
				}
				b.ReportMetric(100*metric.GCP(table, r), "%GCP")
			})
		}
	}
}

func BenchmarkHilbertAdult(b *testing.B) {
	table, err := anonymizertest.AdultClustering("../../../shared/data/adult")
	if errors.Is(err, anonymizertest.ErrNoAdult) {
		b.Skip("skipped: ", err)
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []privacy.ConstraintSet{
		{privacy.KAnonymity{K: 5}},
		{privacy.KAnonymity{K: 20}},
		{privacy.KAnonymity{K: 20}, privacy.AlphaBound{Alpha: 0.2, Name: "occupation"}},
		{privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 4, Name: "occupation"}},
	} {
		b.Run(fmt.Sprintf("rows=%d/qi=8/%v", table.Len(), c), func(b *testing.B) {
			var r *anonymizer.Release
			for b.Loop() {
				r = anonymize(b, table, c, 1)
			}
			b.ReportMetric(100*metric.GCP(table, r), "%GCP")
		})
	}
}
