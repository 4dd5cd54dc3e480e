package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// label writes a place on an axis without digits that say nothing.
func label(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }

// placesOf marks these places and no others.
func placesOf(at []float64) plot.ConstantTicks {
	var marks plot.ConstantTicks
	for _, value := range at {
		marks = append(marks, plot.Tick{Value: value, Label: label(value)})
	}
	return marks
}

// linear are the usual marks.
type linear struct{}

func (linear) Ticks(low, high float64) []plot.Tick {
	marks := plot.DefaultTicks{}.Ticks(low, high)
	for i, m := range marks {
		if m.Label != "" {
			marks[i].Label = label(m.Value)
		}
	}
	return marks
}

// logarithmic marks the multiples of the powers of ten and labels as many of them
// as an axis of few decades needs to be read.
type logarithmic struct{}

// enough labels on a logarithmic axis.
const enough = 3

func (logarithmic) Ticks(low, high float64) []plot.Tick {
	if !(low > 0) || math.IsInf(high, 0) {
		return nil
	}
	for _, labeled := range [][]int{{1}, {1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		var marks []plot.Tick
		labels := 0
		for exponent := math.Floor(math.Log10(low)); exponent <= math.Log10(high); exponent++ {
			for digit := 1; digit <= 9; digit++ {
				mark := plot.Tick{Value: float64(digit) * math.Pow(10, exponent)}
				if mark.Value < low || high < mark.Value {
					continue
				}
				if slices.Contains(labeled, digit) {
					mark.Label = label(mark.Value)
					labels++
				}
				marks = append(marks, mark)
			}
		}
		if labels >= enough {
			return marks
		}
	}
	return linear{}.Ticks(low, high)
}
