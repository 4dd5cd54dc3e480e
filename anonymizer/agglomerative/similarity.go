package agglomerative

import (
	"context"
	"sync"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// similarity says how alike two records of a table are, after Goodall as Li and
// Biswas 2002 have it: the rarer it is that two records of the table are at least
// as much alike, the more alike they are.
type similarity struct {
	comparisons []comparison // one for each attribute
	combination combination
}

// comparison compares records in one attribute. Values are given by code.
type comparison interface {
	// codes are the values of all records.
	codes() []int32
	// add adds to each sum half the chi-square of comparing the value with the
	// other one of the same index.
	add(sums []float64, value int32, others []int32)
}

// newSimilarity counts the values of the whole table. It is void once ctx has
// ended.
func newSimilarity(ctx context.Context, t *anonymizer.Table) *similarity {
	d := len(t.Attributes())
	s := &similarity{make([]comparison, d), newCombination(d)}
	var columns sync.WaitGroup
	for a, attribute := range t.Attributes() {
		columns.Go(func() {
			if numeric(attribute.Hierarchy.Kind()) {
				s.comparisons[a] = compareNumbers(ctx, positionsOf(t, a), t.Len())
			} else {
				s.comparisons[a] = compareLabels(cellsOf(t, a), t.Len())
			}
		})
	}
	columns.Wait()
	return s
}

// numeric says whether differences between positions have a meaning.
func numeric(k hierarchy.Kind) bool {
	return k == hierarchy.Numeric || k == hierarchy.Date || k == hierarchy.Ordered
}

// block are the codes of some records, attribute by attribute.
type block [][]int32

func (s *similarity) gather(records []int32) block {
	b := make(block, len(s.comparisons))
	for a, c := range s.comparisons {
		column := c.codes()
		b[a] = make([]int32, len(records))
		for i, r := range records {
			b[a][i] = column[r]
		}
	}
	return b
}

// dissimilarities fills D of the block's record with each later one, in their
// order.
func (s *similarity) dissimilarities(b block, record int, d []float64) {
	clear(d)
	for a, c := range s.comparisons {
		c.add(d, b[a][record], b[a][record+1:])
	}
	for i, half := range d {
		d[i] = s.combination.dissimilarity(half)
	}
}

// pairs is n(n-1), the number of ordered pairs of records; at least 1.
func pairs(n int) float64 { return max(1, float64(n)*float64(n-1)) }
