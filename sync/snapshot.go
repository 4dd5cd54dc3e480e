package sync

import (
	"context"
	"fmt"
	"math"
	gosync "sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// publisher makes the initial release of one table. It reads the source twice under one
// snapshot, so that no row is written more often than once into the private store and
// once into the release: first what the method needs, into memory, and then, when each
// record's class is known, all that is stored, inside the server. What it writes commits
// in several transactions and is nobody's until the table joins the stream.
type publisher struct {
	table     *table
	config    *Config
	epoch     int64
	readers   []pgx.Tx    // all see the snapshot, and hold the source as it is
	writers   []*pgx.Conn // fill the tables; those of the readers where the source is in the store's database
	conn      *pgx.Conn   // makes the tables; outside of the snapshot
	extent    extent
	total     int // records; at first as the server estimates
	at        time.Time
	durations stopwatch

	progressing gosync.Mutex // progress is told by one goroutine at a time
}

func (p *publisher) publish(ctx context.Context, generation int64) (err error) {
	defer func() {
		if err != nil {
			p.abandon()
		}
	}()
	p.at = p.table.clock()
	if err := p.table.begin(generation, 1, 1, p.config.Seed); err != nil {
		return err
	}
	if err := p.table.sealAnew(generation); err != nil {
		return err
	}
	p.total = p.extent.rows
	p.durations.lap()
	source, err := p.read(ctx)
	if err != nil {
		return err
	}
	p.durations.reading = p.durations.lap()
	p.config.Failpoint(FailSnapshotCopied)
	if err := p.table.mode.publish(ctx, p, source); err != nil {
		return err
	}
	p.durations.anonymizing = p.durations.lap()
	return p.write(ctx)
}

// abandon drops what was made in vain, if it can be: the disk may be full. What stays is
// dropped when the next table joins.
func (p *publisher) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, reader := range p.readers {
		closeConn(reader.Conn())
	}
	for _, writer := range p.writers {
		closeConn(writer) // it may hold what is to be dropped
	}
	if err := p.fenced(ctx, []string{p.dropAll()}, "dropping what was made in vain"); err != nil {
		p.config.Logger.Debug("an unfinished publication stays for the time being", "relation", p.table.layout.name(), "error", withoutValues(err))
	}
}

// stopwatch measures the steps of a publication.
type stopwatch struct {
	last                                            time.Time
	reading, anonymizing, records, release, indexes time.Duration
}

// lap is the time since the last one.
func (w *stopwatch) lap() time.Duration {
	before := w.last
	w.last = time.Now()
	return w.last.Sub(before)
}

func (p *publisher) progress(stage string, done int) {
	p.config.Progress(Progress{Table: p.table.layout.name(), Stage: stage, Done: done, Total: max(done, p.total)})
}

func (p *publisher) stagingTable(kind string) string {
	return storeTable(kind, p.table.release.generation).SQL()
}

// snapshot is the source as partitions know it, in the order of the records'
// numbers from 1. Of a taker it has their number alone.
type snapshot struct {
	records   int
	cells     [][]hierarchy.Cell // attribute, record
	sensitive [][]uint32         // sensitive attribute, record
	subjects  []uint32
}

// newSnapshot is empty, with room for as many records as the server believes there are.
func (p *publisher) newSnapshot() *snapshot {
	room := min(p.total, math.MaxInt32)
	if _, takes := p.table.mode.(taker); takes {
		return &snapshot{}
	}
	s := &snapshot{cells: make([][]hierarchy.Cell, len(p.table.layout.qi)), sensitive: make([][]uint32, len(p.table.layout.sensitive))}
	for a := range s.cells {
		s.cells[a] = make([]hierarchy.Cell, 0, room)
	}
	for a := range s.sensitive {
		s.sensitive[a] = make([]uint32, 0, room)
	}
	return s
}

// add takes a further record of the table.
func (s *snapshot) add(t *table, row []value) {
	s.records++
	for a, column := range t.layout.qi {
		s.cells[a] = append(s.cells[a], t.layout.cell(a, row[column]))
	}
	for a, column := range t.layout.sensitive {
		s.sensitive[a] = append(s.sensitive[a], t.code(a, row[column]))
	}
	if t.layout.subject >= 0 {
		s.subjects = append(s.subjects, t.person(row[t.layout.subject]))
	}
}

// taker is a mode that has the records of a snapshot itself.
type taker interface {
	updateMode
	// code codes a row that was not known, until the next call.
	code(row []value) *coded
}

// keep takes a further record, into the snapshot or, as one that waits, into a lineage.
func (p *publisher) keep(s *snapshot, row []value) error {
	mode, takes := p.table.mode.(taker)
	if !takes {
		s.add(p.table, row)
		return nil
	}
	s.records++
	if _, err := mode.insert(incremental.RecordID(s.records), nil, *mode.code(row), p.at); err != nil {
		return internal(err)
	}
	return nil
}

// progressRows is after how many rows progress is told, and an end looked for.
const progressRows = 10_000

// read codes what partitions and the key map need of all records, which get their
// numbers by it. Values are coded one after the other: their codes depend on which came
// first.
func (p *publisher) read(ctx context.Context) (*snapshot, error) {
	indexes, list, wide := p.table.heldColumns()
	row := make([]value, len(p.table.layout.columns))
	s := p.newSnapshot()
	take := func(values []value) error {
		if s.records == math.MaxInt32 {
			return &TableError{Table: p.table.layout.name(), What: "it has more rows than kproxy can number", Fix: fixPolicy}
		}
		spread(row, indexes, values[1:])
		if err := p.keep(s, row); err != nil {
			return err
		}
		if values[0].text != "t" {
			p.table.copies.put(int32(s.records-1), row) // the slot that it will have
		}
		if !p.table.keys.add(p.table.keyOf(row), incremental.RecordID(s.records)) {
			return &TableError{Table: p.table.layout.name(), What: "two of its rows have the same key", Fix: fixPolicy}
		}
		if s.records%progressRows == 0 {
			p.progress("reading", s.records)
		}
		return nil
	}
	before := 0
	ended := func(at int) {
		r := &p.extent.ranges[at]
		r.first, r.rows = before+1, s.records-before
		before = s.records
		if at == len(p.extent.ranges)/2 {
			p.config.Failpoint(FailSnapshotReading)
		}
	}
	if err := p.readRanges(ctx, wide+", "+list, 1+len(indexes), take, ended); err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	p.total, p.table.nextRecord = s.records, incremental.RecordID(s.records+1)
	p.progress("reading", s.records)
	return s, nil
}

// rowInto fills a row with one record of the snapshot.
func (s *snapshot) rowInto(row *coded, i int32) {
	for a := range s.cells {
		row.cells[a] = s.cells[a][i]
	}
	for a := range s.sensitive {
		row.sensitive[a] = s.sensitive[a][i]
	}
	if s.subjects != nil {
		row.subject = s.subjects[i]
	}
}
