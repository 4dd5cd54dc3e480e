package partition_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

var (
	strict  = partition.Mondrian{}
	relaxed = partition.Mondrian{Relaxed: true}
)

func run(t testing.TB, m anonymizer.Method, table *anonymizer.Table, c privacy.ConstraintSet, seed uint64) *anonymizer.Release {
	t.Helper()
	r, err := m.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMondrianSatisfies: every record has its place and every class satisfies
// the constraints; an infeasible table is withheld.
func TestMondrianSatisfies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		d := workload.Generate(seed, workload.Shape{
			Records: int(seed * 9), Attributes: 1 + int(seed%12), Distinct: []int{1, 5, 300}[seed%3],
			Nulls: []float64{0, 0.2, 1}[seed%7%3], Sensitive: 1 + int(seed%6),
		})
		for _, c := range []privacy.ConstraintSet{
			kAnonymous(1 + int(seed%9)),
			{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 1 + int(seed%5), Name: "s"}},
		} {
			for _, m := range []anonymizer.Method{strict, relaxed} {
				r := run(t, m, d.Table(), c, seed)
				if err := anonymizertest.CheckRelease(d, r, c); err != nil {
					t.Fatalf("%s, seed %d, %v: %v", m.Name(), seed, c, err)
				}
				feasible := c.Feasible(d.Table().Population().Summary) == nil
				if len(r.Withheld) > 0 == feasible && d.Table().Len() > 0 {
					t.Fatalf("%s, seed %d, %v: feasible %v, %d records withheld", m.Name(), seed, c, feasible, len(r.Withheld))
				}
			}
		}
	}
}

// TestMondrianStrictIsFinal: at no class's median, on no attribute, is there a cut
// with both sides satisfying the constraints.
func TestMondrianStrictIsFinal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		d := workload.Generate(seed, workload.Shape{
			Records: 100 + int(seed*20), Attributes: 1 + int(seed%4), Distinct: 1 + int(seed*seed), Nulls: 0.05, Sensitive: 4,
		})
		c := privacy.ConstraintSet{privacy.KAnonymity{K: 2 + int(seed%7)}, privacy.DistinctDiversity{L: 1 + int(seed%3), Name: "s"}}
		table := d.Table()
		for _, class := range run(t, strict, table, c, seed).Classes {
			for a, attribute := range table.Attributes() {
				position := func(r int32) float64 {
					if p := attribute.Hierarchy.Position(table.Cells(a)[r]); !math.IsNaN(p) {
						return p
					}
					return math.Inf(1)
				}
				sorted := slices.Clone(class)
				slices.SortFunc(sorted, func(x, y int32) int {
					switch px, py := position(x), position(y); {
					case px < py:
						return -1
					case px > py:
						return 1
					}
					return 0
				})
				size := max(1, len(sorted)/2)
				for size < len(sorted) && position(sorted[size]) == position(sorted[size-1]) {
					size++
				}
				if size < len(sorted) && c.Satisfied(table.Summarize(sorted[:size]), table.Population()) &&
					c.Satisfied(table.Summarize(sorted[size:]), table.Population()) {
					t.Fatalf("seed %d: a class of %d records could be cut at %d on attribute %d", seed, len(class), size, a)
				}
			}
		}
	}
}

// TestMondrianRelaxedSizes: for k alone, classes of k to 2k-1 records, whatever
// the values.
func TestMondrianRelaxedSizes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		d := workload.Generate(seed, workload.Shape{
			Records: int(seed * 13), Attributes: int(seed % 4), Distinct: 1 + int(seed%3)*50, Nulls: 0.1, Sensitive: 2,
		})
		k := 1 + int(seed%8)
		for _, size := range classSizes(run(t, relaxed, d.Table(), kAnonymous(k), seed)) {
			if size < k || size >= 2*k {
				t.Fatalf("seed %d, k=%d: class of %d records", seed, k, size)
			}
		}
	}
}

