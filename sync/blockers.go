package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/repeats"
)

// A replication slot begins once the transactions have ended that were writing before it
// (PostgreSQL, chapter Logical Decoding Concepts).
const (
	// slowSlot is after how long the log says what a slot waits for, and how often it is looked at.
	slowSlot = 5 * time.Second
	// slotPatience is for how long a slot is waited for. Then the attempt is given up, so that the log
	// that the server keeps for it can go, and made again.
	slotPatience = time.Hour
)

// BlockedError is the end of an attempt to make a slot that others have not let begin.
type BlockedError struct {
	By  string // who
	End string // the statements that end it
}

func (e *BlockedError) Error() string {
	return "a replication slot waits for transactions to end that were writing before it: " + e.By
}

// awaitWriters returns a context for making a slot by a walsender. While that waits for long, told
// is called with who keeps it waiting. The context ends after slotPatience.
func (s *Syncer) awaitWriters(ctx context.Context, walsender uint32, told func(*BlockedError)) (context.Context, context.CancelFunc) {
	wait, cancel := context.WithCancelCause(ctx)
	go s.logSnapshots(wait)
	go func() {
		began, last := time.Now(), &BlockedError{By: "it is not known which", End: "see pg_stat_activity and pg_prepared_xacts for old ones"}
		for sleep(wait, slowSlot) == nil {
			// Where the server does not answer, the wait itself tells of it.
			if blocked, err := s.findWriters(wait, walsender); err == nil && blocked != nil {
				last = blocked
				s.repeats.Note(s.config.Logger, slog.LevelWarn, repeats.Key{Kind: "blocked", Who: blocked.End}, blocked.Error(), "fix", blocked.End)
				told(blocked)
			}
			if time.Since(began) > slotPatience {
				cancel(last)
			}
		}
	}()
	return wait, func() { cancel(nil) }
}

// blockedBy is the error of making a slot: who has kept it waiting, where that has ended the attempt.
func blockedBy(wait context.Context, err error) error {
	if blocked, is := errors.AsType[*BlockedError](context.Cause(wait)); is {
		return blocked
	}
	return err
}

// findWriters returns who keeps a walsender waiting; nil where nobody does. A prepared transaction
// has no session.
func (s *Syncer) findWriters(ctx context.Context, walsender uint32) (*BlockedError, error) {
	conn, err := s.openSource(ctx, followerName)
	if err != nil {
		return nil, err
	}
	defer closeConn(conn)
	rows, err := conn.Query(ctx, `SELECT b.pid, coalesce(a.usename::text, ''), coalesce(a.application_name, ''), coalesce(pg_catalog.host(a.client_addr), ''),
			coalesce(a.state, ''), a.xact_start, coalesce(x.gid, '')
		FROM (SELECT DISTINCT pid FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids($1)) AS pid) AS b
		LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid
		LEFT JOIN pg_catalog.pg_locks l ON l.pid = $1 AND NOT l.granted AND l.locktype = 'transactionid'
		LEFT JOIN pg_catalog.pg_prepared_xacts x ON b.pid = 0 AND x.transaction = l.transactionid
		ORDER BY b.pid`, int32(walsender))
	if err != nil {
		return nil, fmt.Errorf("asking what a slot waits for: %w", err)
	}
	var by, ends []string
	var h Holder
	var state, prepared string
	var begun *time.Time
	_, err = pgx.ForEachRow(rows, []any{&h.PID, &h.User, &h.Application, &h.Address, &state, &begun, &prepared}, func() error {
		if h.PID == 0 {
			by, ends = append(by, fmt.Sprintf("prepared transaction %q", prepared)), append(ends, fmt.Sprintf("end it: ROLLBACK PREPARED '%s', or COMMIT PREPARED", strings.ReplaceAll(prepared, "'", "''")))
			return nil
		}
		text := h.String()
		if state != "" {
			text += ", " + state
		}
		if begun != nil {
			text += ", in a transaction since " + begun.UTC().Format(time.RFC3339)
		}
		by, ends = append(by, text), append(ends, endSession(h.PID))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("asking what a slot waits for: %w", err)
	}
	if len(by) == 0 {
		return nil, nil
	}
	return &BlockedError{By: strings.Join(by, "; "), End: strings.Join(ends, "; ")}, nil
}
