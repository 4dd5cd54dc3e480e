package sync

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// loadPacked fills the partition of a packed table. The records come in the order in which
// they lie, without a class, and then each class with the numbers of its records: the
// server has nothing to sort or to join, so that a start takes less than one reading of
// the records with their classes does.
func (s *immediate) loadPacked(ctx context.Context, conn *pgconn.PgConn, progress func(done int)) error {
	if err := s.loadStored(ctx, conn, progress); err != nil {
		return err
	}
	return s.loadSeats(ctx, conn)
}

// loadStored takes the records, with what is published of them as it is.
func (s *immediate) loadStored(ctx context.Context, conn *pgconn.PgConn, progress func(done int)) error {
	t, part := s.t, s.t.parts[0]
	columns, list, wide := t.heldColumns()
	row, one, taken := make([]value, len(t.columns)), make([]incremental.Record, 1), t.newCoded()
	read := 0
	return copyOut(ctx, conn, 2+len(columns), func(values []value) error {
		record, err := storedID(values[0])
		if err != nil {
			return err
		}
		spread(row, columns, values[2:])
		id := incremental.RecordID(record)
		t.keys.add(t.keyOf(row), id)
		t.encodeInto(&taken, row, nil)
		one[0] = part.record(id, taken)
		if err := part.partition.Load(0, one); err != nil {
			return internal(err)
		}
		if values[1].text != "t" {
			t.copies.note(t.slotOf(id), row)
		}
		if read++; read%progressRows == 0 {
			progress(read)
		}
		return nil
	}, fmt.Sprintf("SELECT %s, %s, %s FROM %s", recordColumn, wide, list, t.recordsTable()))
}

// loadSeats takes the classes.
func (s *immediate) loadSeats(ctx context.Context, conn *pgconn.PgConn) error {
	t, part := s.t, s.t.parts[0]
	var ids []incremental.RecordID
	seating := part.partition.BeginSeating()
	err := copyOut(ctx, conn, 2, func(values []value) error {
		class, err := storedID(values[0])
		if err != nil {
			return err
		}
		if ids, err = appendStoredIDs(ids[:0], values[1].text); err != nil {
			return err
		}
		slices.Sort(ids)
		if err := seating.Seat(incremental.ClassID(class), ids); err != nil {
			return internal(err)
		}
		return nil
	}, fmt.Sprintf("SELECT p.%s, ARRAY(SELECT m.%s FROM unnest(p.%s) AS m) FROM %s AS p", part.column, recordColumn, catalog.MembersColumn, t.packedTable()))
	seating.End()
	return err
}

// appendStoredIDs reads an array of numbers, "{1,2,3}".
func appendStoredIDs(ids []incremental.RecordID, text string) ([]incremental.RecordID, error) {
	inner, opened := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return nil, errCopyText
	}
	for more := inner != ""; more; {
		var number string
		number, inner, more = strings.Cut(inner, ",")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, errCopyText
		}
		ids = append(ids, incremental.RecordID(id))
	}
	return ids, nil
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
