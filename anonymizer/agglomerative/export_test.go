package agglomerative

import (
	"context"
	"math"

	"github.com/kproxy/kproxy/anonymizer"
)

// Dissimilarities is D of every record with every later one, as CBAD computes
// it.
func Dissimilarities(t *anonymizer.Table) [][]float64 {
	s := newSimilarity(context.Background(), t)
	all := make([]int32, t.Len())
	for i := range all {
		all[i] = int32(i)
	}
	values := s.gather(all)
	rows := make([][]float64, len(all))
	for i := range rows {
		rows[i] = make([]float64, len(all)-i-1)
		s.dissimilarities(values, i, rows[i])
	}
	return rows
}

// GapDissimilarity gives the D of two values of a column whose gap is a part of
// the domain's width, as CBAD derives it where the values are many.
func GapDissimilarity(column []float64) func(gap float64) float64 {
	x := scaled(column)
	g := compareGaps(context.Background(), x, len(column))
	return func(gap float64) float64 { return math.Exp(-g.at(gap)) }
}
