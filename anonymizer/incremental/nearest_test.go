package incremental

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// scan is the paper's search: it looks at every class. Among equals it takes the
// class that covers least, then the oldest.
func (p *Partition) scan(except int32, similar func(index int32) float64) int32 {
	best, most := int32(-1), math.Inf(-1)
	for i := range p.members.classes.list {
		index := int32(i)
		if index == except {
			continue
		}
		sum := similar(index)
		if !(sum >= 0) {
			sum = 0
		}
		if best < 0 || sum > most || sum == most && p.preferred(index, best) {
			best, most = index, sum
		}
	}
	return best
}

func (p *Partition) preferred(a, b int32) bool {
	if first, second := p.naiveWidth(a), p.naiveWidth(b); first != second {
		return first < second
	}
	return p.members.classes.list[a].id < p.members.classes.list[b].id
}

func (p *Partition) naiveWidth(index int32) (sum float64) {
	for a := range p.members.attributes {
		e := p.members.classes.cover(index, a)
		sum += (e.high/2 - e.low/2) / p.domain.delta(a)
	}
	return sum
}

func (p *Partition) scanForRecord(positions []float64) int32 {
	return p.scan(-1, func(index int32) (sum float64) {
		for a, v := range positions {
			switch e := p.members.classes.cover(index, a); {
			case !math.IsNaN(v):
				sum += recordSimilarity(v, e.low, e.high, p.domain.delta(a))
			case e.low == hiddenAt:
				sum++
			}
		}
		return sum
	})
}

func (p *Partition) scanForClass(of int32) int32 {
	return p.scan(of, func(index int32) (sum float64) {
		for a := range p.members.attributes {
			own, e := p.members.classes.cover(of, a), p.members.classes.cover(index, a)
			switch {
			case own.low != hiddenAt:
				sum += p.domain.delta(a) * classSimilarity(own.low/2+own.high/2, e.low, e.high, p.domain.delta(a))
			case e.low == hiddenAt:
				sum++
			}
		}
		return sum
	})
}

// checkNearest compares the index with the scan for a record and for a class.
func (p *Partition) checkNearest(t *testing.T, positions []float64, class int32) {
	t.Helper()
	name := func(index int32) string {
		if index < 0 {
			return "none"
		}
		return fmt.Sprintf("class %d %v", p.members.classes.list[index].id, p.members.classes.row(index))
	}
	if got, want := p.nearest.toRecord(context.Background(), positions), p.scanForRecord(positions); got != want {
		t.Fatalf("nearest to %v is %s, by the index %s", positions, name(want), name(got))
	}
	if class >= 0 {
		if got, want := p.nearest.toClass(context.Background(), class), p.scanForClass(class); got != want {
			t.Fatalf("nearest to %s is %s, by the index %s", name(class), name(want), name(got))
		}
	}
}

// TestNearestIsThatOfTheScan: while classes come, go and change, the index gives
// what looking at every class gives, over all kinds of attributes.
func TestNearestIsThatOfTheScan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(48) {
		shape := workload.Shape{
			Attributes: []int{1, 2, 3, 4, 5, 8, 9, 14}[seed%8], Distinct: []int{1, 2, 9, 200, 100_000}[seed%5],
			Nulls: []float64{0, 0.02, 0.3}[seed%3], Records: 1500,
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 3))
			data := workload.Generate(seed, shape)
			k := 1 + random.IntN(4)
			p := New(data.Attributes, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, partition.RoundedPartition{}, Options{})
			record := func(id int) Record {
				r := Record{ID: RecordID(id)}
				for a := range data.Cells {
					r.Cells = append(r.Cells, data.Cells[a][random.IntN(shape.Records)])
				}
				return r
			}
			for id := range shape.Records / 2 {
				must(t, p.Insert(record(id)))
			}
			p.Settle()
			positions := make([]float64, shape.Attributes)
			for id := shape.Records / 2; id < shape.Records; id++ {
				must(t, p.Insert(record(id)))
				if old := RecordID(random.IntN(id)); p.members.records.slot(old) >= 0 {
					must(t, p.Delete(old))
				}
				if random.IntN(4) > 0 {
					continue
				}
				p.Settle()
				for a, c := range record(0).Cells {
					positions[a] = data.Attributes[a].Hierarchy.Position(c)
				}
				p.checkNearest(t, positions, int32(random.IntN(p.Classes())))
			}
			p.checkTree(t)
		})
	}
}

// TestNearestOfSyntheticClasses has more classes than the other test, hidden values
// among them, in a domain that grows.
func TestNearestOfSyntheticClasses(t *testing.T) {
	t.Parallel()
	for _, d := range []int{0, 1, 4, 7, 8} {
		random := rand.New(rand.NewPCG(uint64(d), 1))
		p := syntheticClasses(3000, d, random)
		v := make([]float64, d)
		for round := range 300 {
			if round%100 == 99 && d > 0 {
				a := random.IntN(d)
				p.domain[a].high *= 1.1
				p.domain[a].low -= 3
			}
			for a := range v {
				if v[a] = p.domain[a].low + random.Float64()*(p.domain[a].high-p.domain[a].low); random.IntN(12) == 0 {
					v[a] = math.NaN()
				}
			}
			p.checkNearest(t, v, int32(random.IntN(p.Classes())))
		}
		p.checkTree(t)
	}
}

