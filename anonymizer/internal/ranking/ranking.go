// Package ranking ranks the values of one attribute over all records, as methods and metrics
// that compare distances do.
package ranking

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Ranking holds the different values of a column: cells or positions.
type Ranking struct {
	Ranks  []int32   // of each record; records off the scale have the rank after the last value
	Values []float64 // of each rank, ascending, without NaN
	// OffScale says that there are records off the scale.
	OffScale bool
}

// checkEvery is how many records a loop handles between two looks at the context.
const checkEvery = 1 << 16

// Of ranks a column; it is of no use once the context has ended. Few different values are
// numbered and only these are sorted.
func Of(ctx context.Context, column []float64) Ranking {
	x := Ranking{Ranks: make([]int32, len(column))}
	different := NewNumbering()
	for i, value := range column {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return x
		}
		if math.IsNaN(value) {
			x.OffScale, x.Ranks[i] = true, offScale
			continue
		}
		x.Ranks[i] = different.Number(value)
		if len(different.Values) > FewValues {
			return bySorting(ctx, column)
		}
	}
	x.Values = slices.Clone(different.Values)
	slices.Sort(x.Values)
	rankOf := make([]int32, len(x.Values))
	for number, value := range different.Values {
		rank, _ := slices.BinarySearch(x.Values, value)
		rankOf[number] = int32(rank)
	}
	for i, number := range x.Ranks {
		if number == offScale {
			x.Ranks[i] = int32(len(rankOf))
		} else {
			x.Ranks[i] = rankOf[number]
		}
	}
	return x
}

// offScale stands for a value off the scale until there are ranks.
const offScale = -1

func bySorting(ctx context.Context, column []float64) Ranking {
	x := Ranking{Ranks: make([]int32, len(column)), Values: Distinct(ctx, column)}
	for i, value := range column {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return x
		}
		if math.IsNaN(value) {
			x.OffScale, x.Ranks[i] = true, int32(len(x.Values))
			continue
		}
		rank, _ := slices.BinarySearch(x.Values, value)
		x.Ranks[i] = int32(rank)
	}
	return x
}

// Distinct lists the different numbers of a column, ascending, without NaN.
func Distinct(ctx context.Context, column []float64) []float64 {
	values := make([]float64, 0, len(column))
	for _, value := range column {
		if !math.IsNaN(value) {
			values = append(values, value)
		}
	}
	Sort(ctx, values, cmp.Compare)
	return slices.Clone(slices.Compact(values))
}

// Positions are those of an attribute's cells, one for each record.
func Positions(ctx context.Context, t *anonymizer.Table, attribute int) []float64 {
	position, cells := t.Attributes()[attribute].Hierarchy.Position, t.Cells(attribute)
	positions := make([]float64, len(cells))
	for i, c := range cells {
		if i%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		positions[i] = position(c)
	}
	return positions
}

// Scaled are the values mapped to [0, 1]; without any width all are 0.
func (x Ranking) Scaled() []float64 {
	scaled := make([]float64, len(x.Values), len(x.Values)+1)
	if len(x.Values) == 0 {
		return scaled
	}
	// Halves keep the span of the largest floats finite; the least of floats have none.
	low, span := x.Values[0]/2, x.Values[len(x.Values)-1]/2-x.Values[0]/2
	for i, value := range x.Values {
		if span > 0 {
			scaled[i] = (value/2 - low) / span
		}
	}
	return scaled
}
