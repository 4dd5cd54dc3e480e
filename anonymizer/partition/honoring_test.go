package partition_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// setsBeyondSize are constraint sets of every kind over two sensitive attributes.
func setsBeyondSize(k int) []privacy.ConstraintSet {
	size := privacy.KAnonymity{K: k}
	return []privacy.ConstraintSet{
		{size},
		{size, privacy.DistinctDiversity{L: 3}},
		{size, privacy.EntropyDiversity{L: 2.5}},
		{size, privacy.RecursiveDiversity{C: 2, L: 2}},
		{size, privacy.AlphaBound{Alpha: 0.4}},
		{size, privacy.AlphaBound{Alpha: 0.3, Values: []uint32{1, 2}}},
		{size, privacy.AlphaBound{Alpha: 0.5}, privacy.AlphaBound{Alpha: 0.6, Attribute: 1}},
		{size, privacy.TCloseness{T: 0.25}},
		{size, privacy.BetaLikeness{Beta: 1.5}},
		{size, privacy.DeltaDisclosurePrivacy{Delta: 1}},
		{size, privacy.DistinctDiversity{L: 2}, privacy.TCloseness{T: 0.3, Attribute: 1}},
		{size, opaque{privacy.DistinctDiversity{L: 2, Attribute: 1}}},
	}
}

// opaque is a constraint of which the method knows nothing but its answers.
type opaque struct{ privacy.Constraint }

// TestRoundedPartitionHonors: every record has its place and every class satisfies
// the constraints, with persons of one and of several records; a table is
// withheld exactly where it violates them as a whole.
func TestRoundedPartitionHonors(t *testing.T) {
	t.Parallel()
	released, cuts := 0, 0
	for seed := range uint64(36) {
		random := rand.New(rand.NewPCG(seed, 5))
		d := workload.Generate(seed, workload.Shape{
			Records: int(seed*seed) % 700, Attributes: 1 + int(seed%6), Distinct: []int{1, 6, 400}[seed%3],
			Nulls: []float64{0, 0.2, 1}[seed%7%3], Sensitive: 4 + int(seed%9),
		})
		second := make([]uint32, d.Table().Len())
		for i := range second {
			second[i] = random.Uint32N(3)
		}
		d.Sensitive = append(d.Sensitive, second)
		if seed%2 == 1 {
			d.Subjects = make([]uint32, d.Table().Len())
			for i := range d.Subjects {
				d.Subjects[i] = uint32(random.IntN(1 + i))
			}
		}
		for _, c := range setsBeyondSize(2 + int(seed%7)) {
			table := d.Table()
			r := anonymize(t, table, c, seed)
			checked := c
			if o, ok := c[len(c)-1].(opaque); ok {
				checked = privacy.ConstraintSet{c[0], o.Constraint}
			}
			if err := anonymizertest.CheckRelease(d, r, checked); err != nil {
				t.Fatalf("seed %d, %v: %v", seed, c, err)
			}
			feasible := c.Feasible(table.Population().Summary) == nil
			if withheld := len(r.Withheld) > 0; withheld == feasible && table.Len() > 0 {
				t.Fatalf("seed %d, %v: feasible %v, %d records withheld", seed, c, feasible, len(r.Withheld))
			}
			if len(r.Classes) > 0 {
				released, cuts = released+1, cuts+len(r.Classes)-1
			}
		}
	}
	if released < 200 || cuts < 10*released {
		t.Errorf("%d releases of %d cuts prove little", released, cuts)
	}
}

// TestPieceOfATable: what has to satisfy the constraints is the piece; the whole
// is what it is compared with.
func TestPieceOfATable(t *testing.T) {
	t.Parallel()
	d := workload.Generate(1, workload.Shape{Records: 60, Attributes: 2, Distinct: 9, Sensitive: 2})
	for i := range d.Sensitive[0] {
		d.Sensitive[0][i] = uint32(i % 2)
	}
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.TCloseness{T: 0.2}}
	for share, classes := range map[int]bool{50: true, 10: false} {
		whole := privacy.NewPopulation(privacy.Summary{Records: 100, Sensitive: []map[uint32]int{{0: share, 1: 100 - share}}})
		r := anonymize(t, d.Table().ComparedWith(whole), c, 1)
		if len(r.Classes) > 1 != classes || len(r.Withheld) == 60 == classes {
			t.Errorf("share %d %%: %d classes, %d withheld", share, len(r.Classes), len(r.Withheld))
		}
	}
}

