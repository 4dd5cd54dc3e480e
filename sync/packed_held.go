package sync

import (
	"fmt"
	"slices"
	"strings"
)

// selection is what is read of each record: its number, whether it is wide, if that is not
// known of all, and columns.
type selection struct {
	columns []int
	wide    bool
	list    string
	table   string
}

// selectHeld selects what has to travel into memory. Where no value of the table lies
// elsewhere, records are short as a rule, and it takes less to read all of one than to ask
// for its width. Texts that are compressed to fit into their page travel in vain then.
func (t *table) selectHeld(outOfLine bool) selection {
	columns, list, wide := t.heldColumns()
	s := selection{columns: columns, table: t.recordsTable()}
	if s.wide = outOfLine && t.copies != nil; s.wide {
		s.list = wide + ", " + list
	} else {
		s.list = t.listOf(columns)
	}
	return s
}

// query selects the records of a range.
func (s selection) query(within sourceRange) string {
	query := fmt.Sprintf("SELECT %s, %s FROM %s", recordColumn, s.list, s.table)
	if within.from > 0 || within.to > 0 {
		query += " WHERE " + within.condition()
	}
	return query
}

// before is how many fields come before the columns.
func (s selection) before() int {
	if s.wide {
		return 2
	}
	return 1
}

func (s selection) width() int { return s.before() + len(s.columns) }

// places are the fields of some of the table's columns.
func (s selection) places(columns []int) []int {
	places := make([]int, len(columns))
	for i, column := range columns {
		places[i] = s.before() + slices.Index(s.columns, column)
	}
	return places
}

// fixedTypes take the same few bytes for every value.
var fixedTypes = []string{
	"bool", "int2", "int4", "int8", "oid", "float4", "float8", "date", "time", "timetz", "timestamp", "timestamptz", "interval", "uuid", "macaddr",
}

// heldColumns are the columns that have to travel into memory: the coded ones and, of
// records that are not wide, those that are published as they are. list selects them, and
// wide tells, as an expression, of which records the latter are left out.
func (t *table) heldColumns() (columns []int, list, wide string) {
	columns = t.codedColumns()
	if t.copies == nil {
		return columns, t.listOf(columns), "true"
	}
	var widths []string
	for _, column := range t.copies.columns {
		if !slices.Contains(fixedTypes, t.columns[column].BaseType) {
			widths = append(widths, "coalesce(pg_column_size("+t.listOf([]int{column})+"), 0)")
		}
	}
	wide = "false"
	if len(widths) > 0 {
		wide = fmt.Sprintf("%s > %d", strings.Join(widths, " + "), packedWidth)
	}
	names := []string{t.listOf(columns)}
	for _, column := range t.copies.columns {
		if slices.Contains(columns, column) {
			continue
		}
		columns = append(columns, column)
		name := t.listOf([]int{column})
		if len(widths) > 0 {
			name = fmt.Sprintf("CASE WHEN NOT (%s) THEN %s END", wide, name)
		}
		names = append(names, name)
	}
	return columns, strings.Join(names, ", "), wide
}
