package seeded

import (
	"context"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// releaseWith runs with blocks of a size.
func releaseWith(t testing.TB, table *anonymizer.Table, c privacy.ConstraintSet, multi bool, size int, seed uint64) *anonymizer.Release {
	t.Helper()
	p := newPlan(table, c, multi)
	p.block = size
	r, err := p.release(context.Background(), anonymizer.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReleasesOfSmallBlocks has tables of many blocks in which the sensitive value
// follows from the first attribute, so that single blocks cannot keep the bound:
// records are exchanged, attached and clusters united over the borders.
func TestReleasesOfSmallBlocks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		shape := workload.Shape{
			Records: 200 + int(seed*31%900), Attributes: 1 + int(seed%6), Distinct: 8,
			Nulls: []float64{0, 0.1}[seed%2], Sensitive: 5,
		}
		d := workload.Generate(seed, shape)
		for i, cell := range d.Cells[0] {
			if i%4 != 0 && !hierarchy.IsOffScale(cell) {
				d.Sensitive[0][i] = uint32(cell+100) % 5
			}
		}
		table := d.Table()
		counts := table.Population().Sensitive[0]
		most := 0
		for _, count := range counts {
			most = max(most, count)
		}
		alpha := float64(most+1+int(seed%5)*10) / float64(shape.Records)
		for _, values := range [][]uint32{nil, {0}, {1}, {1, 3}} {
			for _, k := range []int{2, 3} {
				c := privacy.ConstraintSet{privacy.KAnonymity{K: k}, privacy.AlphaBound{Alpha: alpha, Name: "s", Values: values}}
				for _, multi := range []bool{false, true} {
					if !multi && len(values) != 1 {
						continue
					}
					r := releaseWith(t, table, c, multi, 1, seed)
					if err := anonymizertest.CheckRelease(d, r, c); err != nil {
						t.Fatalf("seed %d %+v %v: %v", seed, shape, c, err)
					}
					if len(r.Withheld) > 0 {
						t.Fatalf("seed %d %+v %v: %d records withheld", seed, shape, c, len(r.Withheld))
					}
				}
			}
		}
	}
}

// TestBoundedValueInASmallClass is alpha*k < 1: classes without the value may have
// 3 records, one with it needs 5.
func TestBoundedValueInASmallClass(t *testing.T) {
	t.Parallel()
	d := workload.Generate(9, workload.Shape{Records: 600, Attributes: 3, Distinct: 40, Sensitive: 9})
	for _, c := range []privacy.ConstraintSet{
		{privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.2, Name: "s", Values: []uint32{5}}},
		{privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.2, Name: "s", Values: []uint32{5, 7}}},
	} {
		r := releaseWith(t, d.Table(), c, true, blockRecords, 1)
		if err := anonymizertest.CheckRelease(d, r, c); err != nil {
			t.Fatal(err)
		}
		sizes := map[int]int{}
		for _, class := range r.Classes {
			sizes[len(class)]++
		}
		if sizes[3] < 20 || sizes[5] < 10 {
			t.Errorf("%v: numbers of classes by size %v", c, sizes)
		}
	}
}

// TestGrowthFollowsThePaper retraces the clusters of a small table, in which every
// record is a candidate: each seed is the record farthest from the clusters
// before, and each member the one nearest to the centroid so far.
func TestGrowthFollowsThePaper(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		d := workload.Generate(seed, workload.Shape{Records: 150, Attributes: 1 + int(seed%7), Distinct: 60, Nulls: 0.05})
		p := newPlan(d.Table(), privacy.ConstraintSet{privacy.KAnonymity{K: 6}}, false)
		p.space = newSpace(context.Background(), d.Table())
		p.placed = anonymizer.Options{}.Track(150)
		all := map[int32]bool{}
		var records []int32
		for i := range int32(150) {
			all[i], records = true, append(records, i)
		}
		clusters := newBlock(p, records).grow(context.Background(), seed)
		if len(clusters) != 25 {
			t.Fatalf("%d clusters", len(clusters))
		}
		for i, c := range clusters {
			before := func(r int32) float32 {
				nearest := float32(2)
				for _, other := range clusters[:i] {
					nearest = min(nearest, p.space.distance(r, other))
				}
				return nearest
			}
			for n, member := range c.members {
				part := p.space.newCluster(c.members[:n:n])
				for r := range all {
					if n == 0 && before(r) > before(member)+1e-5 {
						t.Fatalf("seed %d is at %v, record %d at %v", member, before(member), r, before(r))
					}
					if n > 0 && p.space.distance(r, part) < p.space.distance(member, part)-1e-5 {
						t.Fatalf("member %d is not the nearest", member)
					}
				}
				delete(all, member)
			}
		}
	}
}

// TestMeasureAgrees compares the scans with distances one by one.
func TestMeasureAgrees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		d := workload.Generate(seed, workload.Shape{Records: 120, Attributes: 7, Distinct: 9, Nulls: 0.2})
		p := newPlan(d.Table(), nil, false)
		p.space = newSpace(context.Background(), d.Table())
		all := make([]int32, 120)
		for i := range all {
			all[i] = int32(i)
		}
		b := newBlock(p, all)
		c := p.space.newCluster([]int32{3, 50, 77, 119})
		b.measure(c)
		g := &growth{block: b, cluster: p.space.newCluster(nil), size: 8}
		for i, distance := range b.distance {
			if want := p.space.distance(int32(i), c); abs(distance/p.space.attributes()-want) > 1e-5 || want < 0 || want > 1 {
				t.Fatalf("seed %d: record %d at %v, %v expected", seed, i, distance/p.space.attributes(), want)
			}
		}
		for _, place := range c.members {
			g.take(place)
		}
		g.gather()
		g.nearest()
		for i, place := range g.candidates {
			if want := p.space.distance(place, c); abs(g.distance[i]/p.space.attributes()-want) > 1e-5 {
				t.Fatalf("seed %d: candidate %d at %v, %v expected", seed, place, g.distance[i], want)
			}
		}
	}
}

func BenchmarkBlockSize(b *testing.B) {
	table, err := anonymizertest.AdultClustering("../../../shared/data/adult")
	if err != nil {
		b.Skip("skipped: ", err)
	}
	for _, multi := range []bool{false, true} {
		alpha := privacy.AlphaBound{Alpha: 0.2, Values: []uint32{0}}
		if multi {
			alpha.Values = nil
		}
		c := privacy.ConstraintSet{privacy.KAnonymity{K: 20}, alpha}
		for _, size := range []int{1024, 2048, 4096, 8192, 16384, 65536} {
			b.Run(fmt.Sprintf("rows=%d/qi=8/k=20/multi=%v/block=%d", table.Len(), multi, size), func(b *testing.B) {
				var r *anonymizer.Release
				for b.Loop() {
					r = releaseWith(b, table, c, multi, size, 1)
				}
				b.ReportMetric(100*metric.GCP(table, r), "%GCP")
				b.ReportMetric(float64(metric.Classes(r)), "classes")
			})
		}
	}
}
