package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// sinkRows bounds what a sink gathers, so that memory does not grow with what is
// written.
const sinkRows = 4 * writeChunk

// sink sends statements to the server, many in one round trip. What goes wrong is told
// at its end, without quoting values.
type sink struct {
	ctx   context.Context
	tx    pgx.Tx
	batch pgx.Batch
	rows  int
	err   error
}

// Queue adds a statement. The longest list of numbers among its arguments tells how many
// rows it is about.
func (s *sink) Queue(sql string, arguments ...any) {
	if s.err != nil {
		return
	}
	s.batch.Queue(sql, arguments...)
	rows := 0
	for _, argument := range arguments {
		if ids, many := argument.([]int64); many {
			rows = max(rows, len(ids))
		}
	}
	s.rows += rows
	if s.rows >= sinkRows {
		s.send()
	}
}

func (s *sink) send() {
	if s.batch.Len() > 0 {
		s.err = s.tx.SendBatch(s.ctx, &s.batch).Close()
	}
	s.batch, s.rows = pgx.Batch{}, 0
}

// close sends what is left and tells the first failure.
func (s *sink) close() error {
	if s.err == nil {
		s.send()
	}
	if s.err != nil {
		return fmt.Errorf("writing the private store: %w", withoutValues(s.err))
	}
	return nil
}
