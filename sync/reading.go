package sync

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	gosync "sync"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// A table is read in ranges of its blocks, by several connections that see one snapshot.
// What they read is consumed in the order of the ranges, and a range is read in the
// order of its rows, so that a record's number depends on where its row lies alone. A
// range of a partitioned table has the same blocks of each partition: only the table
// itself need be readable.

const (
	// rangeBlocks is how much of a table one COPY reads, in blocks (of 8 kB, as a rule), and
	// leastBlocks how much of each partition at least.
	rangeBlocks = 2048
	minBlocks   = 64
	// pieceBytes is how much of a COPY is handed over at a time, and piecesAhead how many
	// such pieces a reader may be ahead of what is consumed.
	pieceBytes  = 64 << 10
	piecesAhead = 128
)

// sourceRange is a range of the source's blocks and the records that its rows become.
type sourceRange struct {
	within string // further condition
	from   int64  // its first block
	to     int64  // the block behind its last one; 0 for all that follow
	first  int    // the number of its first record
	rows   int
}

// rowOrder is the order of rows within a range.
const rowOrder = "ORDER BY tableoid, ctid"

// condition selects the range's rows.
func (r sourceRange) condition() string {
	condition := fmt.Sprintf("ctid >= '(%d,0)'", r.from) + r.within
	if r.to != 0 {
		condition += fmt.Sprintf(" AND ctid < '(%d,0)'", r.to)
	}
	return condition
}

// extent is where a table's rows lie.
type extent struct {
	ranges []sourceRange
	rows   int // as the server estimates; 0 for unknown
}

// maxReaders bounds the connections that read a table.
const maxReaders = 4

// readingPlan is how a table is read.
type readingPlan struct {
	blocks      int64 // of a range
	connections int   // 0 for as many as there are processors, up to mostReaders
}

// degree is how many connections read the table.
func (p readingPlan) degree(e extent) int {
	wanted := p.connections
	if wanted == 0 {
		wanted = min(maxReaders, runtime.GOMAXPROCS(0))
	}
	return max(1, min(wanted, len(e.ranges)))
}

// measure cuts the table into ranges. Before PostgreSQL 14 each one would be looked for in
// the whole table, so there it is one.
func (t *table) measure(ctx context.Context, on pgx.Tx, plan readingPlan) (e extent, err error) {
	leaves := t.definition.leaves
	if t.layout.publication.Relation.Kind != catalog.KindPartitionedTable {
		leaves = []uint32{uint32(t.layout.publication.Relation.OID)}
	}
	var blocks, most int64
	var cut bool
	err = on.QueryRow(ctx, `SELECT coalesce(max(pg_catalog.pg_relation_size(c.oid)) / pg_catalog.current_setting('block_size')::bigint, 0),
		coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint, pg_catalog.current_setting('server_version_num')::int >= 140000
		FROM pg_catalog.pg_class c WHERE c.oid = ANY ($1::oid[])`, leaves).Scan(&most, &e.rows, &cut)
	if err != nil {
		return e, fmt.Errorf("measuring %s: %w", t.layout.name(), err)
	}
	blocks = max(plan.blocks/int64(max(1, len(leaves))), min(plan.blocks, minBlocks))
	from := int64(0)
	for ; cut && from+blocks < most; from += blocks {
		e.ranges = append(e.ranges, sourceRange{from: from, to: from + blocks})
	}
	e.ranges = append(e.ranges, sourceRange{from: from})
	if t.layout.publication.Relation.Kind == catalog.KindPartitionedTable {
		// A partition that is attached meanwhile is in sight, snapshot or not.
		within := fmt.Sprintf(" AND tableoid = ANY ('{%s}'::oid[])", strings.Trim(strings.ReplaceAll(fmt.Sprint(leaves), " ", ","), "[]"))
		for i := range e.ranges {
			e.ranges[i].within = within
		}
	}
	return e, nil
}

// rangeReader reads every so-and-so-manieth range of the source.
type rangeReader struct {
	tx     pgx.Tx
	pieces chan []byte // of a range after another; an empty one ends each
	piece  []byte
	err    error // why pieces was closed early
	ctx    context.Context
}

// Write takes what COPY sends.
func (r *rangeReader) Write(row []byte) (int, error) {
	r.piece = append(r.piece, row...)
	if len(r.piece) < pieceBytes {
		return len(row), nil
	}
	return len(row), r.handOver()
}

func (r *rangeReader) handOver() error {
	piece := r.piece
	r.piece = make([]byte, 0, pieceBytes+pieceBytes/8)
	select {
	case r.pieces <- piece:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// read copies one range out.
func (r *rangeReader) read(ctx context.Context, selection string, from sourceRange) error {
	sql := fmt.Sprintf("COPY (SELECT %s WHERE %s %s) TO STDOUT", selection, from.condition(), rowOrder)
	if _, err := r.tx.Conn().PgConn().CopyTo(ctx, r, sql); err != nil {
		return err
	}
	if len(r.piece) > 0 {
		if err := r.handOver(); err != nil {
			return err
		}
	}
	r.piece = nil
	return r.handOver()
}

var errReadingEnded = errors.New("a reader ended early")

// readRanges reads a selection of so many columns of all rows and hands these to row, in the
// order of the ranges. ended is told of each range that has been read.
func (p *publisher) readRanges(ctx context.Context, selection string, columns int, row func([]value) error, ended func(at int)) error {
	ctx, cancel := context.WithCancel(ctx)
	var running gosync.WaitGroup
	defer running.Wait()
	defer cancel()
	readers := make([]*rangeReader, len(p.readers))
	for i, tx := range p.readers {
		r := &rangeReader{tx: tx, pieces: make(chan []byte, piecesAhead), ctx: ctx}
		readers[i] = r
		running.Go(func() {
			defer close(r.pieces)
			r.err = guard(p.config.Logger, func() error {
				if _, err := tx.Exec(ctx, fillingSettings); err != nil {
					return err
				}
				for at := i; at < len(p.extent.ranges); at += len(readers) {
					if err := r.read(ctx, selection+" FROM "+p.table.layout.source().sql(), p.extent.ranges[at]); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	for at := range p.extent.ranges {
		from := readers[at%len(readers)]
		rows := &copyReader{columns: columns, row: row}
		for {
			piece, more := <-from.pieces
			if !more {
				return errors.Join(from.err, errReadingEnded)
			}
			if len(piece) == 0 {
				break
			}
			if _, err := rows.Write(piece); err != nil {
				return err
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
		ended(at)
	}
	return nil
}
