package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// epoch is where PostgreSQL counts microseconds from.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()

const microsPerSecond = 1_000_000

// roundTimestamp rounds a timestamp to some digits of a second (0 to 6) as the server
// does, half away from the epoch, and within the bounds. What is no timestamp
// stays as it is.
func roundTimestamp(text string, digits int, within Bounds) string {
	at, zone, readable := parseTimestamp(text)
	if !readable || digits < 0 || digits > 6 {
		return text
	}
	unit := int64(microsPerSecond)
	for range digits {
		unit /= 10
	}
	rounded := (at + unit/2) / unit * unit
	if at < 0 {
		rounded = -((-at + unit/2) / unit * unit)
	}
	if upper, _, readable := parseTimestamp(within.Upper); readable && rounded > upper {
		rounded = floorTo(upper, unit)
	}
	if lower, _, readable := parseTimestamp(within.Lower); readable && rounded < lower {
		rounded = -floorTo(-lower, unit)
	}
	return formatTimestamp(rounded, zone)
}

// formatTimestamp is the inverse of parseTimestamp.
func formatTimestamp(micros int64, zone string) string {
	fraction := micros - floorTo(micros, microsPerSecond)
	at := time.Unix(epoch+(micros-fraction)/microsPerSecond, 0).UTC()
	year, era := at.Year(), ""
	if year < 1 {
		year, era = 1-year, " BC"
	}
	text := fmt.Sprintf("%04d-%s", year, at.Format("01-02 15:04:05"))
	if fraction > 0 {
		text += strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")
	}
	return text + zone + era
}

// floorTo is the greatest multiple of the unit up to the number.
func floorTo(number, unit int64) int64 {
	rest := number % unit
	if rest < 0 {
		rest += unit
	}
	return number - rest
}

// parseTimestamp reads a timestamp as hierarchies write it, in UTC, into microseconds
// since the epoch, and what it says of the time zone.
func parseTimestamp(text string) (micros int64, zone string, readable bool) {
	text, beforeChrist := strings.CutSuffix(text, " BC")
	text, zoned := strings.CutSuffix(text, "+00")
	if zoned {
		zone = "+00"
	}
	text, fraction, _ := strings.Cut(text, ".")
	var year, month, day, hour, minute, second int
	n, err := fmt.Sscanf(text, "%d-%d-%d %d:%d:%d", &year, &month, &day, &hour, &minute, &second)
	if err != nil || n != 6 || len(fraction) > 6 {
		return 0, "", false
	}
	if beforeChrist {
		year = 1 - year // the year before 1 is 1 BC
	}
	micros, err = strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	at := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return (at.Unix()-epoch)*microsPerSecond + micros, zone, err == nil
}
