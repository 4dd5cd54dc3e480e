package sync

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// sinkRows bounds what a sink gathers, so that memory does not grow with what is
// written.
const sinkRows = 4 * writeChunk

// copyBytes is about how many bytes of rows are sent at once.
const copyBytes = 1 << 20

// sentRows are buffers of rows that were sent, to be filled again.
var sentRows = make(chan []byte, 16)

// newRows is an empty buffer for rows; who hands it to a sink has it no more.
func newRows() []byte {
	select {
	case rows := <-sentRows:
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
	case sentRows <- rows:
	default:
	}
}

// sink gathers statements for the server, many for one round trip, and delivers them.
// What goes wrong is told at its end, without quoting values.
type sink struct {
	deliver func(delivery) error
	batch   *pgx.Batch
	rows    int
	err     error
}

// delivery is what the server is sent at once: statements, or the rows of a table.
type delivery struct {
	batch *pgx.Batch // nil for rows
	into  string     // the table with its columns
	rows  []byte     // in COPY's text form
}

// send has the server execute it.
func (d delivery) send(ctx context.Context, tx pgx.Tx) (err error) {
	if d.batch != nil {
		err = tx.SendBatch(ctx, d.batch).Close()
	} else {
		_, err = tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(d.rows), "COPY "+d.into+" FROM STDIN")
	}
	if err != nil {
		return fmt.Errorf("writing the private store: %w", withoutValues(err))
	}
	reuseRows(d.rows)
	return nil
}

// Queue adds a statement. The longest array among its arguments tells how many
// rows it is about.
func (s *sink) Queue(sql string, arguments ...any) {
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
	if s.rows >= sinkRows {
		s.send()
	}
}

// Copy adds rows for a table, in COPY's text form, which the sink keeps.
func (s *sink) Copy(into string, rows []byte) {
	if len(rows) == 0 {
		reuseRows(rows)
		return
	}
	if s.send(); s.err == nil {
		s.err = s.deliver(delivery{into: into, rows: rows})
	}
}

func (s *sink) send() {
	if s.batch != nil && s.err == nil {
		s.err = s.deliver(delivery{batch: s.batch})
	}
	s.batch, s.rows = nil, 0
}

// close delivers what is left and tells the first failure.
func (s *sink) close() error {
	if s.err == nil {
		s.send()
	}
	return s.err
}
