package sync

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// maxStatementRows bounds what is gathered for one round trip, so that memory does not grow
// with what is written.
const maxStatementRows = 4 * writeChunk

// copyBytes is about how many bytes of rows are sent at once.
const copyBytes = 1 << 20

// freeCopyRows are buffers of rows that were sent, to be filled again.
var freeCopyRows = make(chan []byte, 16)

// newCopyRows returns an empty buffer for rows, which Copy takes over.
func newCopyRows() []byte {
	select {
	case rows := <-freeCopyRows:
		return rows[:0]
	default:
		return nil
	}
}

// reuseRows keeps a buffer of about copyBytes.
func reuseRows(rows []byte) {
	if cap(rows) < copyBytes || cap(rows) > 2*copyBytes {
		return
	}
	select {
	case freeCopyRows <- rows:
	default:
	}
}

// statements gathers what is to be written, many statements for one round trip, and passes
// it on to send in chunks. The first error is returned by close, without values of rows.
// It belongs to the goroutine that fills it.
type statements struct {
	send  func(chunk) error
	batch *pgx.Batch
	rows  int
	err   error
}

// sendTo returns statements that the server executes as soon as a chunk is full.
func sendTo(ctx context.Context, tx pgx.Tx) *statements {
	return &statements{send: func(c chunk) error { return c.send(ctx, tx) }}
}

// chunk is what the server is sent at once: statements, or rows of a table, or what is made of what it
// answers.
type chunk struct {
	batch *pgx.Batch // nil for rows
	into  string     // the table with its columns
	rows  []byte     // in COPY's text form
	do    step       // what reads before it writes, instead of both
}

// send has the server execute the chunk.
func (c chunk) send(ctx context.Context, tx pgx.Tx) (err error) {
	switch {
	case c.do != nil:
		err = c.do(ctx, tx)
	case c.batch != nil:
		err = tx.SendBatch(ctx, c.batch).Close()
	default:
		_, err = tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(c.rows), "COPY "+c.into+" FROM STDIN")
	}
	if err != nil {
		return fmt.Errorf("writing the private store: %w", withoutValues(err))
	}
	reuseRows(c.rows)
	return nil
}

// Queue adds a statement. The longest array among its arguments counts as its number of
// rows.
func (s *statements) Queue(sql string, arguments ...any) {
	if s.err != nil {
		return
	}
	if s.batch == nil {
		s.batch = &pgx.Batch{}
	}
	s.batch.Queue(sql, arguments...)
	rows := 0
	for _, argument := range arguments {
		if list, many := argument.(*array); many {
			rows = max(rows, list.count)
		}
	}
	s.rows += rows
	if s.rows >= maxStatementRows {
		s.flush()
	}
}

// Copy adds rows for a table in COPY's text form, and takes over their buffer.
func (s *statements) Copy(into string, rows []byte) {
	if len(rows) == 0 {
		reuseRows(rows)
		return
	}
	if s.flush(); s.err == nil {
		s.err = s.send(chunk{into: into, rows: rows})
	}
}

// Do adds what reads of the store before it writes, behind what was added before.
func (s *statements) Do(do func(ctx context.Context, tx pgx.Tx) error) {
	if s.flush(); s.err == nil {
		s.err = s.send(chunk{do: do})
	}
}

// Fail has close return an error, unless there was one before. What follows is not sent.
func (s *statements) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *statements) flush() {
	if s.batch != nil && s.err == nil {
		s.err = s.send(chunk{batch: s.batch})
	}
	s.batch, s.rows = nil, 0
}

// close passes on what is left and returns the first error.
func (s *statements) close() error {
	if s.err == nil {
		s.flush()
	}
	return s.err
}
