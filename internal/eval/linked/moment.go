package linked

import "github.com/kproxy/kproxy/anonymizer/hierarchy"

// moment is a place on an axis that is known to lie within bounds, inclusive: a date, or
// a number of a root record. Middle is what is published in its place.
type moment struct{ low, high, middle float64 }

// momentOf is what is published of a number or a date; false where nothing is.
func momentOf(h hierarchy.Hierarchy, g hierarchy.Generalization) (moment, bool) {
	if g.Hidden {
		return moment{}, false
	}
	at := func(text string) float64 { return h.Position(h.Encode(text)) }
	m := moment{at(g.Lower), at(g.Upper), at(g.Value)}
	return m, m.low <= m.high // not where one is off the scale
}

// dayOf is the length of a day on the axis; 1 where it is not one of dates.
func dayOf(h hierarchy.Hierarchy) float64 {
	if h.Kind() != hierarchy.Date {
		return 1
	}
	for _, second := range []string{"2000-01-02", "2000-01-02 00:00:00", "2000-01-02 00:00:00+00"} {
		if day := h.Encode(second); !hierarchy.IsOffScale(day) {
			return h.Position(day)
		}
	}
	return 1
}

// unitOf is the distance of neighbors on the axis, 0 where there are none.
func unitOf(h hierarchy.Hierarchy) float64 {
	if h.Kind() == hierarchy.Numeric && !hierarchy.IsOffScale(h.Encode("0.5")) {
		return 0
	}
	return 1
}

// band is a part of an axis, without its upper end.
type band struct{ from, to float64 }

func (b band) holds(x float64) bool { return b.from <= x && x < b.to }

// share is the part of a moment's bounds that lies in the band.
func (b band) share(m moment, unit float64) float64 {
	high := m.high + unit
	if high == m.low {
		if b.holds(m.low) {
			return 1
		}
		return 0
	}
	return max(0, min(high, b.to)-max(m.low, b.from)) / (high - m.low)
}

// within is the probability that one moment lies from 0 up to some distance after
// another one, where both are equally likely anywhere in their bounds, on an axis of
// units that no two values share one of.
func within(first, second moment, distance, unit float64) float64 {
	return later(first, second, distance+unit, unit) - later(first, second, 0, unit)
}

// later is the probability that second - first is less than distance.
func later(first, second moment, distance, unit float64) float64 {
	a, b, c, d := first.low, first.high+unit, second.low, second.high+unit
	half := func(x float64) float64 { return max(0, x) * max(0, x) / 2 }
	area := half(distance-c+b) - half(distance-d+b) - half(distance-c+a) + half(distance-d+a)
	return area / ((b - a) * (d - c))
}
