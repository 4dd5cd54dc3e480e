package hierarchy

import (
	"bytes"
	"strconv"
	"strings"
)

// moment is a day since 2000-01-01 and a time of that day. A time zone's
// offset can push micro out of the day by some hours.
type moment struct{ day, micro int64 }

// parseMoment reads PostgreSQL's ISO output: "[Y]YYYY-MM-DD", a time for
// timestamps, an offset for timestamps with time zone, " BC" at the end.
// Infinities and all else are not ok.
func parseMoment(text string, domain Domain) (m moment, ok bool) {
	text, beforeChrist := strings.CutSuffix(text, " BC")
	date, clock, hasClock := strings.Cut(text, " ")
	if hasClock != (domain != DomainDate) {
		return moment{}, false
	}
	if m.day, ok = parseDay(date, beforeChrist); !ok || !hasClock {
		return m, ok
	}
	var offset int64
	if domain == DomainTimestampTZ {
		sign := strings.IndexAny(clock, "+-")
		if sign < 0 {
			return moment{}, false
		}
		if offset, ok = parseOffset(clock[sign:]); !ok {
			return moment{}, false
		}
		clock = clock[:sign]
	}
	m.micro, ok = parseClock(clock)
	m.micro -= offset * microsPerSecond
	return m, ok
}

func parseDay(text string, beforeChrist bool) (day int64, ok bool) {
	years, rest, _ := strings.Cut(text, "-")
	months, dates, _ := strings.Cut(rest, "-")
	if len(years) < 4 || len(years) > 7 {
		return 0, false
	}
	year, yearOK := parseDigits(years)
	month, monthOK := parseTwo(months, 12)
	date, dateOK := parseTwo(dates, 31)
	if !yearOK || !monthOK || !dateOK || year < 1 || month < 1 || date < 1 {
		return 0, false
	}
	if beforeChrist {
		year = 1 - year // the year before 1 is 1 BC
	}
	day = dayOf(year, month, date)
	// A day that the month does not have falls into the next month.
	if _, _, back := civil(day); back != date {
		return 0, false
	}
	return day, true
}

// parseClock reads "HH:MM:SS" with up to six decimals into microseconds.
func parseClock(text string) (micro int64, ok bool) {
	text, fraction, hasFraction := strings.Cut(text, ".")
	second, ok := parseHMS(text, 3)
	if !ok || !hasFraction {
		return second * microsPerSecond, ok
	}
	if len(fraction) > 6 {
		return 0, false
	}
	micro, ok = parseDigits((fraction + "000000")[:6])
	return second*microsPerSecond + micro, ok && fraction != ""
}

// parseOffset reads "+HH", "+HH:MM" or "+HH:MM:SS" into seconds east of UTC.
func parseOffset(text string) (seconds int64, ok bool) {
	seconds, ok = parseHMS(text[1:], 1)
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok
}

// parseHMS reads hours, minutes and seconds, of which at least the given number
// are present, into seconds.
func parseHMS(text string, atLeast int) (seconds int64, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) < atLeast || len(parts) > 3 {
		return 0, false
	}
	limits := [...]int64{23, 59, 59}
	weights := [...]int64{3600, 60, 1}
	for i, part := range parts {
		n, ok := parseTwo(part, limits[i])
		if !ok {
			return 0, false
		}
		seconds += n * weights[i]
	}
	return seconds, true
}

func parseTwo(text string, limit int64) (int64, bool) {
	n, ok := parseDigits(text)
	return n, ok && len(text) == 2 && n <= limit
}

// parseDigits reads digits only, where strconv would take a sign.
func parseDigits(text string) (int64, bool) {
	if text == "" || len(text) > 18 { // more need not fit into 64 bits
		return 0, false
	}
	var n int64
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = 10*n + int64(digit)
	}
	return n, true
}

// formatMoment is the inverse of parseMoment, in UTC.
func formatMoment(units int64, domain Domain) string {
	day, micro := units, int64(0)
	if domain != DomainDate {
		day, micro = units/microsPerDay, units%microsPerDay
		if micro < 0 {
			day, micro = day-1, micro+microsPerDay
		}
	}
	year, month, date := civil(day)
	era := ""
	if year < 1 {
		year, era = 1-year, " BC"
	}
	var room [40]byte // of the longest moment there is
	text := appendPadded(room[:0], year, 4)
	text = appendPadded(append(text, '-'), month, 2)
	text = appendPadded(append(text, '-'), date, 2)
	if domain != DomainDate {
		text = appendClock(append(text, ' '), micro)
	}
	if domain == DomainTimestampTZ {
		text = append(text, "+00"...)
	}
	return string(append(text, era...))
}

func appendClock(text []byte, micro int64) []byte {
	second := micro / microsPerSecond
	text = appendPadded(text, second/3600, 2)
	text = appendPadded(append(text, ':'), second/60%60, 2)
	text = appendPadded(append(text, ':'), second%60, 2)
	if rest := micro % microsPerSecond; rest > 0 {
		text = bytes.TrimRight(appendPadded(append(text, '.'), rest, 6), "0")
	}
	return text
}

// appendPadded writes a number that is not negative with at least so many digits.
// Every bound of every class that is published passes here.
func appendPadded(text []byte, n int64, digits int) []byte {
	for least := int64(10); digits > 1; digits-- {
		if n < least {
			for range digits - 1 {
				text = append(text, '0')
			}
			break
		}
		least *= 10
	}
	return strconv.AppendInt(text, n, 10)
}

// The proleptic Gregorian calendar repeats every 400 years. Years are counted
// from March, so that the leap day is the last of its year, and days from
// 0000-03-01, which is daysToEpoch before 2000-01-01.
const (
	daysPerEra  = 146_097
	daysToEpoch = 730_425
)

// dayOf counts the days from 2000-01-01 to a date; year 0 is 1 BC.
func dayOf(year, month, date int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + date - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*daysPerEra + dayOfEra - daysToEpoch
}

// civil is the inverse of dayOf.
func civil(day int64) (year, month, date int64) {
	day += daysToEpoch
	era := floorDiv(day, daysPerEra)
	dayOfEra := day - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/(daysPerEra-1)) / 365
	dayOfYear := dayOfEra - (yearOfEra*365 + yearOfEra/4 - yearOfEra/100)
	month = (5*dayOfYear + 2) / 153
	date = dayOfYear - (153*month+2)/5 + 1
	month += 3
	year = era*400 + yearOfEra
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, date
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
