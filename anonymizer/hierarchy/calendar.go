package hierarchy

// calendar is the Date hierarchy: days since 2000-01-01 for dates, microseconds
// since 2000-01-01 00:00 (UTC where there is a time zone) for points in time,
// as PostgreSQL stores them. Days are exact in a float64; microseconds are
// within 285 years of the epoch, and bounds are widened beyond that.
type calendar struct {
	domain Domain
	units  []Unit // to which classes are published, ascending; empty for none
}

// The ends of PostgreSQL's types, "Date/Time Types", table 8.9.
const (
	firstDay   = -2451545 // 4714-11-24 BC
	lastDay    = 2145031948
	firstMicro = -211813488000000000
	lastMicro  = 9223371331200000000 - 1
)

const (
	microsPerSecond = 1_000_000
	secondsPerDay   = 86_400
	microsPerDay    = secondsPerDay * microsPerSecond
)

func (calendar) Kind() Kind { return Date }

func (h calendar) Encode(value string) Cell {
	m, ok := parseMoment(value, h.domain)
	if !ok {
		return OffScale()
	}
	units := m.day
	first, last := int64(firstDay), int64(lastDay)
	if h.domain != DomainDate {
		if m.day < firstMicro/microsPerDay-1 || m.day > lastMicro/microsPerDay {
			return OffScale()
		}
		units = m.day*microsPerDay + m.micro
		first, last = firstMicro, lastMicro
	}
	if units < first || units > last {
		return OffScale()
	}
	return Cell(units)
}

func (calendar) Position(c Cell) float64 { return c }

func (h calendar) Generalize(cells []Cell) Generalization {
	low, high, ok := extent(cells)
	if !ok {
		return Generalization{Hidden: true}
	}
	if len(h.units) > 0 {
		return h.snap(low, high)
	}
	return h.publish(h.clamp(wholeAtLeast(low)), h.clamp(wholeAtMost(high)))
}

// clamp keeps widened bounds within the type, where every member is.
func (h calendar) clamp(units int64) int64 {
	if h.domain == DomainDate {
		return max(firstDay, min(lastDay, units))
	}
	return max(firstMicro, min(lastMicro, units))
}
