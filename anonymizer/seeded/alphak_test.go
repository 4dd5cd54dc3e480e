package seeded_test

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
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/seeded"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func anonymize(t testing.TB, m seeded.AlphaK, table *anonymizer.Table, c privacy.ConstraintSet, seed uint64) *anonymizer.Release {
	t.Helper()
	if err := m.Accepts(table.Attributes(), c); err != nil {
		t.Fatal(err)
	}
	r, err := m.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kAlpha bounds the values given, or all.
func kAlpha(k int, alpha float64, values ...uint32) privacy.ConstraintSet {
	return privacy.ConstraintSet{privacy.KAnonymity{K: k}, privacy.AlphaBound{Alpha: alpha, Name: "s", Values: values}}
}

func TestReleasesAreSound(t *testing.T) {
	t.Parallel()
	single := []privacy.ConstraintSet{
		{},
		{privacy.KAnonymity{K: 1}},
		{privacy.KAnonymity{K: 7}},
		kAlpha(2, 0.5, 0), kAlpha(5, 0.4, 1), kAlpha(20, 0.2, 2), kAlpha(3, 0.2, 2), kAlpha(4, 0.05, 7),
	}
	multi := append([]privacy.ConstraintSet{
		kAlpha(2, 0.5), kAlpha(5, 0.4), kAlpha(3, 0.35), kAlpha(20, 0.3), kAlpha(3, 0.2),
		kAlpha(4, 0.4, 0, 1), kAlpha(3, 0.2, 3, 4, 5), kAlpha(10, 0.25, 2, 7, 99),
	}, single...)
	for seed := range uint64(60) {
		shape := workload.Shape{
			Records:    int(seed*37%400) + int(seed%3),
			Attributes: 1 + int(seed%8),
			Distinct:   []int{1, 2, 10, 1000, 60_000}[seed%5],
			Nulls:      []float64{0, 0.1, 1}[seed%7%3],
			Sensitive:  1 + int(seed%11),
		}
		d := workload.Generate(seed, shape)
		check := func(m seeded.AlphaK, c privacy.ConstraintSet) {
			table := d.Table()
			r := anonymize(t, m, table, c, seed)
			if err := anonymizertest.CheckRelease(d, r, c); err != nil {
				t.Fatalf("%s seed %d %+v %v: %v", m.Name(), seed, shape, c, err)
			}
			feasible := c.Feasible(table.Population().Summary) == nil
			if table.Len() > 0 && feasible == (len(r.Withheld) > 0) {
				t.Fatalf("%s seed %d %+v %v: feasible %v, %d records withheld", m.Name(), seed, shape, c, feasible, len(r.Withheld))
			}
		}
		for _, c := range single {
			check(seeded.AlphaK{}, c)
		}
		for _, c := range multi {
			check(seeded.AlphaK{Multi: true}, c)
		}
	}
}

