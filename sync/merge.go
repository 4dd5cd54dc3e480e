package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	gosync "sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// Source and store that are in two databases are compared by a merge: each server sends its rows
// ordered by their keys, and kproxy holds a few hundred of each.

// mergedRows is how many rows are handed over at a time.
const mergedRows = 256

// mergeOrder selects the rows of a relation ordered by their keys: a key that the order of bytes
// orders, the number among rows with the same key, and columns. The texts of keys are compared in
// one encoding, as the databases may have two. Where equal rows are possible, digests are shorter
// than all of their texts.
func (s sourceTable) mergeOrder(columns, from string) string {
	key := "pg_catalog.convert_to(ROW(" + s.layout.columns.listOf(s.layout.key) + ")::text, 'UTF8')"
	number := "1"
	if s.layout.publication.Relation.KeyRepeats {
		key = "pg_catalog.sha256(" + key + ")"
		number = "row_number() OVER (PARTITION BY " + key + ")"
	}
	return fmt.Sprintf("SELECT %s AS kproxy_key, %s AS kproxy_number, %s FROM %s ORDER BY 1, 2", key, number, columns, from)
}

// sortedRows are the rows of a query, read by a goroutine.
type sortedRows struct {
	batches <-chan [][]value
	batch   [][]value
	failure error // once batches is closed
}

// readSorted begins to read rows. The goroutine ends with ctx, or with the rows.
func readSorted(ctx context.Context, running *gosync.WaitGroup, conn *pgconn.PgConn, columns int, query string) *sortedRows {
	batches := make(chan [][]value, 2)
	r := &sortedRows{batches: batches}
	running.Go(func() {
		defer close(batches)
		batch := make([][]value, 0, mergedRows)
		hand := func() error {
			select {
			case batches <- batch:
				batch = make([][]value, 0, mergedRows)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r.failure = copyOut(ctx, conn, columns, func(row []value) error {
			if batch = append(batch, slices.Clone(row)); len(batch) < mergedRows {
				return nil
			}
			return hand()
		}, query)
		if r.failure == nil {
			r.failure = hand()
		}
	})
	return r
}

// next returns the next row, nil at the end.
func (r *sortedRows) next() ([]value, error) {
	for len(r.batch) == 0 {
		batch, more := <-r.batches
		if !more {
			return nil, r.failure
		}
		r.batch = batch
	}
	row := r.batch[0]
	r.batch = r.batch[1:]
	return row, nil
}

// mergeDifference hands over what difference selects, of a source and a store in two databases.
func (t *table) mergeDifference(ctx context.Context, s *store, row func([]value) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running gosync.WaitGroup
	defer running.Wait()
	defer cancel()
	const before = 2 // the key and the number
	columns, width := t.layout.columns.list(""), len(t.layout.columns)
	source := readSorted(ctx, &running, s.source.PgConn(), before+width, t.layout.source().mergeOrder(columns, t.layout.source().sql()))
	stored := readSorted(ctx, &running, s.conn.PgConn(), before+width+1, t.layout.source().mergeOrder(columns+", "+recordColumn, t.recordsTable()))
	there, err := source.next()
	if err != nil {
		return err
	}
	record, err := stored.next()
	for err == nil && (there != nil || record != nil) {
		order := compareKeys(there, record)
		switch {
		case order < 0:
			err = row(slices.Concat([]value{{null: true}, {text: "t"}}, there[before:]))
		case order > 0:
			err = row(slices.Concat([]value{record[before+width], {null: true}}, record[before:before+width]))
		case !slices.Equal(there[before:], record[before:before+width]):
			err = row(slices.Concat([]value{record[before+width], {text: "t"}}, there[before:]))
		}
		if err == nil && order <= 0 {
			there, err = source.next()
		}
		if err == nil && order >= 0 {
			record, err = stored.next()
		}
	}
	return err
}

// compareKeys compares the keys of two rows, and their numbers; a row that is not there comes last.
func compareKeys(source, stored []value) int {
	switch {
	case source == nil:
		return 1
	case stored == nil:
		return -1
	}
	if order := strings.Compare(source[0].text, stored[0].text); order != 0 {
		return order
	}
	// Numbers of different length are compared by it: they have no leading zeros.
	if order := len(source[1].text) - len(stored[1].text); order != 0 {
		return order
	}
	return strings.Compare(source[1].text, stored[1].text)
}