// TestRoundedSizesKept: a constraint that every class satisfies costs nothing of
// the guarantees.
func TestRoundedSizesKept(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		d := workload.Generate(seed, workload.Shape{Records: int(seed * 29), Attributes: 1 + int(seed%4), Distinct: 40, Sensitive: 3})
		for _, k := range []int{1, 2, 5, 30} {
			c := append(kAnonymous(k), privacy.DistinctDiversity{L: 1})
			if err := checkGuarantees(classSizes(anonymize(t, d.Table(), c, seed)), d.Table().Len(), k); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// skewed makes a table of two numbers in which one sensitive value makes up a
// fifth of the records, most of them where both numbers are low.
func skewed(t testing.TB, seed uint64, n int) *anonymizer.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 11))
	cells, sensitive := [][]hierarchy.Cell{make([]float64, n), make([]float64, n)}, make([]uint32, n)
	for i := range n {
		x, y := random.Float64(), random.Float64()
		cells[0][i], cells[1][i] = float64(int(1000*x)), float64(int(1000*y))
		if sensitive[i] = 1 + random.Uint32N(9); random.Float64() < 0.8*(1-x)*(1-y) {
			sensitive[i] = 0
		}
	}
	spec := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{workload.Attribute("x", spec), workload.Attribute("y", spec)}, cells, [][]uint32{sensitive})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestFrequenciesCostLittle: with bounds near to the frequencies of the whole
// table, the information loss is a fraction of what cuts lose that exchange no
// records.
func TestFrequenciesCostLittle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		privacy.Constraint
		most float64 // of Mondrian's loss
	}{
		{privacy.AlphaBound{Alpha: 0.5}, 0.6},
		{privacy.AlphaBound{Alpha: 0.3}, 0.5},
		{privacy.AlphaBound{Alpha: 0.25}, 0.5},
		{privacy.TCloseness{T: 0.3}, 0.7},
		{privacy.TCloseness{T: 0.15}, 0.7},
		{privacy.EntropyDiversity{L: 5}, 0.9},
	} {
		table := skewed(t, 1, 5000)
		set := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, c.Constraint}
		loss, other := metric.GCP(table, anonymize(t, table, set, 1)), metric.GCP(table, run(t, strict, table, set, 1))
		t.Logf("%v: information loss %.4f, by Mondrian %.4f", set, loss, other)
		if loss > c.most*other {
			t.Errorf("%v: information loss %.4f, above %.1f of Mondrian's %.4f", set, loss, c.most, other)
		}
	}
}

func TestHonoringOnAnyCores(t *testing.T) {
	table := skewed(t, 3, 80_000)
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 40}, privacy.AlphaBound{Alpha: 0.25}}
	sameOnAnyCores(t, func() any { return anonymize(t, table, c, 3) })
}

// ending is a context that ends when it has been asked for its error some times.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestHonoringIsCanceled at many moments, soon and in good order.
func TestHonoringIsCanceled(t *testing.T) {
	t.Parallel()
	table := skewed(t, 4, 10_000)
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.25}}
	for asked := int64(1); asked < 1<<12; asked += 1 + asked/3 {
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(asked)
		r, err := partition.RoundedPartition{}.Anonymize(ctx, table, c, anonymizer.Options{})
		if !errors.Is(err, context.Canceled) || r != nil {
			t.Fatalf("asked %d times: release %v, error %v", asked, r != nil, err)
		}
	}
}

