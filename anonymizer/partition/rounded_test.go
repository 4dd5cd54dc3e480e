package partition_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
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

func anonymize(t testing.TB, table *anonymizer.Table, c privacy.ConstraintSet, seed uint64) *anonymizer.Release {
	t.Helper()
	r, err := partition.RoundedPartition{}.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkGuarantees compares class sizes with the paper's theorems, as corrected:
// exactly floor(n/k) classes, none larger than k + ceil(beta/2^floor(log2
// alpha)), and k or k+1 from n = 2k^2 on.
func checkGuarantees(sizes []int, n, k int) error {
	if n < k {
		if len(sizes) != 0 {
			return fmt.Errorf("n=%d k=%d: %d classes of too few records", n, k, len(sizes))
		}
		return nil
	}
	alpha, beta := n/k, n%k
	if len(sizes) != alpha {
		return fmt.Errorf("n=%d k=%d: %d classes, %d expected", n, k, len(sizes), alpha)
	}
	share := 1 << (bits.Len(uint(alpha)) - 1)
	most := k + (beta+share-1)/share
	if n >= 2*k*k {
		most = min(most, k+1)
		if n%k == 0 {
			most = k
		}
	}
	for _, size := range sizes {
		if size < k || size > most {
			return fmt.Errorf("n=%d k=%d: class of %d records, %d to %d expected", n, k, size, k, most)
		}
	}
	return nil
}

func classSizes(r *anonymizer.Release) []int {
	var sizes []int
	for _, class := range r.Classes {
		sizes = append(sizes, len(class))
	}
	return sizes
}

func TestRoundedPartitionGuarantees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(120) {
		shape := workload.Shape{
			Records:    int(seed*37%400) + int(seed%3),
			Attributes: int(seed % 13),
			Distinct:   []int{1, 2, 10, 1000, 60_000}[seed%5],
			Nulls:      []float64{0, 0.1, 1}[seed%7%3],
			Sensitive:  3,
		}
		d := workload.Generate(seed, shape)
		for _, k := range []int{1, 2, 3, 5, 10, 25, 200} {
			c := kAnonymous(k)
			r := anonymize(t, d.Table(), c, seed)
			if shape.Attributes > 0 {
				if err := anonymizertest.CheckRelease(d, r, c); err != nil {
					t.Fatalf("seed %d %+v k=%d: %v", seed, shape, k, err)
				}
			}
			if err := checkGuarantees(classSizes(r), d.Table().Len(), k); err != nil {
				t.Fatalf("seed %d %+v: %v", seed, shape, err)
			}
		}
	}
}

func TestRoundedPartitionIsDeterministic(t *testing.T) {
	t.Parallel()
	d := workload.Generate(1, workload.Shape{Records: 40_000, Attributes: 4, Distinct: 300, Nulls: 0.01})
	first := anonymize(t, d.Table(), kAnonymous(5), 7)
	for range 2 {
		if again := anonymize(t, d.Table(), kAnonymous(5), 7); !reflect.DeepEqual(first, again) {
			t.Fatal("same seed, other release")
		}
	}
	if other := anonymize(t, d.Table(), kAnonymous(5), 8); reflect.DeepEqual(first, other) {
		t.Fatal("the seed decides nothing")
	}
}

func TestRoundedPartitionDiversity(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		d := workload.Generate(seed, workload.Shape{
			Records: int(seed * 11), Attributes: 1 + int(seed%5), Distinct: 50, Nulls: 0.05, Sensitive: 1 + int(seed%8),
		})
		l := 1 + int(seed%4)
		c := privacy.ConstraintSet{privacy.KAnonymity{K: 4}, privacy.DistinctDiversity{L: l, Name: "s"}}
		r := anonymize(t, d.Table(), c, seed)
		if err := anonymizertest.CheckRelease(d, r, c); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var all []int32
		for i := range d.Table().Len() {
			all = append(all, int32(i))
		}
		feasible := c.Feasible(d.Table().Summarize(all)) == nil
		if withheld := len(r.Withheld) > 0; withheld == feasible && len(all) > 0 {
			t.Fatalf("seed %d: feasible %v, %d records withheld", seed, feasible, len(r.Withheld))
		}
	}
}

