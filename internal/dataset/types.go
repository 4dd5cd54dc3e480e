package dataset

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// sqlType is what a column of one of config.CSVTypes is in PostgreSQL.
type sqlType struct {
	// base is the name in pg_type, format what format_type says.
	base, format string
	// output brings a text that PostgreSQL reads as a value of the type into the
	// form in which it writes that value (DateStyle ISO, TimeZone UTC); false for
	// other texts. Nil where every text stays as it is.
	output func(string) (string, bool)
	// not says what a text is that cannot be read.
	not string
}

var sqlTypes = map[string]sqlType{
	"text":        {base: "text", format: "text"},
	"integer":     {"int4", "integer", whole(32), "no whole number within 32 bits"},
	"bigint":      {"int8", "bigint", whole(64), "no whole number within 64 bits"},
	"numeric":     {"numeric", "numeric", decimal, "no number"},
	"date":        {"date", "date", date, "no date (year-month-day)"},
	"timestamp":   {"timestamp", "timestamp without time zone", timestamp, "no timestamp (year-month-day hour:minute:second)"},
	"timestamptz": {"timestamptz", "timestamp with time zone", timestampTZ, "no timestamp (year-month-day hour:minute:second+zone)"},
	"boolean":     {"bool", "boolean", boolean, "neither true nor false"},
}

// inferredType is a type that a column is found to have by its values.
type inferredType struct {
	name string
	fits func(string) bool
}

// inferable are the types that are found, the narrowest first. What is a number
// for PostgreSQL but has a leading zero or a plus sign is a code, such as a
// postcode, and stays a text.
var inferable = []inferredType{
	{"bigint", unchanged("bigint")},
	{"numeric", isPlainNumber},
	{"date", unchanged("date")},
	{"timestamp", isPlainMoment("timestamp")},
	{"timestamptz", isPlainMoment("timestamptz")},
}

// unchangedTypes are those that are found by values in their output form alone.
var unchangedTypes = []string{"bigint", "date"}

// unchanged tells texts that already stand in the type's output form.
func unchanged(name string) func(string) bool {
	return func(v string) bool {
		text, ok := sqlTypes[name].output(v)
		return ok && text == v
	}
}

func isPlainNumber(v string) bool {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(v, "-"), ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return false
	}
	_, ok := decimal(v)
	return ok && (whole == "0" || whole[0] != '0')
}

// isPlainMoment tells texts that begin with a day in full.
func isPlainMoment(name string) func(string) bool {
	return func(v string) bool {
		_, ok := sqlTypes[name].output(v)
		return ok && len(v) >= len(time.DateOnly) && unchanged("date")(v[:len(time.DateOnly)])
	}
}

func whole(bits int) func(string) (string, bool) {
	return func(v string) (string, bool) {
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, bits)
		return strconv.FormatInt(n, 10), err == nil
	}
}

// The digits that numeric has at most before and after the point (PostgreSQL,
// chapter Numeric Types).
const (
	maxWhole    = 131_072
	maxFraction = 16_383
)

// decimal keeps the digits behind the point, as numeric does.
func decimal(v string) (string, bool) {
	v = strings.ToLower(strings.TrimSpace(v))
	if v == "nan" {
		return "NaN", true
	}
	sign := ""
	switch {
	case strings.HasPrefix(v, "-"):
		sign, v = "-", v[1:]
	case strings.HasPrefix(v, "+"):
		v = v[1:]
	}
	if v == "inf" || v == "infinity" {
		return sign + "Infinity", true
	}
	mantissa, power, scientific := strings.Cut(v, "e")
	exponent := 0
	if scientific {
		var err error
		if exponent, err = strconv.Atoi(power); err != nil || exponent > maxWhole || exponent < -maxFraction {
			return "", false
		}
	}
	before, after, _ := strings.Cut(mantissa, ".")
	digits := before + after
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	point := len(before) + exponent
	digits = strings.Repeat("0", max(0, -point)) + digits
	point = max(0, point)
	digits += strings.Repeat("0", max(0, point-len(digits)))
	before, after = strings.TrimLeft(digits[:point], "0"), digits[point:]
	if len(before) > maxWhole || len(after) > maxFraction {
		return "", false
	}
	if strings.Trim(digits, "0") == "" {
		sign = ""
	}
	if before == "" {
		before = "0"
	}
	return strings.TrimSuffix(sign+before+"."+after, "."), true
}

