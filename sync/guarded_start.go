package sync

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// publish begins a lineage with all records of the snapshot as its first batch. It has
// them already.
func (s *guarded) publish(ctx context.Context, p *publisher, _ *snapshot) error {
	s.progress = func(done int) { p.progress("anonymizing", done) }
	defer func() { s.progress = func(int) {} }()
	var err error
	if s.changes, err = s.lineage.Begin(ctx, p.at); err != nil {
		return fmt.Errorf("publishing %s: %w", s.t.name(), err)
	}
	// What the classes were made with is as large as the records, which wait for the server
	// from now on: without this, as much would be thrown away beside it before it is noticed.
	if s.lineage.Len() >= manyRecords {
		debug.FreeOSMemory()
	}
	return nil
}

// manyRecords are so many that giving memory back is worth a collection of all there is.
const manyRecords = 100_000

// assignments yields the records that are published; others wait.
func (s *guarded) assignments() func() ([]any, error) {
	ids, rows := slices.Collect(s.lineage.Classes()), []lineage.NewRow(nil)
	return func() ([]any, error) {
		for len(rows) == 0 {
			if len(ids) == 0 {
				return nil, nil
			}
			rows, ids = s.lineage.RowsOf(ids[0]), ids[1:]
		}
		r := rows[0]
		rows = rows[1:]
		return []any{int64(r.Record), int64(r.Person), r.Sealed, float32(1)}, nil
	}
}

func (s *guarded) classes(of *part) func() ([]any, error) {
	ids := slices.Collect(s.lineage.Classes())
	return func() ([]any, error) {
		if len(ids) == 0 {
			return nil, nil
		}
		id := ids[0]
		ids = ids[1:]
		return s.t.classRow(of, id, s.lineage.Generalize(id)), nil
	}
}

// load takes over the published rows, with what they show of the sensitive attributes,
// and then the records.
func (s *guarded) load(ctx context.Context, conn *pgconn.PgConn, progress func(done int)) error {
	loading, err := s.lineage.BeginLoading()
	if err != nil {
		return internal(err)
	}
	weights, err := s.loadRows(ctx, conn, loading)
	if err != nil {
		return err
	}
	if err := s.loadRecords(ctx, conn, loading, progress); err != nil {
		return err
	}
	if err := loading.End(weights); err != nil {
		return internal(err)
	}
	return nil
}

// loadRows returns the weights of classes that have one.
func (s *guarded) loadRows(ctx context.Context, conn *pgconn.PgConn, loading *lineage.Loading) (map[incremental.ClassID]float64, error) {
	t := s.t
	columns := columnNames(s.marks())
	for _, i := range t.sensitive {
		columns = append(columns, catalog.QuoteIdentifier(t.columns[i].Name))
	}
	marks := len(s.marks())
	weights, sensitive := make(map[incremental.ClassID]float64), make([]uint32, len(t.sensitive))
	err := copyOut(ctx, conn, len(columns), func(values []value) error {
		var ids [3]int64
		for i := range ids {
			var err error
			if ids[i], err = storedID(values[i]); err != nil {
				return err
			}
		}
		weight, err := strconv.ParseFloat(values[4].text, 64)
		if err != nil {
			return errCopyText
		}
		r := lineage.StoredRow{Class: incremental.ClassID(ids[0]), ID: lineage.RowID(ids[1]), Person: uint32(ids[2]), Sealed: values[3].text == "t", Sensitive: sensitive}
		for a := range t.sensitive {
			sensitive[a] = t.code(a, values[marks+a])
		}
		if weight != 1 {
			weights[r.Class] = weight
		}
		if err := loading.Row(r); err != nil {
			return internal(err)
		}
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), t.releaseTable()))
	return weights, err
}

func (s *guarded) loadRecords(ctx context.Context, conn *pgconn.PgConn, loading *lineage.Loading, progress func(done int)) error {
	t := s.t
	indexes := t.codedColumns()
	row, read := make([]value, len(t.columns)), 0
	const own = 6
	return copyOut(ctx, conn, own+len(indexes), func(values []value) error {
		var ids [4]int64
		for i := range ids {
			var err error
			if ids[i], err = storedID(values[i]); err != nil {
				return err
			}
		}
		spread(row, indexes, values[own:])
		id := incremental.RecordID(ids[0])
		t.keys.add(t.keyOf(row), id)
		place := lineage.Place{
			Class: incremental.ClassID(ids[1]), Row: lineage.RowID(ids[2]), Changed: values[4].text, Withheld: values[5].text == "t",
		}
		if !values[3].null {
			place.Since = time.UnixMicro(ids[3])
		}
		if err := loading.Record(lineage.StoredRecord{Record: s.record(id, *s.code(row)), Place: place}); err != nil {
			return internal(err)
		}
		if read++; read%progressRows == 0 {
			progress(read)
		}
		return nil
	}, fmt.Sprintf("SELECT %s, %s, %s, (extract(epoch FROM %s) * 1000000)::bigint, %s, %s, %s FROM %s",
		recordColumn, s.part.column, catalog.RowColumn, catalog.SinceColumn, catalog.ChangedColumn, catalog.ExpiredColumn, t.codedList(), t.recordsTable()))
}

// storedChange is what changed of a record that is published as it was.
func storedChange(p lineage.Place) *string {
	if p.Row == 0 || p.Since.IsZero() {
		return nil
	}
	return &p.Changed
}

// storedTime is a time in the store: NULL is none.
func storedTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
