package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// checkMiddle checks that the value published with an interval of the policy is the middle
// of it: any other value could be a member's own. Without fixed intervals, the range itself
// shows values of members. A middle beyond the column's type is replaced by the type's end.
func (a attributeCheck) checkMiddle(bounds catalog.PublishedColumn) error {
	if len(a.spec.Steps) == 0 && len(a.spec.Units) == 0 {
		return nil
	}
	shown, interval := quoted("l", a.column.Name), quoted("l", bounds.Name)
	return a.table.violations(a.column.Name+" is the middle of "+bounds.Name, fmt.Sprintf(
		"SELECT 'class ' || l.%[1]s || ': ' || count(*) || ' rows' FROM %[2]s l WHERE %[3]s IS NOT NULL AND NOT lower_inf(%[4]s) AND NOT upper_inf(%[4]s) AND NOT (%[5]s) GROUP BY l.%[1]s",
		a.class, a.relations.release, shown, interval, isMiddle(shown, interval, bounds.Type, a.column.Type)))
}

// isMiddle is the condition that the value is the middle of the interval. Days and whole
// numbers are rounded down; points in time and numbers with a scale are rounded to the
// column's type.
func isMiddle(shown, interval, rangeType, sqlType string) string {
	lower, upper := fmt.Sprintf("lower(%s)", interval), fmt.Sprintf("upper(%s)", interval)
	middle := fmt.Sprintf("((%s::numeric + %s::numeric) / 2)", lower, upper)
	switch rangeType {
	case "int4range", "int8range":
		middle = fmt.Sprintf("floor((%s::numeric + %s::numeric - 1) / 2)", lower, upper)
		least, most := "-9223372036854775808", "9223372036854775807"
		switch sqlType {
		case "smallint":
			least, most = "-32768", "32767"
		case "integer":
			least, most = "-2147483648", "2147483647"
		}
		return fmt.Sprintf("%s = greatest(%s, least(%s, %s))", shown, least, most, middle)
	case "daterange":
		return fmt.Sprintf("%s = %s + (%s - %s - 1) / 2", shown, lower, upper, lower)
	case "tsrange", "tstzrange":
		return fmt.Sprintf("abs(extract(epoch FROM %[1]s - (%[2]s + (%[3]s - %[2]s) / 2))) <= 1", shown, lower, upper)
	}
	if sqlType == "real" || sqlType == "double precision" {
		return fmt.Sprintf("abs(%[1]s::text::numeric - %[2]s) <= greatest(abs(%[2]s), %[4]s - %[3]s) * 0.000001", shown, middle, lower, upper)
	}
	condition := fmt.Sprintf("%[1]s = round(%[2]s, scale(%[1]s))", shown, middle)
	var precision, scale int
	if n, err := fmt.Sscanf(strings.TrimSpace(sqlType), "numeric(%d,%d)", &precision, &scale); err == nil && n == 2 {
		condition += fmt.Sprintf(" OR abs(%s) >= 1e%d AND abs(%s) >= 1e%d - 1e%d", middle, precision-scale, shown, precision-scale, -scale)
	}
	return condition
}