// TestCountsSubjects gives every person three records.
func TestCountsSubjects(t *testing.T) {
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
	for _, c := range []privacy.ConstraintSet{{privacy.KAnonymity{K: 5}}, kAlpha(5, 0.7), kAlpha(5, 0.65, 1)} {
		r := anonymize(t, seeded.AlphaK{Multi: true}, table, c, 1)
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

func TestTablesAtTheEdge(t *testing.T) {
	t.Parallel()
	bare, err := anonymizer.NewTable(nil, nil, [][]uint32{{1, 1, 2, 3, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []seeded.AlphaK{{}, {Multi: true}} {
		if r := anonymize(t, m, bare, kAlpha(2, 0.5, 1), 0); len(r.Classes) != 2 {
			t.Errorf("%s: five records without attributes: %d classes", m.Name(), len(r.Classes))
		}
		empty := workload.Generate(1, workload.Shape{Attributes: 3, Sensitive: 1}).Table()
		if r := anonymize(t, m, empty, kAlpha(2, 0.5, 1), 0); len(r.Classes)+len(r.Withheld) != 0 {
			t.Errorf("%s: an empty table gives %+v", m.Name(), r)
		}
		single := workload.Generate(1, workload.Shape{Records: 1, Attributes: 3}).Table()
		if r := anonymize(t, m, single, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, 0); len(r.Withheld) != 1 {
			t.Errorf("%s: one record at k = 2 gives %+v", m.Name(), r)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	k := privacy.KAnonymity{K: 2}
	for _, c := range []struct {
		privacy.ConstraintSet
		single, multi bool
	}{
		{privacy.ConstraintSet{k}, true, true},
		{kAlpha(2, 0.5, 3), true, true},
		{kAlpha(2, 0.5, 3, 4), false, true},
		{kAlpha(2, 0.5), false, true},
		{append(kAlpha(2, 0.5, 3), kAlpha(2, 0.4, 4)...), false, false},
		{privacy.ConstraintSet{k, privacy.DistinctDiversity{L: 2}}, false, false},
	} {
		if err := (seeded.AlphaK{}).Accepts(nil, c.ConstraintSet); (err == nil) != c.single {
			t.Errorf("single, %v: %v", c.ConstraintSet, err)
		}
		if err := (seeded.AlphaK{Multi: true}).Accepts(nil, c.ConstraintSet); (err == nil) != c.multi {
			t.Errorf("multi, %v: %v", c.ConstraintSet, err)
		}
	}
}

func TestIsDeterministic(t *testing.T) {
	t.Parallel()
	table := workload.Generate(1, workload.Shape{Records: 20_000, Attributes: 4, Distinct: 30, Sensitive: 9}).Table()
	for _, m := range methods {
		first := anonymize(t, m.AlphaK, table, m.relaxed, 7)
		if again := anonymize(t, m.AlphaK, table, m.relaxed, 7); !reflect.DeepEqual(first, again) {
			t.Errorf("%s: same seed, other release", m.Name())
		}
		if other := anonymize(t, m.AlphaK, table, m.relaxed, 8); reflect.DeepEqual(first, other) {
			t.Errorf("%s: the seed decides nothing", m.Name())
		}
	}
}

func TestCancellationAndProgress(t *testing.T) {
	t.Parallel()
	const records = 40_000
	table := workload.Generate(3, workload.Shape{Records: records, Attributes: 3, Distinct: 500, Sensitive: 9}).Table()
	for _, m := range methods {
		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		_, err := m.Anonymize(ctx, table, m.relaxed, anonymizer.Options{Progress: func(int, int) {
			reports++
			cancel()
		}})
		if !errors.Is(err, context.Canceled) || reports == 0 || reports > 6 {
			t.Errorf("%s: canceled run: error %v after %d reports", m.Name(), err, reports)
		}
		last := 0
		_, err = m.Anonymize(context.Background(), table, m.relaxed, anonymizer.Options{
			Progress: func(done, total int) {
				if done < last || total != records {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			},
		})
		if err != nil || last != records {
			t.Errorf("%s: whole run: error %v, progress up to %d", m.Name(), err, last)
		}
	}
}

func adult(t testing.TB) *anonymizer.Table {
	t.Helper()
	table, err := anonymizertest.AdultClustering("../../../shared/data/adult")
	if errors.Is(err, anonymizertest.ErrNoAdult) {
		t.Skip("skipped: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// methods are both algorithms, with a constraint set for Adult, k = 20 and alpha =
// 0.2, and one that generated tables can meet.
var methods = []struct {
	seeded.AlphaK
	constraints, relaxed privacy.ConstraintSet
}{
	{seeded.AlphaK{}, kAlpha(20, 0.2, 0), kAlpha(10, 0.3, 0)},
	{seeded.AlphaK{Multi: true}, kAlpha(20, 0.2), kAlpha(10, 0.3)},
}

func BenchmarkAlphaKAdult(b *testing.B) {
	table := adult(b)
	for _, m := range methods {
		b.Run(fmt.Sprintf("rows=%d/qi=8/k=20/%s", table.Len(), m.Name()), func(b *testing.B) {
			var r *anonymizer.Release
			for b.Loop() {
				r = anonymize(b, m.AlphaK, table, m.constraints, 1)
			}
			b.ReportMetric(100*metric.GCP(table, r), "%GCP")
			b.ReportMetric(float64(metric.LargestClass(r)), "largest")
			b.ReportMetric(float64(metric.Classes(r)), "classes")
		})
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

func BenchmarkAlphaK(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 300_000, 1_000_000} {
		if rows > 100_000 && testing.Short() {
			continue
		}
		table := adultLike(b, rows)
		for _, m := range methods {
			b.Run(fmt.Sprintf("rows=%d/qi=8/k=20/%s", rows, m.Name()), func(b *testing.B) {
				var r *anonymizer.Release
				for b.Loop() {
					r = anonymize(b, m.AlphaK, table, m.constraints, 1)
				}
				b.ReportMetric(100*metric.GCP(table, r), "%GCP")
			})
		}
	}
}
