package sync

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// codedColumns are the indexes of the columns that the partition or the key
// map needs, each once: what has to travel from the server into memory.
func (t *table) codedColumns() []int {
	wanted := make([]bool, len(t.columns))
	for _, list := range [][]int{t.key, t.qi, t.sensitive} {
		for _, i := range list {
			wanted[i] = true
		}
	}
	var columns []int
	for i, w := range wanted {
		if w {
			columns = append(columns, i)
		}
	}
	return columns
}

// codedList are the coded columns as text, for a COPY.
func (t *table) codedList() string {
	coded := t.codedColumns()
	names := make([]string, len(coded))
	for i, c := range coded {
		names[i] = catalog.QuoteIdentifier(t.columns[c].Name)
	}
	return strings.Join(names, ", ")
}

// spread puts the values of the coded columns at their places in a row.
func (t *table) spread(coded []int, values []value) []value {
	row := make([]value, len(t.columns))
	for i, c := range coded {
		row[c] = values[i]
	}
	return row
}

// load fills the partition from the store as it stands.
func (t *table) load(ctx context.Context, conn *pgconn.PgConn, progress func(done int)) error {
	coded := t.codedColumns()
	var class incremental.ClassID
	var members []incremental.Record
	read := 0
	finish := func() error {
		if len(members) == 0 {
			return nil
		}
		if err := t.partition.Load(class, members); err != nil {
			return internal(fmt.Errorf("loading class %d of %s: %w", class, t.name(), err))
		}
		members = nil
		return nil
	}
	reader := &copyReader{columns: 2 + len(coded), row: func(values []value) error {
		record, next, err := parseStoreRow(values)
		if err != nil {
			return fmt.Errorf("loading %s: %w", t.name(), err)
		}
		if next != class {
			if err := finish(); err != nil {
				return err
			}
			class = next
		}
		row := t.spread(coded, values[2:])
		t.records[t.keyOf(row)] = record
		members = append(members, t.record(record, row, nil))
		if read++; read%10000 == 0 {
			progress(read)
		}
		return nil
	}}
	sql := fmt.Sprintf("COPY (SELECT %s, coalesce(%s, 0), %s FROM %s ORDER BY 2, 1) TO STDOUT",
		recordColumn, classColumn, t.codedList(), t.recordsTable())
	if _, err := conn.CopyTo(ctx, reader, sql); err != nil {
		return fmt.Errorf("loading the store of %s: %w", t.name(), withoutValues(err))
	}
	if err := reader.Close(); err != nil {
		return fmt.Errorf("loading %s: %w", t.name(), err)
	}
	return finish()
}

func parseStoreRow(values []value) (incremental.RecordID, incremental.ClassID, error) {
	record, err := strconv.ParseInt(values[0].text, 10, 64)
	if err != nil {
		return 0, 0, errCopyText
	}
	class, err := strconv.ParseInt(values[1].text, 10, 64)
	if err != nil {
		return 0, 0, errCopyText
	}
	return incremental.RecordID(record), incremental.ClassID(class), nil
}
