package sync

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	gosync "sync"
	"sync/atomic"

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

// loadStored takes the records, with what is published of them as it is: one goroutine
// cuts rows, one hands records to the partition, and one takes what is held beside it.
func (s *immediate) loadStored(ctx context.Context, conn *pgconn.PgConn, progress func(done int)) error {
	t := s.t
	columns, list, wide := t.heldColumns()
	taking, cancel := context.WithCancel(ctx) // apart, as what ends copyOut's context ends the connection
	defer cancel()
	width, spare := 2+len(columns), make(chan *rowBatch, 2*spoolAhead)
	spools := []*spool{newSpool(width, s.recordTaker(columns, progress), spare), newSpool(width, s.besideTaker(columns), spare)}
	var running gosync.WaitGroup
	for _, to := range spools {
		running.Go(func() {
			if to.failure = guard(t.logger, to.run); to.failure != nil {
				cancel() // the rest is in vain
			}
		})
	}
	batch := &rowBatch{}
	handOver := func() error {
		batch.takers.Store(int32(len(spools)))
		for _, to := range spools {
			select {
			case to.batches <- batch:
			case <-taking.Done():
				return taking.Err()
			}
		}
		select {
		case batch = <-spare:
			batch.values = batch.values[:0]
		default:
			batch = &rowBatch{}
		}
		return nil
	}
	err := copyOut(ctx, conn, width, func(values []value) error {
		if batch.values = append(batch.values, values...); len(batch.values) < spoolRows*width {
			return nil
		}
		return handOver()
	}, fmt.Sprintf("SELECT %s, %s, %s FROM %s", recordColumn, wide, list, t.recordsTable()))
	if err == nil {
		err = handOver()
	}
	for _, to := range spools {
		close(to.batches)
	}
	running.Wait()
	return firstCause([]error{spools[0].failure, spools[1].failure, err})
}

// recordTaker hands rows to the partition, which gives them slots in their order.
func (s *immediate) recordTaker(columns []int, progress func(done int)) func([]value) error {
	t, part := s.t, s.t.parts[0]
	row, one, taken := make([]value, len(t.columns)), make([]incremental.Record, 1), t.newCoded()
	read := 0
	return func(values []value) error {
		record, err := storedID(values[0])
		if err != nil {
			return err
		}
		spread(row, columns, values[2:])
		t.encodeInto(&taken, row, nil)
		one[0] = part.record(incremental.RecordID(record), taken)
		if err := part.partition.Load(0, one); err != nil {
			return internal(err)
		}
		if read++; read%progressRows == 0 {
			progress(read)
		}
		return nil
	}
}

// besideTaker takes the keys of rows, and what is copied of them into the slots that their
// records get.
func (s *immediate) besideTaker(columns []int) func([]value) error {
	t := s.t
	row, slot := make([]value, len(t.columns)), int32(-1)
	return func(values []value) error {
		record, err := storedID(values[0])
		if err != nil {
			return err
		}
		slot++
		spread(row, columns, values[2:])
		t.keys.add(t.keyOf(row), incremental.RecordID(record))
		if values[1].text != "t" {
			t.copies.note(slot, row)
		}
		return nil
	}
}

// rowBatch are rows behind each other, which are used again when all have taken them.
type rowBatch struct {
	values []value
	takers atomic.Int32 // who have not
}

// spool takes rows on a goroutine of its own.
type spool struct {
	width   int // columns of a row
	take    func(row []value) error
	batches chan *rowBatch
	spare   chan<- *rowBatch
	failure error
}

const (
	spoolRows  = 256 // of a batch
	spoolAhead = 16  // batches that may wait
)

func newSpool(width int, take func(row []value) error, spare chan<- *rowBatch) *spool {
	return &spool{width: width, take: take, batches: make(chan *rowBatch, spoolAhead), spare: spare}
}

func (s *spool) run() error {
	for batch := range s.batches {
		for row := range slices.Chunk(batch.values, s.width) {
			if err := s.take(row); err != nil {
				return err
			}
		}
		if batch.takers.Add(-1) == 0 {
			select {
			case s.spare <- batch:
			default:
			}
		}
	}
	return nil
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