// TestMondrianOnAdult compares with a public implementation: strict with its
// loss and number of classes, relaxed with the sizes that follow from n and k.
func TestMondrianOnAdult(t *testing.T) {
	t.Parallel()
	table := adult(t)
	for _, want := range []struct {
		k, classes  int
		loss        float64
		relaxedDM   int64
		relaxedLoss float64
	}{
		{5, 3271, 0.0830, 223_054, 0.0640},
		{10, 1795, 0.1124, 444_618, 0.1000},
		{25, 776, 0.1635, 888_678, 0.1470},
		{50, 402, 0.2216, 1_776_890, 0.2070},
	} {
		r := run(t, strict, table, kAnonymous(want.k), 0)
		if loss := metric.GCP(table, r); math.Abs(loss/want.loss-1) > 0.05 {
			t.Errorf("strict, k=%d: information loss %.4f, about %.4f expected", want.k, loss, want.loss)
		}
		if classes := float64(metric.Classes(r)); math.Abs(classes/float64(want.classes)-1) > 0.01 {
			t.Errorf("strict, k=%d: %v classes, about %d expected", want.k, classes, want.classes)
		}
		r = run(t, relaxed, table, kAnonymous(want.k), 0)
		if dm := metric.Discernibility(r); dm != want.relaxedDM {
			t.Errorf("relaxed, k=%d: DM %d, %d expected", want.k, dm, want.relaxedDM)
		}
		if loss := metric.GCP(table, r); loss > want.relaxedLoss {
			t.Errorf("relaxed, k=%d: information loss %.4f, at most %.4f expected", want.k, loss, want.relaxedLoss)
		}
	}
}

// sameOnAnyCores runs with one core and with two. It must not be parallel.
func sameOnAnyCores(t *testing.T, work func() any) {
	t.Helper()
	one := withCores(1, work)
	if two := withCores(2, work); !reflect.DeepEqual(one, two) {
		t.Error("another result on two cores than on one")
	}
}

func TestSameOnAnyCores(t *testing.T) {
	table := workload.AdultLike(5, 150_000)
	for _, m := range []anonymizer.Method{partition.RoundedPartition{}, strict, relaxed} {
		sameOnAnyCores(t, func() any { return run(t, m, table, kAnonymous(7), 3) })
	}
	sameOnAnyCores(t, func() any { return partition.Blocks(context.Background(), table, 300, 3) })
}

// TestCanceled: no method gives a release once the context has ended.
func TestCanceled(t *testing.T) {
	t.Parallel()
	table := workload.AdultLike(1, 5000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, m := range []anonymizer.Method{partition.RoundedPartition{}, strict, relaxed} {
		if r, err := m.Anonymize(ctx, table, kAnonymous(5), anonymizer.Options{}); err == nil || r != nil {
			t.Errorf("%s: %v, error %v", m.Name(), r, err)
		}
	}
	if partition.Blocks(ctx, table, 100, 0) != nil {
		t.Error("blocks of a canceled run")
	}
}

// TestSubjects: k counts persons, of which several records are.
func TestSubjects(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		d := workload.Generate(seed, workload.Shape{Records: 400, Attributes: 3, Distinct: 20, Sensitive: 3})
		subjects := make([]uint32, 400)
		for i := range subjects {
			subjects[i] = uint32(i) / uint32(1+seed%5)
		}
		table, err := d.Table().WithSubjects(subjects)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []anonymizer.Method{partition.RoundedPartition{}, strict, relaxed} {
			r := run(t, m, table, kAnonymous(6), seed)
			if err := anonymizertest.CheckRelease(d, r, kAnonymous(6)); err != nil {
				t.Fatal(err)
			}
			for _, class := range r.Classes {
				persons := map[uint32]bool{}
				for _, i := range class {
					persons[subjects[i]] = true
				}
				if len(persons) < 6 {
					t.Fatalf("%s, seed %d: class of %d persons", m.Name(), seed, len(persons))
				}
			}
		}
	}
}
