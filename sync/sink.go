package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// sinkRows bounds what a sink gathers, so that memory does not grow with what is
// written.
const sinkRows = 4 * writeChunk

// sink gathers statements for the server, many for one round trip, and delivers them.
// What goes wrong is told at its end, without quoting values.
type sink struct {
	deliver func(*pgx.Batch) error
	batch   *pgx.Batch
	rows    int
	err     error
}

// sendBatch has the server execute a batch.
func sendBatch(ctx context.Context, tx pgx.Tx, batch *pgx.Batch) error {
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("writing the private store: %w", withoutValues(err))
	}
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

func (s *sink) send() {
	if s.batch != nil {
		s.err = s.deliver(s.batch)
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
