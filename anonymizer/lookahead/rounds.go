package lookahead

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// rounds recodes in rounds, as ARX does (Prasser, Eicher, Spengler, Bild and Kuhn 2020, "local recoding"): one level
// of every hierarchy is chosen for all records that are left, those leave that are alike then in sufficient numbers, and the others
// are recoded again from the bottom. With large k, wide classes of records that are alike in most attributes
// lose less than what cuts find; cut further, they are good starts.
//
// Levels are climbed one by one from the bottom, each time in the attribute that is worth most: a
// record is worth what it loses less than bound, in proportion as there are k like it. Of all levels on the way those are taken at which
// the records that would leave are worth most. Time O(rounds * sum of heights * d * n), memory O(sum of heights * n).
type rounds struct {
	bound float64 // of the loss of a record that leaves, 0 to 1
}

// Name is "rounds".
func (rounds) Name() string { return "rounds" }

// Accepts takes everything.
func (rounds) Accepts([]anonymizer.Attribute, privacy.ConstraintSet) error { return nil }

// Anonymize implements Method. What is withheld has left in no round.
func (m rounds) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	l := newLeveled(t, o.Seed)
	k, release := max(1, c.K()), &anonymizer.Release{}
	rest := make([]int32, t.Len())
	for i := range rest {
		rest[i] = int32(i)
	}
	for len(rest) >= k {
		levels := newClimb(l, rest, k, m.bound).best(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if levels == nil {
			break
		}
		left := len(release.Classes)
		var stay []int32
		for _, class := range l.alike(rest, levels) {
			if len(class) >= k && c.Satisfied(t.Summarize(class), t.Population()) {
				release.Classes = append(release.Classes, class)
			} else {
				stay = append(stay, class...)
			}
		}
		if rest = stay; len(release.Classes) == left {
			break
		}
	}
	release.Withheld = rest
	return release, nil
}

// leveled is a table with the nodes of all levels.
type leveled struct {
	nodes  [][][]uint64  // attribute, level, record: a random number that stands for the node
	shares [][][]float32 // attribute, level, record: the share of the domain that the node covers, by the number of attributes
}

func newLeveled(t *anonymizer.Table, seed uint64) *leveled {
	l := &leveled{nodes: make([][][]uint64, len(t.Attributes())), shares: make([][][]float32, len(t.Attributes()))}
	cores.Each(len(t.Attributes()), func(a int) {
		random := rand.New(rand.NewPCG(seed, uint64(a)))
		column := t.Cells(a)
		levels := hierarchy.LevelsOf(t.Attributes()[a].Hierarchy, column)
		l.nodes[a], l.shares[a] = make([][]uint64, levels.Height()+1), make([][]float32, levels.Height()+1)
		for level := range l.nodes[a] {
			numbers := make(map[hierarchy.NodeID]uint64)
			nodes, shares := make([]uint64, len(column)), make([]float32, len(column))
			for i, cell := range column {
				if hierarchy.IsOffScale(cell) {
					cell = hierarchy.OffScale() // one of the many NaNs
				}
				node := levels.Node(cell, level)
				if _, known := numbers[node]; !known {
					numbers[node] = random.Uint64()
				}
				nodes[i], shares[i] = numbers[node], float32(levels.Share(cell, level))/float32(len(t.Attributes()))
			}
			l.nodes[a][level], l.shares[a][level] = nodes, shares
		}
	})
	return l
}

// sum stands for the nodes of a record at some levels.
func (l *leveled) sum(record int32, levels []int) (sum uint64) {
	for a, level := range levels {
		sum += l.nodes[a][level][record]
	}
	return sum
}

// alike groups records that are alike at some levels, in the order of the first of each.
func (l *leveled) alike(records []int32, levels []int) (groups [][]int32) {
	numbers := make(map[uint64]int)
	for _, record := range records {
		sum := l.sum(record, levels)
		number, known := numbers[sum]
		if !known {
			number = len(groups)
			numbers[sum], groups = number, append(groups, nil)
		}
		groups[number] = append(groups[number], record)
	}
	return groups
}

