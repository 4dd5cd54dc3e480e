package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// checkRange wants a range to hold every value of its class, and to be an
// interval of the policy's grid or calendar where it has one.
func (t *table) checkRange(c catalog.PublishedColumn, spec hierarchy.Spec) error {
	holds := fmt.Sprintf("g.shown @> %s", element(t.source(c), c.Type, quoted("r", c.Source)))
	if err := t.members(c, "every value lies within "+c.Name, holds); err != nil {
		return err
	}
	var fits string
	switch {
	case len(spec.Steps) > 0:
		fits = onGrid(spec, c.Type)
	case len(spec.Units) > 0:
		fits = onCalendar(spec)
	default:
		return nil
	}
	return t.violations(c.Name+" is an interval of the policy", fmt.Sprintf(
		"SELECT 'class ' || class FROM (SELECT DISTINCT l.%s AS class, %s AS shown FROM %s l) g WHERE shown IS NOT NULL AND NOT coalesce(%s, false)",
		t.partOf(c.Attribute).class, quoted("l", c.Name), t.release, fits))
}

// onGrid compares a range with the grid. Ranges of whole numbers end before the
// next interval; those of decimals have both ends, and neighbors share one. A
// bound that would lie beyond its type is left out.
func onGrid(spec hierarchy.Spec, rangeType string) string {
	least, most := "NULL", "NULL" // decimals have no end
	switch rangeType {
	case "int4range":
		least, most = "-2147483648", "2147483647"
	case "int8range":
		least, most = "-9223372036854775808", "9223372036854775807"
	}
	from, to := "lower(shown)::numeric", "upper(shown)::numeric"
	return fmt.Sprintf("EXISTS (SELECT FROM unnest(%[1]s) AS step WHERE CASE"+
		" WHEN upper_inf(shown) THEN %[2]s + step > %[5]s AND mod(%[2]s - %[6]s, step) = 0"+
		" WHEN lower_inf(shown) THEN %[3]s - step < %[4]s AND mod(%[3]s - %[6]s, step) = 0"+
		" ELSE %[3]s - %[2]s = step AND mod(%[2]s - %[6]s, step) = 0 END)",
		steps(spec), from, to, least, most, decimal(spec.Origin))
}

func steps(spec hierarchy.Spec) string {
	literals := make([]string, len(spec.Steps))
	for i, step := range spec.Steps {
		literals[i] = decimal(step)
	}
	return "ARRAY[" + strings.Join(literals, ", ") + "]"
}

// monthsOf are the lengths of the units of the calendar; a day is no month.
var monthsOf = map[hierarchy.Unit]int{
	hierarchy.Day: 0, hierarchy.Month: 1, hierarchy.Quarter: 3, hierarchy.Year: 12, hierarchy.Decade: 120, hierarchy.Century: 1200,
}

func months(spec hierarchy.Spec) string {
	lengths := make([]string, len(spec.Units))
	for i, unit := range spec.Units {
		lengths[i] = fmt.Sprint(monthsOf[unit])
	}
	return "ARRAY[" + strings.Join(lengths, ", ") + "]"
}

// monthNumber counts the months of a timestamp from the year 0, which PostgreSQL
// calls 1 BC. Before PostgreSQL 14, extract gives a double, which mod refuses.
func monthNumber(at string) string {
	return fmt.Sprintf("((extract(year FROM %[1]s) + (extract(year FROM %[1]s) < 0)::int) * 12 + extract(month FROM %[1]s) - 1)::int", at)
}

// onCalendar compares a range with the calendar, in UTC. It ends before the next
// unit: a range of dates says so itself, of points in time the last microsecond
// belongs to it. Far from now, where bounds of points in time are widened to
// what a float64 can hold, they are taken as they are.
func onCalendar(spec hierarchy.Spec) string {
	from := "lower(shown)::timestamp"
	to := "(upper(shown)::timestamp + CASE WHEN upper_inc(shown) THEN interval '1 us' ELSE interval '0' END)"
	fits := fmt.Sprintf("EXISTS (SELECT FROM unnest(%[1]s) AS months WHERE %[2]s = date_trunc('day', %[2]s)"+
		" AND CASE WHEN months = 0 THEN %[3]s = %[2]s + interval '1 day'"+
		" ELSE extract(day FROM %[2]s) = 1 AND mod(%[4]s, months) = 0 AND %[3]s = %[2]s + months * interval '1 month' END)",
		months(spec), from, to, monthNumber(from))
	if spec.Domain != hierarchy.DomainDate {
		fits = fmt.Sprintf("%s NOT BETWEEN '1715-01-01' AND '2285-01-01' OR %s NOT BETWEEN '1715-01-01' AND '2285-01-01' OR %s", from, to, fits)
	}
	return fits
}

