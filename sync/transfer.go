package sync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// Where the source is in a database of its own, its rows pass through kproxy on their way into the
// store, range by range, in the text form in which COPY takes them: nothing of them is decoded.

// sendRange copies the rows of one range into the records, with their numbers and places. They come
// in the order in which they were read before.
func (p *publisher) sendRange(ctx context.Context, source, store pgx.Tx, from sourceRange) error {
	places := p.table.keptPlaces()
	ids := make([]incremental.RecordID, from.rows)
	for i := range ids {
		ids[i] = incremental.RecordID(from.first + i)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	piped, into := io.Pipe()
	read := make(chan error, 1)
	rows := &numberedRows{into: into, next: int64(from.first)}
	if p.table.layout.isSealed() {
		rows.sealer, rows.values = &rowSealer{box: p.table.sealing.box}, make([]value, len(p.table.layout.columns))
	}
	if len(places) > 0 {
		rows.places = p.table.mode.place(ids)
	}
	go func() {
		err := guard(p.config.Logger, func() error {
			selection := fmt.Sprintf("COPY (SELECT %s FROM %s WHERE %s %s) TO STDOUT", p.table.layout.columns.list(""), p.table.layout.source().sql(), from.condition(), rowOrder)
			if _, err := source.Conn().PgConn().CopyTo(ctx, rows, selection); err != nil {
				return err
			}
			return rows.flush()
		})
		if read <- err; err != nil {
			err = errUnread // the store's server is told no more
		}
		into.CloseWithError(err) // nil is the end of the rows
	}()
	tag, err := store.Conn().PgConn().CopyFrom(ctx, piped, "COPY "+p.table.into(places)+" FROM STDIN")
	if err != nil {
		piped.CloseWithError(errInVain)
		cancel()
	}
	// The goroutine ends before the source's connection is used for anything else.
	if failure := <-read; failure != nil && !errors.Is(failure, errInVain) && !errors.Is(failure, context.Canceled) {
		return fmt.Errorf("reading the source: %w", failure)
	}
	if err != nil {
		return err
	}
	if tag.RowsAffected() != int64(from.rows) {
		return fmt.Errorf("%w: %d rows were read, and %d afterwards", errRewritten, from.rows, tag.RowsAffected())
	}
	return nil
}

var (
	// errUnread ends the rows where the source's could not be read.
	errUnread = errors.New("the rows of the source could not be read")
	// errInVain ends the reading of rows that the store does not take.
	errInVain = errors.New("the store does not take the rows")
)

// numberedRows puts the number of each row's record before it, and the record's places behind. The
// server sends each row by itself (PostgreSQL, COPY Operations).
type numberedRows struct {
	into   io.Writer
	next   int64      // the next row's number
	done   int        // rows
	places []any      // a slice of values for each column of places
	sealer *rowSealer // nil where rows are stored as they are
	values []value    // of a row that is to be sealed
	piece  []byte
}

// Write takes one row, with its end.
func (r *numberedRows) Write(row []byte) (int, error) {
	r.piece = append(strconv.AppendInt(r.piece, r.next, 10), '\t')
	if err := r.appendRow(row[:len(row)-1]); err != nil {
		return 0, err
	}
	for _, column := range r.places {
		r.piece = append(r.piece, '\t')
		var err error
		if r.piece, err = appendPlace(r.piece, column, r.done); err != nil {
			return 0, err
		}
	}
	r.piece = append(r.piece, '\n')
	r.next++
	r.done++
	if len(r.piece) < pieceBytes {
		return len(row), nil
	}
	return len(row), r.flush()
}

// appendRow appends the row, sealed where it is to be.
func (r *numberedRows) appendRow(row []byte) (err error) {
	if r.sealer == nil {
		r.piece = append(r.piece, row...)
		return nil
	}
	fields := strings.Split(string(row), "\t")
	if len(fields) != len(r.values) {
		return errCopyText
	}
	for i, field := range fields {
		if r.values[i], err = copyField(field); err != nil {
			return err
		}
	}
	r.piece = r.sealer.appendField(r.piece, r.next, r.values)
	return nil
}

func (r *numberedRows) flush() error {
	_, err := r.into.Write(r.piece)
	r.piece = r.piece[:0]
	return err
}

// appendPlace appends the value that a column of places has for a row.
func appendPlace(text []byte, column any, row int) ([]byte, error) {
	switch values := column.(type) {
	case []*int64:
		if row < len(values) {
			return appendCopyValue(text, values[row])
		}
	case []*string:
		if row < len(values) {
			return appendCopyValue(text, values[row])
		}
	case []bool:
		if row < len(values) {
			return appendCopyValue(text, values[row])
		}
	case []*time.Time:
		if row < len(values) {
			return appendCopyValue(text, values[row])
		}
	default:
		return nil, internal(fmt.Errorf("places of type %T cannot be copied", column))
	}
	return append(text, copyNull...), nil // one row too many, which is counted
}

// emptyRecords are statements that create the table of records where the server of the store does not know the source,
// by the names of the columns' types and collations.
func (p *publisher) emptyRecords(ctx context.Context, places string) ([]string, error) {
	columns, err := p.table.layout.source().typed(ctx, p.readers[0])
	if err != nil {
		return nil, err
	}
	if p.table.layout.isSealed() {
		return p.table.createSealed(columns), nil
	}
	return []string{fmt.Sprintf("CREATE TABLE %s WITH (fillfactor = %d) AS SELECT 0::bigint AS %s, %s%s WITH NO DATA", p.table.recordsTable(), recordsFill, recordColumn, columns, places)}, nil
}

// typed are the stored columns as typed NULLs, with the collations that are not those of their types.
func (s sourceTable) typed(ctx context.Context, on querier) (string, error) {
	names := make([]string, len(s.layout.columns))
	for i, c := range s.layout.columns {
		names[i] = c.Name
	}
	var collations []string
	err := on.QueryRow(ctx, `SELECT array_agg(coalesce((SELECT pg_catalog.format(' COLLATE %I.%I', n.nspname, c.collname)
			FROM pg_catalog.pg_collation c JOIN pg_catalog.pg_namespace n ON n.oid = c.collnamespace
			WHERE c.oid = a.attcollation AND a.attcollation <> t.typcollation), '') ORDER BY w.place)
		FROM unnest($2::text[]) WITH ORDINALITY AS w(name, place)
		JOIN pg_catalog.pg_attribute a ON a.attrelid = $1 AND a.attname = w.name AND NOT a.attisdropped
		JOIN pg_catalog.pg_type t ON t.oid = a.atttypid`, uint32(s.layout.publication.Relation.OID), names).Scan(&collations)
	if err != nil {
		return "", fmt.Errorf("reading the collations of %s: %w", s.layout.name(), err)
	}
	if len(collations) != len(names) {
		return "", errRewritten
	}
	return sqlList(s.layout.columns, func(i int, c catalog.Column) string {
		return fmt.Sprintf("(NULL::%s)%s AS %s", c.Type, collations[i], catalog.QuoteIdentifier(c.Name))
	}), nil
}
