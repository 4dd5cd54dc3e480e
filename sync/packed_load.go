package sync

import (
	"context"
	"fmt"
	"slices"
	gosync "sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// loadPacked fills the partition of a packed table. The records come in the order in which
// they lie, without a class, and each class with the numbers of its records, so that the
// server has nothing to sort or to join; where there are several connections, at the same
// time. What leads to records, keys and members is made when all are there.
func (s *immediate) loadPacked(ctx context.Context, from *storeView, progress func(done int)) error {
	loading, err := s.t.parts[0].partition.BeginLoading(from.records)
	if err != nil {
		return internal(err)
	}
	l := &packedLoading{
		s: s, from: from, loading: loading, keys: s.t.keys.gather(from.records), progress: progress,
	}
	if err := l.read(ctx); err != nil {
		return err
	}
	if err := l.end(); err != nil {
		return err
	}
	s.hidden = s.t.parts[0].partition.Classes() == 0
	return nil
}

// packedLoading is the loading of a packed table.
type packedLoading struct {
	s        *immediate
	from     *storeView
	loading  *incremental.Loading
	keys     *keyGathering
	progress func(done int)
}

// read takes records and classes. The error of a further connection ends the others; the
// first one is read to its end.
func (l *packedLoading) read(ctx context.Context) error {
	l.from.failpoint(FailStoreSeen)
	if len(l.from.further) == 0 {
		if err := l.readRecords(ctx, []*pgconn.PgConn{l.from.first}); err != nil {
			return err
		}
		return l.readClasses(ctx)
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var further []*pgconn.PgConn
	for _, conn := range l.from.further {
		further = append(further, conn.PgConn())
	}
	var failures [2]error
	var running gosync.WaitGroup
	running.Go(func() { failures[0] = l.readRecords(reading, further) })
	if failures[1] = l.readClasses(ctx); failures[1] != nil {
		cancel()
	}
	running.Wait()
	return firstCause(failures[:])
}

// end has records, keys and classes found.
func (l *packedLoading) end() error {
	var unique bool
	var failure error
	var running gosync.WaitGroup
	running.Go(func() {
		failure = guard(l.s.t.logger, func() error {
			unique = l.keys.end()
			return nil
		})
	})
	err := l.loading.End()
	running.Wait()
	switch {
	case err != nil:
		return internal(err)
	case failure != nil:
		return failure
	case !unique:
		return l.s.t.errOutOfStep("two records have the same key")
	}
	return nil
}

// readRecords takes the records, with what is published of them as it is: each connection
// has a goroutine that cuts rows of every so-and-so-manieth range; one hands records to the
// partition, and one takes what is held beside it, both in the order of the ranges.
func (l *packedLoading) readRecords(ctx context.Context, conns []*pgconn.PgConn) error {
	selected := l.s.t.selectHeld(l.from.outOfLine)
	taking, cancel := context.WithCancel(ctx) // apart, as what ends a COPY's context ends the connection
	defer cancel()
	spare := make(chan *rowBatch, 2*spoolAhead*len(conns))
	spools := []*spool{newSpool(l.recordTaker(selected), len(conns), spare), newSpool(l.besideTaker(selected), len(conns), spare)}
	failures := make([]error, len(conns)+len(spools))
	var running gosync.WaitGroup
	start := func(at int, do func() error) {
		running.Go(func() {
			if failures[at] = guard(l.s.t.logger, do); failures[at] != nil {
				cancel() // the others are in vain
			}
		})
	}
	for i, to := range spools {
		start(len(conns)+i, func() error { return to.run(len(l.from.ranges)) })
	}
	for i, conn := range conns {
		reader := &recordReader{conn: conn, spools: spools, number: i, spare: spare}
		start(i, func() error { return reader.run(ctx, taking, selected, l.from.ranges, len(conns)) })
	}
	running.Wait()
	return firstCause(failures)
}

// recordReader is a connection that reads ranges of the records.
type recordReader struct {
	conn   *pgconn.PgConn
	number int // of the readers
	spools []*spool
	spare  chan *rowBatch
}

func (r *recordReader) run(ctx, taking context.Context, selected selection, ranges []sourceRange, readers int) error {
	defer func() {
		for _, to := range r.spools {
			close(to.batches[r.number])
		}
	}()
	for at := r.number; at < len(ranges); at += readers {
		w := &batchWriter{columns: selected.width(), fresh: r.fresh, give: func(b *rowBatch) error { return r.give(taking, b) }}
		into := &patient{reader: w}
		if _, err := r.conn.CopyTo(ctx, into, "COPY ("+selected.query(ranges[at])+") TO STDOUT"); err != nil {
			return err
		}
		if into.failure != nil {
			return into.failure
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (r *recordReader) fresh() *rowBatch {
	select {
	case batch := <-r.spare:
		return batch
	default:
		return &rowBatch{}
	}
}

func (r *recordReader) give(ctx context.Context, batch *rowBatch) error {
	batch.takers.Store(int32(len(r.spools)))
	for _, to := range r.spools {
		select {
		case to.batches[r.number] <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// recordTaker hands rows to the partition, which gives them slots in their order.
func (l *packedLoading) recordTaker(selected selection) func(*rowBatch) error {
	t := l.s.t
	part, row, taken, read, ranges := t.parts[0], make([]value, len(t.columns)), t.newCoded(), 0, 0
	columns := slices.Concat(t.qi, t.sensitive, t.subjectColumn())
	places := selected.places(columns)
	return func(b *rowBatch) error {
		for i := range b.rows {
			record, err := b.number(i, 0)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, columns, places); err != nil {
				return err
			}
			t.encodeInto(&taken, row, nil)
			if err := l.loading.Record(part.record(incremental.RecordID(record), taken)); err != nil {
				return internal(err)
			}
			if read++; read%progressRows == 0 {
				l.progress(read)
			}
		}
		if b.last {
			if ranges == len(l.from.ranges)/2 {
				l.from.failpoint(FailLoading)
			}
			ranges++
		}
		return nil
	}
}

// besideTaker takes the keys of rows, and what is copied of them into the slots that their
// records get.
func (l *packedLoading) besideTaker(selected selection) func(*rowBatch) error {
	t := l.s.t
	row, slot := make([]value, len(t.columns)), int32(-1)
	columns := t.key
	if t.copies != nil {
		columns = slices.Concat(columns, t.copies.columns)
	}
	places := selected.places(columns)
	return func(b *rowBatch) error {
		for i := range b.rows {
			record, err := b.number(i, 0)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, columns, places); err != nil {
				return err
			}
			slot++
			l.keys.add(t.keyOf(row), incremental.RecordID(record))
			wide := value{}
			if selected.wide {
				if wide, err = b.field(i, 1); err != nil {
					return err
				}
			}
			if wide.text != "t" {
				t.copies.note(slot, row)
			}
		}
		return nil
	}
}

// readClasses takes the classes.
func (l *packedLoading) readClasses(ctx context.Context) error {
	t := l.s.t
	var ids []incremental.RecordID
	return copyOut(ctx, l.from.first, 2, func(values []value) error {
		class, err := storedID(values[0])
		if err != nil {
			return err
		}
		if ids, err = appendStoredIDs(ids[:0], values[1].text); err != nil {
			return err
		}
		slices.Sort(ids)
		if err := l.loading.Seat(incremental.ClassID(class), ids); err != nil {
			return internal(err)
		}
		return nil
	}, t.classesQuery())
}

// classesQuery selects packed rows' classes with the numbers of their records.
func (t *table) classesQuery() string {
	return fmt.Sprintf("SELECT p.%s, ARRAY(SELECT (unnest(p.%s)).%s) FROM %s AS p", t.parts[0].column, catalog.MembersColumn, recordColumn, t.packedTable())
}

// appendStoredIDs reads an array of numbers, "{1,2,3}".
func appendStoredIDs(ids []incremental.RecordID, text string) ([]incremental.RecordID, error) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, errCopyText
	}
	for more := len(text) > 2; more; {
		end := 1
		id := int64(0)
		for ; text[end] >= '0' && text[end] <= '9'; end++ {
			id = 10*id + int64(text[end]-'0')
		}
		if digits := end - 1; digits == 0 || digits > 18 {
			return nil, errCopyText
		}
		ids = append(ids, incremental.RecordID(id))
		if text = text[end:]; text[0] != ',' && text != "}" {
			return nil, errCopyText
		}
		more = text[0] == ','
	}
	return ids, nil
}