// occupation is Adult, or a table like it, with the occupation as its sensitive
// attribute in place of a quasi-identifier.
func occupation(t testing.TB, table *anonymizer.Table) *anonymizer.Table {
	t.Helper()
	const column = 4
	var others []int
	for a := range table.Attributes() {
		if a != column {
			others = append(others, a)
		}
	}
	dictionary, sensitive := map[hierarchy.Cell]uint32{}, make([]uint32, table.Len())
	for r, cell := range table.Cells(column) {
		if _, known := dictionary[cell]; !known {
			dictionary[cell] = uint32(len(dictionary))
		}
		sensitive[r] = dictionary[cell]
	}
	var cells [][]hierarchy.Cell
	part := table.Project(others)
	for a := range part.Attributes() {
		cells = append(cells, part.Cells(a))
	}
	made, err := anonymizer.NewTable(part.Attributes(), cells, [][]uint32{sensitive})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// beyondSize are the sets of the measurements in the comment of
// RoundedPartition, and the most information loss that they may cost on Adult.
var beyondSize = []struct {
	privacy.Constraint
	most float64
}{
	{privacy.DistinctDiversity{L: 2, Name: "occupation"}, 0.023},
	{privacy.DistinctDiversity{L: 3, Name: "occupation"}, 0.026},
	{privacy.DistinctDiversity{L: 5, Name: "occupation"}, 0.046},
	{privacy.EntropyDiversity{L: 3, Name: "occupation"}, 0.041},
	{privacy.EntropyDiversity{L: 5, Name: "occupation"}, 0.108},
	{privacy.AlphaBound{Alpha: 0.5, Name: "occupation"}, 0.037},
	{privacy.AlphaBound{Alpha: 0.35, Name: "occupation"}, 0.09},
	{privacy.AlphaBound{Alpha: 0.25, Name: "occupation"}, 0.125},
	{privacy.AlphaBound{Alpha: 0.2, Name: "occupation"}, 0.158},
	{privacy.AlphaBound{Alpha: 0.15, Name: "occupation"}, 0.3},
	{privacy.TCloseness{T: 0.4, Name: "occupation"}, 0.145},
	{privacy.TCloseness{T: 0.3, Name: "occupation"}, 0.265},
	{privacy.TCloseness{T: 0.2, Name: "occupation"}, 0.345},
	{privacy.BetaLikeness{Beta: 2, Name: "occupation"}, 0.51},
	{privacy.BetaLikeness{Beta: 1, Name: "occupation"}, 0.7},
}

func TestAdultBeyondSize(t *testing.T) {
	t.Parallel()
	table := occupation(t, adult(t))
	for i, c := range beyondSize {
		if testing.Short() && i%3 != 0 {
			continue
		}
		set := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, c.Constraint}
		r := anonymize(t, table, set, 1)
		loss := metric.GCP(table, r)
		t.Logf("%v: information loss %.2f %%, %d classes", set, 100*loss, len(r.Classes))
		if loss > c.most {
			t.Errorf("%v: information loss %.4f, at most %.4f expected", set, loss, c.most)
		}
	}
}

// BenchmarkBeyondSize runs the rounded partition and strict Mondrian for the same
// constraints.
func BenchmarkBeyondSize(b *testing.B) {
	for _, m := range []anonymizer.Method{partition.RoundedPartition{}, strict} {
		benchmarkSets(b, m, func() *anonymizer.Table { return occupation(b, adult(b)) }, "adult/rows=30162", len(beyondSize))
		for rows := 100_000; rows <= *rowsMax; rows *= 10 {
			like := func() *anonymizer.Table { return occupation(b, workload.AdultLike(1, rows)) }
			benchmarkSets(b, m, like, fmt.Sprintf("adult-like/rows=%d", rows), 4)
		}
	}
}

func benchmarkSets(b *testing.B, m anonymizer.Method, make func() *anonymizer.Table, name string, sets int) {
	b.Run(m.Name()+"/"+name, func(b *testing.B) {
		table := make()
		for _, c := range beyondSize[:sets] {
			set := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, c.Constraint}
			b.Run(fmt.Sprint(c.Constraint), func(b *testing.B) {
				var r *anonymizer.Release
				for b.Loop() {
					r = run(b, m, table, set, 1)
				}
				b.ReportMetric(100*metric.GCP(table, r), "loss-%")
				b.ReportMetric(float64(len(r.Classes)), "classes")
			})
		}
	})
}
