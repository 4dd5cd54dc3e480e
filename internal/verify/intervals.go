package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// checkRange checks that a range contains every value of its class, and is an interval of
// the policy's grid or calendar, if it has one.
func (a attributeCheck) checkRange() error {
	holds := fmt.Sprintf("g.shown @> %s", element(a.source, a.column.Type, quoted("r", a.column.Source)))
	if err := a.members("every value lies within "+a.column.Name, holds); err != nil {
		return err
	}
	var fits string
	switch {
	case len(a.spec.Steps) > 0:
		fits = onGrid(a.spec, a.column.Type)
	case len(a.spec.Units) > 0:
		fits = onCalendar(a.spec)
	default:
		return nil
	}
	return a.table.violations(a.column.Name+" is an interval of the policy", fmt.Sprintf(
		"SELECT 'class ' || class FROM (SELECT DISTINCT l.%s AS class, %s AS shown FROM %s l) g WHERE shown IS NOT NULL AND NOT coalesce(%s, false)",
		a.class, quoted("l", a.column.Name), a.relations.release, fits))
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

// onCalendar compares a range with the calendar, in UTC. A range ends before the next unit:
// ranges of dates exclude their upper bound, ranges of points in time include the last
// microsecond. Far from now, bounds of points in time are widened to what a float64 can
// hold, and are not checked.
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

// checkRepresentative checks that the representative is in the published range. Without a
// range, it must be between the least and the greatest value of the class, or share an
// interval of the policy with them. Numbers are then compared as float8: the midpoint of whole
// numbers beyond 2^53 is no more exact than that.
func (a attributeCheck) checkRepresentative() error {
	check := a.column.Name + " lies among the values of its class"
	for _, bounds := range a.relations.publication.Columns {
		if bounds.Part == catalog.Range && bounds.Source == a.column.Source {
			if err := a.checkMiddle(bounds); err != nil {
				return err
			}
			return a.table.violations(check, fmt.Sprintf("SELECT 'class ' || l.%[1]s || ': ' || count(*) || ' rows' FROM %[2]s l"+
				" WHERE l.%[1]s IS NOT NULL AND ((%[3]s IS NULL) <> (%[4]s IS NULL) OR NOT %[4]s @> %[5]s) GROUP BY l.%[1]s",
				a.class, a.relations.release, quoted("l", a.column.Name), quoted("l", bounds.Name), element(a.source, bounds.Type, quoted("l", a.column.Name))))
		}
	}
	cast, among := "::float8", "g.shown BETWEEN e.least AND e.greatest"
	switch base := a.source.BaseType; {
	case slices.Contains([]string{"date", "timestamp", "timestamptz"}, base):
		cast = ""
		if len(a.spec.Units) > 0 {
			among = sameUnit(a.spec)
		}
	case len(a.spec.Steps) > 0:
		cast, among = "::numeric", sameStep(a.spec)
		if base == "float4" || base == "float8" {
			cast = "::text::numeric"
		}
	}
	shown, raw := quoted("l", a.column.Name)+cast, quoted("r", a.column.Source)+cast
	known := "true"
	if a.relations.isGuarded() {
		known = "e.n = g.n" // else it may be among values of deleted records
	}
	return a.table.violations(check, fmt.Sprintf("SELECT 'class ' || g.class || ' of ' || e.n || ' records'"+
		" FROM (SELECT l.%[1]s AS class, %[2]s AS shown, count(*) AS n FROM %[3]s l GROUP BY 1, 2) g"+
		" JOIN (SELECT r.%[1]s AS class, min(%[4]s) AS least, max(%[4]s) AS greatest, count(*) AS n, count(%[4]s) AS known FROM %[5]s r WHERE %[7]s GROUP BY 1) e"+
		" ON e.class = g.class AND %[8]s WHERE g.shown IS NOT NULL AND (e.known < e.n OR NOT (%[6]s))",
		a.class, shown, a.relations.release, raw, a.relations.records, among, a.relations.asPublished("r"), known))
}

// sameStep is the condition that one interval of the grid contains g.shown, e.least and
// e.greatest.
func sameStep(spec hierarchy.Spec) string {
	number := func(value string) string {
		return fmt.Sprintf("floor((%s - %s) / step)", value, decimal(spec.Origin))
	}
	return fmt.Sprintf("EXISTS (SELECT FROM unnest(%s) AS step WHERE %s = %s AND %s = %s)",
		steps(spec), number("g.shown"), number("e.least"), number("e.least"), number("e.greatest"))
}

// sameUnit is the same condition for the calendar, in UTC.
func sameUnit(spec hierarchy.Spec) string {
	number := func(value string) string {
		value += "::timestamp"
		return fmt.Sprintf("CASE WHEN months = 0 THEN extract(epoch FROM date_trunc('day', %s)) ELSE floor(%s / greatest(months, 1)) END", value, monthNumber(value))
	}
	return fmt.Sprintf("EXISTS (SELECT FROM unnest(%s) AS months WHERE %s = %s AND %s = %s)",
		months(spec), number("g.shown"), number("e.least"), number("e.least"), number("e.greatest"))
}
