package hierarchy

import (
	"fmt"
	"math"
)

// Unit is a unit of the calendar.
type Unit int

// The units, each of which nests in the next one. A decade has the years that
// share all digits but the last, a century those that share all but the last
// two: 1900 to 1999, because PostgreSQL's 1901 to 2000 (date_trunc) holds no whole
// number of decades. Years are counted astronomically, where 1 BC is year 0.
const (
	Day Unit = iota
	Month
	Quarter
	Year
	Decade
	Century
)

var unitNames = [...]string{Day: "day", Month: "month", Quarter: "quarter", Year: "year", Decade: "decade", Century: "century"}

// String returns the unit's name as configurations spell it.
func (u Unit) String() string {
	if !u.known() {
		return fmt.Sprintf("Unit(%d)", int(u))
	}
	return unitNames[u]
}

func (u Unit) known() bool { return u >= 0 && int(u) < len(unitNames) }

var monthsOf = [...]int64{Month: 1, Quarter: 3, Year: 12, Decade: 120, Century: 1200}

// number counts the units from an arbitrary one up to the one that holds the day.
func (u Unit) number(day int64) int64 {
	if u == Day {
		return day
	}
	year, month, _ := civil(day)
	return floorDiv(year*12+month-1, monthsOf[u])
}

// start is the first day of the unit with that number.
func (u Unit) start(number int64) int64 {
	if u == Day {
		return number
	}
	months := number * monthsOf[u]
	year := floorDiv(months, 12)
	return dayOf(year, months-year*12+1, 1)
}

// dayOf is the day of a point in time, UTC where there is a time zone.
func (h calendar) dayOf(at int64) int64 {
	if h.domain == DomainDate {
		return at
	}
	return floorDiv(at, microsPerDay)
}

// bounds are the first and the last date or microsecond of a unit, within the
// type. Beyond 2^53 a cell can stand for a moment that lies on the other side of
// a boundary, less than two milliseconds away; bounds are widened by as much.
func (h calendar) bounds(u Unit, number int64) (first, last int64) {
	first, last = u.start(number), u.start(number+1)
	if h.domain == DomainDate {
		return h.clamp(first), h.clamp(last - 1)
	}
	// Days are within the type before they become microseconds and could overflow.
	first = max(first, firstMicro/microsPerDay) * microsPerDay
	last = min(last, (lastMicro+1)/microsPerDay) * microsPerDay
	if math.Abs(float64(last)) < exactWhole {
		last--
	}
	return h.clamp(wholeAtLeast(Cell(first))), h.clamp(last)
}

func (h calendar) publish(first, last int64) Generalization {
	return Generalization{
		Value: formatMoment(midway(first, last), h.domain),
		Lower: formatMoment(first, h.domain),
		Upper: formatMoment(last, h.domain),
	}
}

// snap publishes the least unit that holds both ends.
func (h calendar) snap(low, high Cell) Generalization {
	first, last, ok := h.holding(low, high)
	if !ok {
		return Generalization{Hidden: true}
	}
	return h.publish(first, last)
}

// holding gives the ends of the least unit that holds two cells, and all between.
func (h calendar) holding(low, high Cell) (first, last int64, ok bool) {
	lowest, highest := h.dayOf(saturate(low)), h.dayOf(saturate(high))
	for _, u := range h.units {
		if number := u.number(lowest); number == u.number(highest) {
			first, last = h.bounds(u, number)
			return first, last, true
		}
	}
	return 0, 0, false
}

// narrowest is holding for positions.
func (h calendar) narrowest(least, greatest float64) (first, last float64, ok bool) {
	from, to, ok := h.holding(least, greatest)
	return float64(from), float64(to), ok
}

// unitLevels are the levels of a Date hierarchy.
type unitLevels struct {
	h               calendar
	units           []Unit // of level 1 and up
	snapped         bool   // level 0 publishes what level 1 does
	least, greatest Cell
}

// rungs gives the configured units, or else those of which the column spans
// several. For dates, days are the values.
func (h calendar) rungs(column []Cell) (rungs, int) {
	l := unitLevels{h: h, units: h.units, least: math.Inf(1), greatest: math.Inf(-1)}
	for _, c := range column {
		if _, ok := l.place(c); ok {
			l.least, l.greatest = min(l.least, c), max(l.greatest, c)
		}
	}
	if len(h.units) == 0 && l.least <= l.greatest {
		first, last := h.dayOf(saturate(l.least)), h.dayOf(saturate(l.greatest))
		for u := Day; u <= Century && u.number(first) != u.number(last); u++ {
			l.units = append(l.units, u)
		}
	}
	if h.domain == DomainDate && len(l.units) > 0 && l.units[0] == Day {
		l.units = l.units[1:]
	} else {
		l.snapped = len(h.units) > 0
	}
	return l, len(l.units)
}

func (l unitLevels) place(c Cell) (at int64, ok bool) {
	least, greatest := float64(firstMicro), float64(lastMicro)
	if l.h.domain == DomainDate {
		least, greatest = firstDay, lastDay
	}
	return saturate(c), c >= least && c <= greatest
}

func (l unitLevels) node(at int64, level int) NodeID {
	return NodeID(l.units[level-1].number(l.h.dayOf(at)))
}

func (l unitLevels) interval(at int64, level int) (first, last int64) {
	u := l.units[level-1]
	return l.h.bounds(u, u.number(l.h.dayOf(at)))
}

func (l unitLevels) share(at int64, level int) float64 {
	if level == 0 {
		if !l.snapped {
			return 0
		}
		level = 1
	}
	first, last := l.interval(at, level)
	return widthShare(float64(first), float64(last), l.least, l.greatest)
}

func (l unitLevels) label(at int64, level int) Generalization {
	return l.h.publish(l.interval(at, level))
}
