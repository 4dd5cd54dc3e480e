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
	for _, list := range [][]int{t.key, t.qi, t.sensitive, t.subjectColumn()} {
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

// subjectColumn is the index of the column that names the person, if there is one.
func (t *table) subjectColumn() []int {
	if t.subject < 0 {
		return nil
	}
	return []int{t.subject}
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

// load fills the partitions from the store as it stands, one pass for each part.
func (t *table) load(ctx context.Context, conn *pgconn.PgConn, progress func(done int)) error {
	for i, p := range t.parts {
		if err := t.loadPart(ctx, conn, p, func(done int) { progress(i*t.countRecords() + done) }); err != nil {
			return fmt.Errorf("loading the store of %s: %w", t.name(), withoutValues(err))
		}
	}
	return nil
}

func (t *table) loadPart(ctx context.Context, conn *pgconn.PgConn, p *part, progress func(done int)) error {
	indexes := t.codedColumns()
	var class incremental.ClassID
	var members []incremental.Record
	read := 0
	finish := func() error {
		if len(members) == 0 {
			return nil
		}
		if err := p.partition.Load(class, members); err != nil {
			return internal(err)
		}
		members = nil
		return nil
	}
	reader := &copyReader{columns: 2 + len(indexes), row: func(values []value) error {
		record, next, err := parseStoreRow(values)
		if err != nil {
			return err
		}
		if next != class {
			if err := finish(); err != nil {
				return err
			}
			class = next
		}
		row := t.spread(indexes, values[2:])
		t.records[t.keyOf(row)] = record
		members = append(members, p.record(record, t.encode(row, nil)))
		if read++; read%10000 == 0 {
			progress(read)
		}
		return nil
	}}
	sql := fmt.Sprintf("COPY (SELECT %s, coalesce(%s, 0), %s FROM %s ORDER BY 2, 1) TO STDOUT",
		recordColumn, p.column, t.codedList(), t.recordsTable())
	if _, err := conn.CopyTo(ctx, reader, sql); err != nil {
		return err
	}
	if err := reader.Close(); err != nil {
		return err
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
