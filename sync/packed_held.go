package sync

import (
	"fmt"
	"slices"
	"strings"
)

// selection is what is read of each record: its number, what else kproxy has noted of it or
// wants to know, and columns.
type selection struct {
	own     []string // of all records, as expressions
	wide    bool     // own says which are wide
	columns []int
	list    string // selects these
	table   string
	sealed  bool // list is the sealed row, which has the columns
}

// selectHeld selects what has to travel into memory. Where no value of the table lies
// elsewhere, records are short as a rule, and it takes less to read all of one than to ask
// for its width. Texts that are compressed to fit into their page travel in vain then.
func (t *table) selectHeld(outOfLine bool) selection {
	columns, list, wide := t.heldColumns()
	if t.layout.isSealed() {
		return selection{own: []string{recordColumn}, columns: columns, list: sealedField, table: t.recordsTable(), sealed: true}
	}
	if !outOfLine || t.copies == nil {
		return selection{own: []string{recordColumn}, columns: columns, list: t.layout.columns.listOf(columns), table: t.recordsTable()}
	}
	return selection{own: []string{recordColumn, wide}, wide: true, columns: columns, list: list, table: t.recordsTable()}
}

// query selects the records of a range.
func (s selection) query(within sourceRange) string {
	query := fmt.Sprintf("SELECT %s, %s FROM %s", strings.Join(s.own, ", "), s.list, s.table)
	if within.from > 0 || within.to > 0 {
		query += " WHERE " + within.condition()
	}
	return query
}

func (s selection) width() int { return len(s.own) + len(s.columns) }

// places are the fields of some of the table's columns.
func (s selection) places(columns []int) []int {
	places := make([]int, len(columns))
	for i, column := range columns {
		places[i] = len(s.own) + slices.Index(s.columns, column)
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
	columns = t.layout.codedColumns()
	if t.copies == nil {
		return columns, t.layout.columns.listOf(columns), "true"
	}
	var widths []string
	for _, column := range t.copies.columns {
		if !slices.Contains(fixedTypes, t.layout.columns[column].BaseType) {
			widths = append(widths, "coalesce(pg_column_size("+t.layout.columns.listOf([]int{column})+"), 0)")
		}
	}
	wide = "false"
	if len(widths) > 0 {
		wide = fmt.Sprintf("%s > %d", strings.Join(widths, " + "), packedWidth)
	}
	names := []string{t.layout.columns.listOf(columns)}
	for _, column := range t.copies.columns {
		if slices.Contains(columns, column) {
			continue
		}
		columns = append(columns, column)
		name := t.layout.columns.listOf([]int{column})
		if len(widths) > 0 {
			name = fmt.Sprintf("CASE WHEN NOT (%s) THEN %s END", wide, name)
		}
		names = append(names, name)
	}
	return columns, strings.Join(names, ", "), wide
}
