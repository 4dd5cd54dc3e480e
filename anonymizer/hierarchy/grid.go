package hierarchy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// grid divides the numbers into fixed intervals of ascending widths, each a
// whole number of the intervals before. It knows nothing of the data, so that
// what is published on it tells no member's value.
//
// Bounds are whole numbers of a decimal unit, of which gridReach suffice for all:
// each is a plain cell (see decimals), hence a number lies at or above a bound
// exactly if its cell does.
type grid struct {
	whole  bool    // the intervals hold whole numbers only
	scale  float64 // decimal units in one
	origin int64   // in decimal units, as is width
	width  int64   // of the narrowest intervals
	times  []int64 // widths as multiples of the narrowest
}

// gridReach is the number of decimal units within which steps, origin and
// values must lie; bounds, at most twice as far, then have no more than 15 digits.
const gridReach = 100_000_000_000_000

// maxPlaces is the largest power of ten that a float64 holds exactly.
const maxPlaces = 22

func newGrid(domain Domain, steps []float64, origin float64) (grid, error) {
	g := grid{whole: domain == DomainInteger, scale: 1}
	places := 0
	for _, f := range append([]float64{origin}, steps...) {
		places = max(places, decimalPlaces(f))
	}
	if places > maxPlaces {
		return grid{}, errors.New("steps or origin have too many decimal places: round them")
	}
	for range places {
		g.scale *= 10
	}
	if g.whole && places > 0 {
		return grid{}, errors.New("steps and origin over a column of integer values must be whole numbers")
	}
	units := make([]int64, 0, len(steps)+1)
	for _, f := range append([]float64{origin}, steps...) {
		if math.Abs(f) > gridReach/g.scale {
			return grid{}, fmt.Errorf("%v is too large for the last decimal place of steps and origin: more than %d times as large", f, int64(gridReach))
		}
		// Exact: a decimal of at most 15 digits times a power of ten is nearest to
		// the whole number it is.
		units = append(units, int64(math.Round(f*g.scale)))
	}
	g.origin, g.width = units[0], units[1]
	for i, unit := range units[1:] {
		if unit%units[max(i, 1)] != 0 {
			return grid{}, fmt.Errorf("step %v is no whole multiple of the one before: intervals would not nest", steps[i])
		}
		g.times = append(g.times, unit/g.width)
	}
	return g, nil
}

// decimalPlaces counts the decimals of the shortest form of f.
func decimalPlaces(f float64) int {
	_, fraction, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	return len(fraction)
}

// cell is the cell of a number of decimal units.
func (g grid) cell(units int64) Cell { return Cell(units) / g.scale }

// reaches reports whether the cell is near enough to have an interval.
func (g grid) reaches(c Cell) bool { return math.Abs(c)*g.scale <= gridReach }

// index numbers the narrowest interval that holds the cell.
func (g grid) index(c Cell) int64 {
	k := floorDiv(int64(math.Floor(c*g.scale))-g.origin, g.width)
	// The product is rounded; the bounds are exact.
	for g.cell(g.origin+k*g.width) > c {
		k--
	}
	for g.cell(g.origin+(k+1)*g.width) <= c {
		k++
	}
	return k
}

// bounds are the inclusive ends of the interval with that number among those
// times as wide as the narrowest. A decimal can lie as near below the next
// interval as it likes, so neighbors share a bound there; a number equal to it
// lies in the upper one.
func (g grid) bounds(number, times int64) (first, last int64) {
	first = g.origin + number*times*g.width
	last = first + times*g.width
	if g.whole {
		last--
	}
	return first, last
}

func (g grid) publish(first, last int64) Generalization {
	if g.whole {
		return Generalization{
			Value: strconv.FormatInt(midway(first, last), 10),
			Lower: strconv.FormatInt(first, 10),
			Upper: strconv.FormatInt(last, 10),
		}
	}
	low, high := g.cell(first), g.cell(last)
	return Generalization{Value: formatDecimal(middle(low, high)), Lower: formatDecimal(low), Upper: formatDecimal(high)}
}

// gridded is a Numeric hierarchy whose classes are published on a grid. Numbers
// beyond its reach are off the scale.
type gridded struct {
	Hierarchy // integers or decimals
	grid      grid
}

func (h gridded) Encode(value string) Cell {
	c := h.Hierarchy.Encode(value)
	if !h.grid.reaches(c) {
		return OffScale()
	}
	return c
}

// Generalize publishes the narrowest interval of the grid that holds all cells;
// where none does they are hidden.
func (h gridded) Generalize(cells []Cell) Generalization {
	low, high, ok := extent(cells)
	if !ok {
		return Generalization{Hidden: true}
	}
	first, last, ok := h.grid.holding(low, high)
	if !ok {
		return Generalization{Hidden: true}
	}
	return h.grid.publish(first, last)
}

// holding gives the ends of the narrowest interval that holds two cells, and all between.
func (g grid) holding(low, high Cell) (first, last int64, ok bool) {
	if !g.reaches(low) || !g.reaches(high) {
		return 0, 0, false
	}
	lowest, highest := g.index(low), g.index(high)
	for _, times := range g.times {
		if number := floorDiv(lowest, times); number == floorDiv(highest, times) {
			first, last = g.bounds(number, times)
			return first, last, true
		}
	}
	return 0, 0, false
}

// narrowest is holding for positions.
func (g grid) narrowest(least, greatest float64) (first, last float64, ok bool) {
	from, to, ok := g.holding(least, greatest)
	return g.cell(from), g.cell(to), ok
}

// gridLevels are the levels of a gridded hierarchy.
type gridLevels struct {
	grid            grid
	times           []int64 // of level 1 and up
	snapped         bool    // level 0 publishes what level 1 does
	least, greatest Cell
}

// rungs gives the steps, except a step of one over whole numbers, which divides
// them no further than the values do.
func (h gridded) rungs(column []Cell) (rungs, int) {
	l := gridLevels{grid: h.grid, times: h.grid.times, snapped: true, least: math.Inf(1), greatest: math.Inf(-1)}
	if h.grid.whole && h.grid.width == 1 {
		l.times, l.snapped = l.times[1:], false
	}
	for _, c := range column {
		if h.grid.reaches(c) {
			l.least, l.greatest = min(l.least, c), max(l.greatest, c)
		}
	}
	return l, len(l.times)
}

func (l gridLevels) place(c Cell) (at int64, ok bool) {
	if !l.grid.reaches(c) {
		return 0, false
	}
	return l.grid.index(c), true
}

func (l gridLevels) node(at int64, level int) NodeID {
	return NodeID(floorDiv(at, l.times[level-1]))
}

func (l gridLevels) interval(at int64, level int) (first, last int64) {
	times := l.times[level-1]
	return l.grid.bounds(floorDiv(at, times), times)
}

func (l gridLevels) share(at int64, level int) float64 {
	if level == 0 {
		if !l.snapped {
			return 0
		}
		level = 1
	}
	first, last := l.interval(at, level)
	return widthShare(l.grid.cell(first), l.grid.cell(last), l.least, l.greatest)
}

func (l gridLevels) label(at int64, level int) Generalization {
	return l.grid.publish(l.interval(at, level))
}
