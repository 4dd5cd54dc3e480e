package sync

import (
	"bytes"
	"context"
	"sync/atomic"
	"unsafe"
)

// rowBatch are some rows of a COPY in text form, one behind the other, with where their
// fields end. All who take rows cut out the fields that they need; when all have, the
// batch is used again, and its text is another one: who keeps a field keeps a copy.
type rowBatch struct {
	columns int
	rows    int
	last    bool   // of a range
	raw     []byte // what has come
	text    string // the whole rows of that, in the same memory
	ends    []int32
	escaped bool         // somewhere in the text there is an escape or a NULL
	takers  atomic.Int32 // who have not taken it
}

// cut finds the rows and fields of what has come, up to an end. As much again as a string of
// its own would be thrown away for each batch, and memory costs more than what is done with it.
func (b *rowBatch) cut(end int) error {
	text := unsafe.String(unsafe.SliceData(b.raw), end)
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

// field is a field of a row, until the batch is used again.
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
	next    *rowBatch // which fills; nil before the first piece
}

// Write takes the next piece of the stream. Pieces need not end at a row's end.
func (w *batchWriter) Write(piece []byte) (int, error) {
	if w.next == nil {
		w.next = w.fresh()
	}
	b := w.next
	if b.raw = append(b.raw, piece...); len(b.raw) < spoolBytes {
		return len(piece), nil
	}
	end := bytes.LastIndexByte(b.raw, '\n') + 1
	if end == 0 {
		return len(piece), nil // a row that is longer
	}
	w.next = w.fresh()
	w.next.raw = append(w.next.raw, b.raw[end:]...)
	if err := w.handOver(b, end, false); err != nil {
		return 0, err
	}
	return len(piece), nil
}

// Close hands over the rest, as the last batch.
func (w *batchWriter) Close() error {
	if w.next == nil {
		w.next = w.fresh()
	}
	return w.handOver(w.next, len(w.next.raw), true)
}

func (w *batchWriter) handOver(b *rowBatch, end int, last bool) error {
	b.columns, b.last = w.columns, last
	if err := b.cut(end); err != nil {
		return err
	}
	return w.give(b)
}

// again makes a batch that all have taken an empty one, unless it had to grow for a long row.
func (b *rowBatch) again() *rowBatch {
	if cap(b.raw) > 4*spoolBytes {
		return &rowBatch{}
	}
	b.raw = b.raw[:0]
	return b
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
func (s *spool) run(ctx context.Context, ranges int) error {
	for at := range ranges {
		for last := false; !last; {
			var batch *rowBatch
			select {
			case batch = <-s.batches[at%len(s.batches)]:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := s.take(batch); err != nil {
				return err
			}
			if last = batch.last; batch.takers.Add(-1) == 0 {
				select {
				case s.spare <- batch.again():
				default:
				}
			}
		}
	}
	return nil
}
