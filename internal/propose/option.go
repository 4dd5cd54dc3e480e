package propose

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// option is another hierarchy for a column of numbers or dates, made for its values: fixed
// intervals or calendar units, which tell less than the bounds of a class do, at the price
// of precision. Empty where there is none.
func option(kind hierarchy.Kind, n counts) string {
	switch kind {
	case hierarchy.Numeric:
		if steps := stepsFor(n); steps != nil {
			return "{kind: numeric, steps: [" + strings.Join(steps, ", ") + "]}"
		}
	case hierarchy.Date:
		return "{kind: date, units: [" + strings.Join(unitsFor(n), ", ") + "]}"
	}
	return ""
}

// stepsFor are widths from about a fiftieth of the range of the values to all of it; nil
// where they are all the same, or some below 0, across which no interval lies.
func stepsFor(n counts) []string {
	low, high := math.Inf(1), math.Inf(-1)
	for v := range n.frequency {
		number, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			continue
		}
		low, high = min(low, number), max(high, number)
	}
	if low < 0 || high <= low || high > 1e12 {
		return nil
	}
	unit := math.Pow(10, math.Floor(math.Log10((high-low)/20)))
	if unit < 1 {
		unit = 1
	}
	steps := []float64{unit, 5 * unit}
	for width := 10 * unit; steps[len(steps)-1] <= high; width *= 2 {
		steps = append(steps, width)
	}
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = strconv.FormatFloat(s, 'f', -1, 64)
	}
	return texts
}

// unitsFor are calendar units that fit the years that the values span.
func unitsFor(n counts) []string {
	first, last := math.MaxInt, math.MinInt
	for v := range n.frequency {
		if len(v) < len(time.DateOnly) {
			continue
		}
		if day, err := time.Parse(time.DateOnly, v[:len(time.DateOnly)]); err == nil {
			first, last = min(first, day.Year()), max(last, day.Year())
		}
	}
	if last-first > 20 {
		return []string{"month", "year", "decade", "century"}
	}
	return []string{"day", "month", "quarter", "year", "decade"}
}

// explained is what is said of options where their kind comes up first.
var explained = map[hierarchy.Kind]string{
	hierarchy.Numeric: "fixed intervals tell less than exact bounds, at the price of precision:",
	hierarchy.Date:    "calendar units tell less than exact bounds, at the price of precision:",
}
