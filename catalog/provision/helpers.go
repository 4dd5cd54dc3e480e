package provision

import (
	"fmt"
	"strings"
)

// helperRange is a range type that releases publish, with what the helpers over it need.
type helperRange struct {
	Range, Element string
	// finite is the condition that a bound, %s, is one, and no end of the scale; of a bound
	// that is NULL it is not true.
	finite string
	// width is the number of values, or the length, of a range %s with two such bounds; a
	// share is one by another.
	width, share string
}

// Widths are floating-point numbers where these hold all bounds of the type exactly. The
// difference of two points in time far apart has no interval: they are counted in seconds.
var helperRanges = []helperRange{
	{"int4range", "integer", "%s IS NOT NULL", "(pg_catalog.upper(%[1]s)::pg_catalog.float8 - pg_catalog.lower(%[1]s))", "%s / %s"},
	{
		"int8range", "bigint", "%s IS NOT NULL",
		"(pg_catalog.upper(%[1]s)::pg_catalog.numeric - pg_catalog.lower(%[1]s))::pg_catalog.float8", "%s / %s",
	},
	// Digits beyond the fortieth would be none that a floating-point number has to have.
	{"numrange", "numeric", "%s * 0 = 0", "(pg_catalog.upper(%[1]s) - pg_catalog.lower(%[1]s))", "pg_catalog.round(%s / %s, 40)::pg_catalog.float8"},
	{"daterange", "date", "pg_catalog.isfinite(%s)", "(pg_catalog.upper(%[1]s) - pg_catalog.lower(%[1]s))::pg_catalog.float8", "%s / %s"},
	{"tsrange", "timestamp", "pg_catalog.isfinite(%s)", seconds("%s"), "%s / nullif(%s, 0)"},
	{"tstzrange", "timestamptz", "pg_catalog.isfinite(%s)", seconds("(%s AT TIME ZONE 'UTC')"), "%s / nullif(%s, 0)"},
}

func seconds(moment string) string {
	of := func(end string) string {
		return fmt.Sprintf("pg_catalog.date_part('epoch', "+moment+")", "pg_catalog."+end+"(%[1]s)")
	}
	return "(" + of("upper") + " - " + of("lower") + ")"
}

// Finite is the condition that a bound is one.
func (r helperRange) Finite(bound string) string { return fmt.Sprintf(r.finite, bound) }

// Share is the part that one range is of another.
func (r helperRange) Share(part, whole string) string {
	return fmt.Sprintf(r.share, fmt.Sprintf(r.width, part), fmt.Sprintf(r.width, whole))
}

// comparison is a helper that exists over ranges and over labels.
type comparison struct{ Name, Returns, what string }

var comparisons = []comparison{
	{"certain", "boolean", "Whether % certainly lies in @."},
	{"possible", "boolean", "Whether % lies in @, as far as is known."},
	{"overlap", "double precision", "The share of % that lies in @, from 0 to 1, all its values being alike likely."},
}

func (c comparison) says(value, wanted string) string {
	return strings.NewReplacer("%", value, "@", wanted).Replace(c.what)
}

// OfInterval and the others are comments.
func (c comparison) OfInterval() string {
	return c.says("what the range stands for", "the interval")
}

// OfBounds is that of the form with two bounds.
func (c comparison) OfBounds() string {
	return c.says("what the range stands for", "the interval from low up to, but not including, high")
}

// OfBeginning is that of the form for beginnings.
func (c comparison) OfBeginning() string {
	return c.says("what the label stands for", "wanted: a value, or a beginning such as 101*")
}

// OfLabel is that of the form for taxonomies.
func (c comparison) OfLabel() string {
	return c.says("what the label stands for", "the value or label wanted, by the taxonomy or order of the column")
}