// numbers makes a table of integer columns.
func numbers(t *testing.T, columns ...[]string) *anonymizer.Table {
	t.Helper()
	var attributes []anonymizer.Attribute
	var cells [][]hierarchy.Cell
	for _, column := range columns {
		a := workload.Attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
		var coded []hierarchy.Cell
		for _, text := range column {
			coded = append(coded, a.Hierarchy.Encode(text))
		}
		attributes, cells = append(attributes, a), append(cells, coded)
	}
	table, err := anonymizer.NewTable(attributes, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestPaperTable1 is table 1 of the paper: six records, k = 2, three classes of
// two, with no more loss than its table 2, which pairs them in their order.
func TestPaperTable1(t *testing.T) {
	t.Parallel()
	table := numbers(t,
		[]string{"20", "20", "30", "40", "50", "50"},
		[]string{"101", "103", "102", "102", "101", "103"})
	printed := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}, {4, 5}}}
	for seed := range uint64(10) {
		r := anonymize(t, table, kAnonymous(2), seed)
		if sizes := classSizes(r); !slices.Equal(sizes, []int{2, 2, 2}) {
			t.Fatalf("sizes %v", sizes)
		}
		if loss, most := metric.GCP(table, r), metric.GCP(table, printed); loss > most+1e-9 {
			t.Errorf("loss %v, %v in the paper", loss, most)
		}
	}
}

// TestManyValues: more different values than are numbered, in a table of several
// samples, some of them off the scale.
func TestManyValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 9))
	attributes, cells := make([]anonymizer.Attribute, 3), make([][]hierarchy.Cell, 3)
	for a := range cells {
		attributes[a] = workload.Attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
		cells[a] = make([]hierarchy.Cell, 150_000)
		for i := range cells[a] {
			if cells[a][i] = random.NormFloat64(); i%1000 == a {
				cells[a][i] = hierarchy.OffScale()
			}
		}
	}
	table, err := anonymizer.NewTable(attributes, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []anonymizer.Method{partition.RoundedPartition{}, strict, relaxed} {
		r := run(t, m, table, kAnonymous(10), 1)
		if m == (partition.RoundedPartition{}) {
			if err := checkGuarantees(classSizes(r), table.Len(), 10); err != nil {
				t.Error(err)
			}
		}
		if loss := metric.GCP(table, r); loss > 0.03 {
			t.Errorf("%s: information loss %v", m.Name(), loss)
		}
	}
}

func TestAdult(t *testing.T) {
	table := adult(t)
	if table.Len() != 30_162 {
		t.Fatalf("%d complete records, 30,162 expected", table.Len())
	}
	for _, want := range []struct {
		k, classes, largest int
		dm                  int64
		loss                float64
	}{
		{5, 6032, 6, 150_822, 0.037},
		{10, 3016, 11, 301_642, 0.063},
		{25, 1206, 26, 754_362, 0.107},
		{50, 603, 51, 1_508_712, 0.149},
	} {
		for seed := range uint64(3) {
			r := anonymize(t, table, kAnonymous(want.k), seed)
			loss := metric.GCP(table, r)
			t.Logf("k=%d, seed %d: information loss %.2f %%", want.k, seed, 100*loss)
			if metric.Classes(r) != want.classes || metric.LargestClass(r) != want.largest || metric.Discernibility(r) != want.dm {
				t.Errorf("k=%d: %d classes, largest %d, DM %d", want.k, metric.Classes(r), metric.LargestClass(r), metric.Discernibility(r))
			}
			if loss > want.loss {
				t.Errorf("k=%d, seed %d: information loss %.4f, at most %.4f expected", want.k, seed, loss, want.loss)
			}
		}
	}
}

func TestCancellationAndProgress(t *testing.T) {
	t.Parallel()
	d := workload.Generate(3, workload.Shape{Records: 40_000, Attributes: 3, Distinct: 500})
	ctx, cancel := context.WithCancel(context.Background())
	reports, last := 0, 0
	_, err := partition.RoundedPartition{}.Anonymize(ctx, d.Table(), kAnonymous(5), anonymizer.Options{
		Progress: func(done, _ int) {
			reports++
			cancel()
		},
	})
	if !errors.Is(err, context.Canceled) || reports == 0 || reports > 50 {
		t.Errorf("canceled run: error %v after %d reports", err, reports)
	}
	reports = 0
	_, err = partition.RoundedPartition{}.Anonymize(context.Background(), d.Table(), kAnonymous(5), anonymizer.Options{
		Progress: func(done, total int) {
			if done < last || total != 40_000 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			reports, last = reports+1, done
		},
	})
	if err != nil || last != 40_000 || reports < 50 {
		t.Errorf("whole run: error %v, %d reports up to %d", err, reports, last)
	}
}
