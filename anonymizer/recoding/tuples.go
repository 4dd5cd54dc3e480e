package recoding

import (
	"context"
	"math/bits"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// tuples are the different combinations of nodes, one node for each attribute
// at the attribute's level, that a set of records has. All work is done on them
// and not on the records, which hang on them in chains.
type tuples struct {
	ladders []*ladder
	levels  []uint8    // attribute: level of its nodes
	nodes   [][]uint32 // attribute, tuple
	counts  []int32    // tuple: number of its records

	// The chain of a tuple's records; all nil where only counts matter.
	first, last []int32 // tuple
	next        []int32 // record: the next one of its tuple, -1 for the last

	strata    *strata // nil where sensitive values do not matter or are looked up
	numbering *numbering
}

// newTuples reads a table at level 0.
func newTuples(ctx context.Context, t *anonymizer.Table) (*tuples, error) {
	n := t.Len()
	ts := &tuples{
		levels: make([]uint8, len(t.Attributes())), counts: slices.Repeat([]int32{1}, n),
		first: make([]int32, n), last: make([]int32, n), next: slices.Repeat([]int32{-1}, n),
		numbering: &numbering{},
	}
	for i := range n {
		ts.first[i], ts.last[i] = int32(i), int32(i)
	}
	for a, attribute := range t.Attributes() {
		levels := hierarchy.LevelsOf(attribute.Hierarchy, t.Cells(a))
		l, nodes, err := newLadder(ctx, levels, t.Cells(a), ts.numbering)
		if err != nil {
			return nil, err
		}
		ts.ladders, ts.nodes = append(ts.ladders, l), append(ts.nodes, nodes)
	}
	return ts, ts.merge(ctx)
}

// len is the number of tuples.
func (t *tuples) len() int { return len(t.counts) }

// records is the number of records of all tuples.
func (t *tuples) records() int {
	sum := 0
	for _, count := range t.counts {
		sum += int(count)
	}
	return sum
}

// of calls visit with each record of a tuple.
func (t *tuples) of(tuple int32, visit func(record int32)) {
	for r := t.first[tuple]; r >= 0; r = t.next[r] {
		visit(r)
	}
}

// group numbers the combinations of nodes that some tuples have in some
// attributes, from 0; firsts are indexes into some. Nil stands for all tuples.
// Nodes are packed into words of 64 bits, as many attributes as fit at a time.
func (t *tuples) group(ctx context.Context, attributes []int, some []int32) (of []uint32, firsts []int32, err error) {
	keys := make([]uint64, t.len())
	if some != nil {
		keys = keys[:len(some)]
	}
	width := 0
	for _, a := range attributes {
		need := bits.Len(uint(max(1, t.ladders[a].size(t.levels[a])) - 1))
		if width+need > 64 {
			if of, firsts, err = t.numbering.number(ctx, keys); err != nil {
				return nil, nil, err
			}
			for i, number := range of {
				keys[i] = uint64(number)
			}
			width = bits.Len(uint(len(firsts)))
		}
		nodes := t.nodes[a]
		if some == nil {
			for i, node := range nodes {
				keys[i] = keys[i]<<need | uint64(node)
			}
		} else {
			for i, tuple := range some {
				keys[i] = keys[i]<<need | uint64(nodes[tuple])
			}
		}
		width += need
	}
	return t.numbering.number(ctx, keys)
}

// merge makes one tuple of those with equal nodes.
func (t *tuples) merge(ctx context.Context) error {
	of, firsts, err := t.group(ctx, upTo(len(t.nodes)), nil)
	if err != nil {
		return err
	}
	if len(firsts) == len(of) {
		return nil
	}
	// A number is never above the place it stands for, so that all can be
	// moved in place.
	for a, nodes := range t.nodes {
		for number, first := range firsts {
			nodes[number] = nodes[first]
		}
		t.nodes[a] = nodes[:len(firsts)]
	}
	for tuple, number := range of {
		if tuple%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case int(firsts[number]) == tuple:
			t.move(tuple, int(number))
		case t.next == nil:
			t.counts[number] += t.counts[tuple]
		default:
			t.counts[number] += t.counts[tuple]
			t.next[t.last[number]] = t.first[tuple]
			t.last[number] = t.last[tuple]
		}
	}
	t.shorten(len(firsts))
	if t.strata != nil {
		return t.strata.move(ctx, of, len(firsts), t.numbering)
	}
	return nil
}

// move puts the count and the chain of a tuple in another place.
func (t *tuples) move(from, to int) {
	t.counts[to] = t.counts[from]
	if t.next != nil {
		t.first[to], t.last[to] = t.first[from], t.last[from]
	}
}

// shorten keeps the first counts and chains.
func (t *tuples) shorten(length int) {
	t.counts = t.counts[:length]
	if t.next != nil {
		t.first, t.last = t.first[:length], t.last[:length]
	}
}

// remove forgets the marked tuples, and all strata.
func (t *tuples) remove(marked []bool) {
	t.strata = nil
	for a, nodes := range t.nodes {
		kept := nodes[:0]
		for tuple, node := range nodes {
			if !marked[tuple] {
				kept = append(kept, node)
			}
		}
		t.nodes[a] = kept
	}
	length := 0
	for tuple := range marked {
		if !marked[tuple] {
			t.move(tuple, length)
			length++
		}
	}
	t.shorten(length)
}

// raise generalizes one attribute by a level.
func (t *tuples) raise(ctx context.Context, attribute int) error {
	up, err := t.ladders[attribute].climb(ctx, t.levels[attribute], t.numbering)
	if err != nil {
		return err
	}
	nodes := t.nodes[attribute]
	for tuple, node := range nodes {
		nodes[tuple] = up[node]
	}
	t.levels[attribute]++
	return t.merge(ctx)
}

// distinct is how many different nodes of an attribute the tuples have.
func (t *tuples) distinct(attribute int) int {
	seen := make([]bool, t.ladders[attribute].size(t.levels[attribute]))
	count := 0
	for _, node := range t.nodes[attribute] {
		if !seen[node] {
			seen[node] = true
			count++
		}
	}
	return count
}

// widest is the attribute with the most different nodes among those below their
// height, the first of equal ones; -1 where all are at the top.
func (t *tuples) widest() int {
	widest, most := -1, 0
	for a, l := range t.ladders {
		if int(t.levels[a]) >= l.height() {
			continue
		}
		if d := t.distinct(a); d > most {
			widest, most = a, d
		}
	}
	return widest
}

// view is a copy with some attributes only, at levels not below the present
// ones; chained says whether it has the records too.
func (t *tuples) view(ctx context.Context, attributes []int, levels []uint8, chained bool) (*tuples, error) {
	v := &tuples{levels: slices.Clone(levels), counts: slices.Clone(t.counts), numbering: t.numbering}
	if chained {
		v.first, v.last, v.next = slices.Clone(t.first), slices.Clone(t.last), slices.Clone(t.next)
	}
	if t.strata != nil {
		v.strata = t.strata.clone()
	}
	for i, a := range attributes {
		nodes := slices.Clone(t.nodes[a])
		for level := t.levels[a]; level < levels[i]; level++ {
			up, err := t.ladders[a].climb(ctx, level, t.numbering)
			if err != nil {
				return nil, err
			}
			for tuple, node := range nodes {
				nodes[tuple] = up[node]
			}
		}
		v.ladders, v.nodes = append(v.ladders, t.ladders[a]), append(v.nodes, nodes)
	}
	return v, v.merge(ctx)
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}
