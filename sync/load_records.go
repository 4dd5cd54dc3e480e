package sync

import (
	"context"
	"errors"
	"io"
	gosync "sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// The records of a large table travel while the rest of its store does: several connections
// read them, by ranges, and the first one what stands beside them. Nothing is looked for
// meanwhile; what leads to keys and records is made when all are there.

// read takes the records and the others of the store. The first failure is the one that is told.
// That of the first connection ends the further ones; the first one is read to its end.
func (v *storeView) read(ctx context.Context, records func(context.Context, []*pgconn.PgConn) error, others func(context.Context) error) error {
	v.failpoint(FailStoreSeen)
	if len(v.further) == 0 {
		if err := records(ctx, []*pgconn.PgConn{v.first}); err != nil {
			return err
		}
		return others(ctx)
	}
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var further []*pgconn.PgConn
	for _, conn := range v.further {
		further = append(further, conn.PgConn())
	}
	var running gosync.WaitGroup
	running.Go(func() {
		if err := records(reading, further); err != nil {
			cancel(err)
		}
	})
	if err := others(ctx); err != nil {
		cancel(err)
	}
	running.Wait()
	return context.Cause(reading)
}

// readRecords has takers take what is selected of the records, each on a goroutine of its
// own and in the order of the ranges. Each connection has a goroutine that cuts rows of every
// so-and-so-manieth range.
func (v *storeView) readRecords(ctx context.Context, conns []*pgconn.PgConn, t *table, selected selection, takers ...func(*rowBatch) error) error {
	taking, cancel := context.WithCancelCause(ctx) // apart, as what ends a COPY's context ends the connection
	defer cancel(nil)
	spare := make(chan *rowBatch, 2*spoolAhead*len(conns))
	var spools []*spool
	for _, take := range takers {
		spools = append(spools, newSpool(take, len(conns), spare))
	}
	var running gosync.WaitGroup
	start := func(do func() error) {
		running.Go(func() {
			if err := guard(t.logger, do); err != nil {
				cancel(err) // the others are in vain
			}
		})
	}
	for _, to := range spools {
		start(func() error { return to.run(taking, len(v.ranges)) })
	}
	for i, conn := range conns {
		reader := &recordReader{conn: conn, of: t, spools: spools, number: i, spare: spare}
		start(func() error { return reader.run(ctx, taking, selected, v.ranges, len(conns)) })
	}
	running.Wait()
	return context.Cause(taking)
}

// counting has a taker tell how many records it has taken.
func (v *storeView) counting(take func(*rowBatch) error, progress func(done int)) func(*rowBatch) error {
	read, ranges := 0, 0
	return func(b *rowBatch) error {
		if err := take(b); err != nil {
			return err
		}
		told := read / progressRows
		if read += b.rows; read/progressRows > told {
			progress(read)
		}
		if b.last {
			if ranges == len(v.ranges)/2 {
				v.failpoint(FailLoading)
			}
			ranges++
		}
		return nil
	}
}

// endLoading has what leads to keys and records made at the same time.
func (t *table) endLoading(keys *keyGathering, records func() error) error {
	var unique bool
	var failure error
	var running gosync.WaitGroup
	running.Go(func() {
		failure = guard(t.logger, func() error {
			unique = keys.end()
			return nil
		})
	})
	err := records()
	running.Wait()
	switch {
	case err != nil:
		return internal(err)
	case failure != nil:
		return failure
	case !unique:
		return internal(errors.New("two records have the same key"))
	}
	return nil
}

// recordReader is a connection that reads ranges of the records.
type recordReader struct {
	conn   *pgconn.PgConn
	of     *table
	number int // of the readers
	spools []*spool
	spare  chan *rowBatch
}

func (r *recordReader) run(ctx, taking context.Context, selected selection, ranges []sourceRange, readers int) error {
	for at := r.number; at < len(ranges); at += readers {
		var opened io.Writer
		w := &batchWriter{columns: selected.width(), fresh: r.fresh, give: func(b *rowBatch) error { return r.give(taking, b) }}
		if opened = w; selected.sealed {
			opened = newOpenedRows(r.of, selected.columns, w)
		}
		into := &drainingWriter{reader: opened}
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