// TestNearestAtTheEnds has positions at the ends of what floats can hold, domains
// without width and classes that are all the same.
func TestNearestAtTheEnds(t *testing.T) {
	t.Parallel()
	const denormal, greatest = 5e-324, math.MaxFloat64
	for _, values := range [][]float64{
		{7},
		{0, denormal, 2 * denormal},
		{-greatest, greatest, 0, 1},
		{greatest, 1},
		{1e290, -1e290, 3},
		{8e14, 8e14 + 1, 8e14 + 2, math.NaN()},
		{math.NaN()},
		{7, math.NaN()},
		{1e300, 1e299, math.NaN()},
		{0, 1e-300, 1, 1e18},
	} {
		random := rand.New(rand.NewPCG(9, 9))
		p := syntheticClasses(0, 2, random)
		place := func() float64 { return values[random.IntN(len(values))] }
		for i := range 400 {
			index := p.members.classes.add(ClassID(i+1), 10)
			for range 2 {
				for a := range p.members.attributes {
					v := place()
					p.members.classes.row(index)[a] = p.members.classes.row(index)[a].include(v)
					if !math.IsNaN(v) {
						p.domain[a] = p.domain[a].include(v)
					}
				}
			}
			p.checkNearest(t, []float64{place(), place()}, index)
			if p.Classes() > 50 && i%3 == 0 {
				p.members.classes.remove(int32(random.IntN(p.Classes())))
			}
		}
		p.checkTree(t)
	}
}

// TestNearestOfGrowingLine has classes come in ascending order, go at the other end and
// lie by hundreds at one place: the index stays as flat as it is.
func TestNearestOfGrowingLine(t *testing.T) {
	t.Parallel()
	p := syntheticClasses(0, 3, nil)
	for i := range 6000 {
		index := p.members.classes.add(ClassID(i+1), 10)
		at := float64(i)
		if i%2 == 0 {
			at = float64(i / 1000 * 1000)
		}
		for a := range p.members.attributes {
			p.members.classes.row(index)[a] = extent{at, at + float64(a*i%7)}
			p.domain[a] = extent{0, 7000}
		}
		if i%50 == 0 {
			p.checkNearest(t, []float64{float64(i / 2), at, at}, index)
		}
		if p.Classes() > 2000 {
			p.members.classes.remove(p.members.classes.index(ClassID(i - 1999)))
		}
	}
	p.checkTree(t)
}

// checkTree compares what the nodes of the index say with the classes below them.
func (p *Partition) checkTree(t *testing.T) {
	t.Helper()
	p.nearest.update(context.Background())
	tree := &p.members.classes.tree
	if got := tree.nodes[0].count; int(got) != len(p.members.classes.list) {
		t.Fatalf("the index has %d of %d classes", got, len(p.members.classes.list))
	}
	cover, middle := make(box, tree.words), make(box, tree.words)
	depth := 0
	var check func(n int32, level int)
	check = func(n int32, level int) {
		depth = max(depth, level)
		at := tree.nodes[n]
		before := at
		if at.count == 0 {
			return
		}
		tree.gather(n, cover, middle)
		if tree.nodes[n] != before || !takeBox(tree.covers.at(n), cover) || !takeBox(tree.middles.at(n), middle) {
			t.Fatalf("node %d is not what is below it", n)
		}
		if at.leaf() {
			for i := range at.count {
				place := ^at.below*bucketSize + i
				if class := tree.buckets.class[place]; tree.places[class] != place || tree.buckets.id[place] != p.members.classes.list[class].id {
					t.Fatalf("class %d is not at place %d", class, place)
				}
			}
			return
		}
		if count := tree.nodes[at.below].count + tree.nodes[at.below+1].count; count != at.count || tree.lopsided(n) {
			t.Fatalf("%d classes below a node of %d, lopsided: %v", count, at.count, tree.lopsided(n))
		}
		for side := range int32(2) {
			below := at.below + side
			if tree.nodes[below].parent != n {
				t.Fatalf("node %d does not lie below %d", below, n)
			}
			least, most := tree.keysBelow(below, at.across)
			if side == 0 && most > at.plane || side == 1 && least < at.plane {
				t.Fatalf("keys of %d to %d on side %d of the plane at %d", least, most, side, at.plane)
			}
			check(below, level+1)
		}
	}
	check(0, 0)
	if most := 6 * math.Log2(float64(2+len(p.members.classes.list))); float64(depth) > most {
		t.Errorf("%d levels of %d classes", depth, len(p.members.classes.list))
	}
}

// keysBelow are the least and the greatest key of a node's classes.
func (t *tree) keysBelow(n, across int32) (least, most int64) {
	at := &t.nodes[n]
	if !at.leaf() {
		least, most = t.keysBelow(at.below, across)
		low, high := t.keysBelow(at.below+1, across)
		return min(least, low), max(most, high)
	}
	least, most = math.MaxInt64, math.MinInt64
	for i := range at.count {
		e := t.buckets.entry(^at.below*bucketSize + i)
		k := key(across, e.cover, e.id)
		least, most = min(least, k), max(most, k)
	}
	return least, most
}