// checkRepresentative wants the representative inside of the published range,
// or, where none is published, between the least and the greatest value of the
// class, or in one interval of the policy with them. Numbers are compared as
// float8 there: the midpoint of whole numbers beyond 2^53 is no better.
func (t *table) checkRepresentative(c catalog.PublishedColumn, spec hierarchy.Spec) error {
	check := c.Name + " lies among the values of its class"
	class := t.partOf(c.Attribute).class
	for _, bounds := range t.publication.Columns {
		if bounds.Part == catalog.Range && bounds.Source == c.Source {
			if err := t.checkMiddle(c, bounds, spec); err != nil {
				return err
			}
			return t.violations(check, fmt.Sprintf("SELECT 'class ' || l.%[1]s || ': ' || count(*) || ' rows' FROM %[2]s l"+
				" WHERE l.%[1]s IS NOT NULL AND ((%[3]s IS NULL) <> (%[4]s IS NULL) OR NOT %[4]s @> %[5]s) GROUP BY l.%[1]s",
				class, t.release, quoted("l", c.Name), quoted("l", bounds.Name), element(t.source(c), bounds.Type, quoted("l", c.Name))))
		}
	}
	cast, among := "::float8", "g.shown BETWEEN e.least AND e.greatest"
	switch base := t.source(c).BaseType; {
	case slices.Contains([]string{"date", "timestamp", "timestamptz"}, base):
		cast = ""
		if len(spec.Units) > 0 {
			among = sameUnit(spec)
		}
	case len(spec.Steps) > 0:
		cast, among = "::numeric", sameStep(spec)
		if base == "float4" || base == "float8" {
			cast = "::text::numeric"
		}
	}
	shown, raw := quoted("l", c.Name)+cast, quoted("r", c.Source)+cast
	known := "true"
	if t.isGuarded() {
		known = "e.n = g.n" // else it may stand among values that are gone
	}
	return t.violations(check, fmt.Sprintf("SELECT 'class ' || g.class || ' of ' || e.n || ' records'"+
		" FROM (SELECT l.%[1]s AS class, %[2]s AS shown, count(*) AS n FROM %[3]s l GROUP BY 1, 2) g"+
		" JOIN (SELECT r.%[1]s AS class, min(%[4]s) AS least, max(%[4]s) AS greatest, count(*) AS n, count(%[4]s) AS known FROM %[5]s r WHERE %[7]s GROUP BY 1) e"+
		" ON e.class = g.class AND %[8]s WHERE g.shown IS NOT NULL AND (e.known < e.n OR NOT (%[6]s))",
		class, shown, t.release, raw, t.records, among, t.asPublished("r"), known))
}

// sameStep says that g.shown, e.least and e.greatest lie in one interval of the
// grid.
func sameStep(spec hierarchy.Spec) string {
	number := func(value string) string {
		return fmt.Sprintf("floor((%s - %s) / step)", value, decimal(spec.Origin))
	}
	return fmt.Sprintf("EXISTS (SELECT FROM unnest(%s) AS step WHERE %s = %s AND %s = %s)",
		steps(spec), number("g.shown"), number("e.least"), number("e.least"), number("e.greatest"))
}

// sameUnit says the same of the calendar, in UTC.
func sameUnit(spec hierarchy.Spec) string {
	number := func(value string) string {
		value += "::timestamp"
		return fmt.Sprintf("CASE WHEN months = 0 THEN extract(epoch FROM date_trunc('day', %s)) ELSE floor(%s / greatest(months, 1)) END", value, monthNumber(value))
	}
	return fmt.Sprintf("EXISTS (SELECT FROM unnest(%s) AS months WHERE %s = %s AND %s = %s)",
		months(spec), number("g.shown"), number("e.least"), number("e.least"), number("e.greatest"))
}
