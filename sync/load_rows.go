package sync

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
)

// rowBatch are some rows of a COPY in text form, one behind the other, with where their
// fields end. All who take rows cut out the fields that they need; when all have, the
// batch is used again, but not its text.
type rowBatch struct {
	columns int
	rows    int
	last    bool // of a range
	text    string
	ends    []int32
	escaped bool         // somewhere in the text there is an escape or a NULL
	takers  atomic.Int32 // who have not taken it
}

// cut finds the rows and fields of a text.
func (b *rowBatch) cut(text string) error {
	b.text, b.escaped, b.rows, b.ends = text, false, 0, b.ends[:0]
	fields := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c > '\n' && c != '\\':
		case c == '\\':
			b.escaped = true
		case c == '\t':
			b.ends = append(b.ends, int32(i))
			fields++
		case c == '\n':
			b.ends = append(b.ends, int32(i))
			if b.rows++; fields != b.columns-1 {
				return errCopyText
			}
			fields = 0
		}
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		return errCopyText
	}
	return nil
}

// field is a field of a row. Like all of the batch it shares one text.
func (b *rowBatch) field(row, column int) (value, error) {
	at, from := row*b.columns+column, int32(0)
	if at > 0 {
		from = b.ends[at-1] + 1
	}
	text := b.text[from:b.ends[at]]
	if !b.escaped {
		return value{text: text}, nil
	}
	return copyField(text)
}

// number is a field that is a number of the store.
func (b *rowBatch) number(row, column int) (int64, error) {
	v, err := b.field(row, column)
	if err != nil {
		return 0, err
	}
	return storedID(v)
}

// spoolBytes is about how long a batch is.
const spoolBytes = 24 << 10

// batchWriter makes batches of what COPY sends.
type batchWriter struct {
	columns int
	fresh   func() *rowBatch
	give    func(*rowBatch) error
	raw     []byte
}

// Write takes the next piece of the stream. Pieces need not end at a row's end.
func (w *batchWriter) Write(piece []byte) (int, error) {
	if w.raw = append(w.raw, piece...); len(w.raw) < spoolBytes {
		return len(piece), nil
	}
	end := bytes.LastIndexByte(w.raw, '\n') + 1
	if end == 0 {
		return len(piece), nil // a row that is longer
	}
	if err := w.handOver(string(w.raw[:end]), false); err != nil {
		return 0, err
	}
	w.raw = append(w.raw[:0], w.raw[end:]...)
	return len(piece), nil
}

// Close hands over the rest, as the last batch.
func (w *batchWriter) Close() error { return w.handOver(string(w.raw), true) }

func (w *batchWriter) handOver(text string, last bool) error {
	b := w.fresh()
	b.columns, b.last = w.columns, last
	if err := b.cut(text); err != nil {
		return err
	}
	return w.give(b)
}

// fill gives a row the fields of some of its columns.
func (b *rowBatch) fill(row []value, from int, columns, places []int) (err error) {
	for i, column := range columns {
		if row[column], err = b.field(from, places[i]); err != nil {
			return err
		}
	}
	return nil
}

// spool takes batches on a goroutine of its own, those of a range after the other.
type spool struct {
	take    func(*rowBatch) error
	batches []chan *rowBatch // of each reader
	spare   chan<- *rowBatch
}

// errReaderEnded is the consequence of a reader's failure.
var errReaderEnded = fmt.Errorf("%w: %w", errReadingEnded, context.Canceled)

// spoolAhead is how many batches of a reader may wait.
const spoolAhead = 16

func newSpool(take func(*rowBatch) error, readers int, spare chan<- *rowBatch) *spool {
	s := &spool{take: take, spare: spare}
	for range readers {
		s.batches = append(s.batches, make(chan *rowBatch, spoolAhead))
	}
	return s
}

// run takes so many ranges, which the readers have in turns.
func (s *spool) run(ranges int) error {
	for at := range ranges {
		for last := false; !last; {
			batch, more := <-s.batches[at%len(s.batches)]
			if !more {
				return errReaderEnded
			}
			if err := s.take(batch); err != nil {
				return err
			}
			if last = batch.last; batch.takers.Add(-1) == 0 {
				select {
				case s.spare <- batch:
				default:
				}
			}
		}
	}
	return nil
}