// boolean takes what PostgreSQL's chapter Boolean Type lists, and unique
// beginnings of it.
func boolean(v string) (string, bool) {
	v = strings.ToLower(strings.TrimSpace(v))
	begins := func(words ...string) bool {
		return v != "" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, v) })
	}
	switch {
	case v == "o":
		return "", false
	case v == "1" || begins("true", "yes") || v == "on":
		return "t", true
	case v == "0" || begins("false", "no", "off"):
		return "f", true
	}
	return "", false
}

// infinite is a date or point in time before or after all others.
func infinite(v string) (string, bool) {
	v = strings.ToLower(v)
	return v, v == "infinity" || v == "-infinity"
}

// date takes days that cannot be mistaken for others: the year comes first.
func date(v string) (string, bool) {
	v = strings.TrimSpace(v)
	if text, ok := infinite(v); ok {
		return text, true
	}
	day, ok := parseDay(v)
	return day.Format(time.DateOnly), ok
}

func parseDay(v string) (time.Time, bool) {
	for _, layout := range []string{"2006-1-2", "2006/1/2", "20060102"} {
		if day, err := time.Parse(layout, v); err == nil {
			return day, day.Year() >= 1
		}
	}
	return time.Time{}, false
}

const microseconds = "2006-01-02 15:04:05.999999"

func timestamp(v string) (string, bool) {
	v = strings.TrimSpace(v)
	if text, ok := infinite(v); ok {
		return text, true
	}
	moment, zoned, ok := parseMoment(v)
	return moment.Format(microseconds), ok && !zoned
}

// timestampTZ takes a moment without a zone for one of UTC.
func timestampTZ(v string) (string, bool) {
	v = strings.TrimSpace(v)
	if text, ok := infinite(v); ok {
		return text, true
	}
	moment, _, ok := parseMoment(v)
	return moment.Format(microseconds) + "+00", ok && moment.Year() >= 1 && moment.Year() <= 9999
}

// parseMoment reads a day and, if there is one, the time of it.
func parseMoment(v string) (moment time.Time, zoned, ok bool) {
	end := strings.IndexAny(v, " T")
	if end < 0 {
		moment, ok = parseDay(v)
		return moment, false, ok
	}
	day, ok := parseDay(v[:end])
	clock, zone := v[end+1:], ""
	if at := strings.IndexAny(clock, "+-ZU"); at >= 0 {
		clock, zone = strings.TrimSpace(clock[:at]), clock[at:]
	}
	east, known := parseZone(zone)
	if !ok || !known || strings.Contains(clock, ",") {
		return time.Time{}, false, false
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if of, err := time.Parse(layout, clock); err == nil {
			midnight := of.Truncate(24 * time.Hour)
			return day.Add(of.Sub(midnight) - east).Round(time.Microsecond), zone != "", true
		}
	}
	return time.Time{}, false, false
}

// parseZone is how far a zone is east of UTC.
func parseZone(v string) (time.Duration, bool) {
	if v == "" || v == "Z" || v == "UTC" {
		return 0, true
	}
	for _, layout := range []string{"-07", "-07:00", "-0700"} {
		if zone, err := time.Parse(layout, v); err == nil {
			_, seconds := zone.Zone()
			east := time.Duration(seconds) * time.Second
			return east, east.Abs() < 16*time.Hour // PostgreSQL's bound
		}
	}
	return 0, false
}