// climb is the way from the bottom levels up.
type climb struct {
	*leveled
	k      int
	bound  float32
	levels []int
	tuples []tuple // different ones at these levels
	tries  []trial // of each attribute
}

// tuple is a set of records that are alike at the levels.
type tuple struct {
	sum    uint64
	record int32 // one of them
	count  int32
	loss   float32
}

// trial is what the next level of an attribute is worth.
type trial struct {
	sums  []uint64 // of each tuple
	slots []slot   // counts of sums
	worth float64  // in proportion
	exact float64  // of the records that would leave
}

type slot struct {
	sum   uint64
	count int32
}

func newClimb(l *leveled, records []int32, k int, bound float64) *climb {
	c := &climb{leveled: l, k: k, bound: float32(bound), levels: make([]int, len(l.nodes)), tries: make([]trial, len(l.nodes))}
	for _, record := range records {
		t := tuple{sum: l.sum(record, c.levels), record: record, count: 1}
		for a := range l.shares {
			t.loss += l.shares[a][0][record]
		}
		c.tuples = append(c.tuples, t)
	}
	c.merge()
	return c
}

// merge puts tuples with the same sum together.
func (c *climb) merge() {
	slices.SortFunc(c.tuples, func(a, b tuple) int {
		switch {
		case a.sum < b.sum, a.sum == b.sum && a.record < b.record:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	merged := c.tuples[:0]
	for _, t := range c.tuples {
		if last := len(merged) - 1; last >= 0 && merged[last].sum == t.sum {
			merged[last].count += t.count
		} else {
			merged = append(merged, t)
		}
	}
	c.tuples = merged
}

// best are the levels at which the records that leave are worth most; nil where none is worth anything.
func (c *climb) best(ctx context.Context) (levels []int) {
	most := 0.0
	for ctx.Err() == nil {
		cores.Each(len(c.levels), c.try)
		to := -1
		for a, t := range c.tries {
			if c.levels[a]+1 < len(c.nodes[a]) && (to < 0 || t.worth > c.tries[to].worth) {
				to = a
			}
		}
		if to < 0 || c.tries[to].worth < 0 {
			return levels
		}
		c.raise(to)
		if exact := c.tries[to].exact; exact > most {
			most, levels = exact, slices.Clone(c.levels)
		}
	}
	return nil
}

func (c *climb) raise(a int) {
	low, high := c.shares[a][c.levels[a]], c.shares[a][c.levels[a]+1]
	for i := range c.tuples {
		t := &c.tuples[i]
		t.sum = c.tries[a].sums[i]
		t.loss += high[t.record] - low[t.record]
	}
	c.levels[a]++
	c.merge()
}

// try finds what the next level of an attribute is worth.
func (c *climb) try(a int) {
	t, level := &c.tries[a], c.levels[a]
	if level+1 >= len(c.nodes[a]) {
		return
	}
	t.prepare(len(c.tuples))
	low, high := c.nodes[a][level], c.nodes[a][level+1]
	for i, of := range c.tuples {
		sum := of.sum - low[of.record] + high[of.record]
		t.sums[i] = sum
		t.of(sum).count += of.count
	}
	t.worth, t.exact = 0, 0
	for i, of := range c.tuples {
		loss := of.loss - c.shares[a][level][of.record] + c.shares[a][level+1][of.record]
		worth := float64(of.count) * float64(c.bound-loss)
		if alike := int(t.of(t.sums[i]).count); alike >= c.k {
			t.worth += worth
			t.exact += worth
		} else {
			t.worth += worth * float64(alike) / float64(c.k)
		}
	}
}

// prepare makes room for so many different sums.
func (t *trial) prepare(n int) {
	size := 2
	for size < 2*n {
		size *= 2
	}
	if cap(t.slots) < size {
		t.slots, t.sums = make([]slot, size), make([]uint64, size)
	}
	t.slots, t.sums = t.slots[:size], t.sums[:n]
	clear(t.slots)
}

// of is the slot of a sum; a count of 0 says that it is new.
func (t *trial) of(sum uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for at := sum & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.count == 0 {
			s.sum = sum
		}
		if s.sum == sum {
			return s
		}
	}
}
