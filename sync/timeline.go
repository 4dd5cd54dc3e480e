package sync

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
)

// timelineEnd is where a server's history left a timeline.
type timelineEnd struct {
	timeline int64
	at       pglogrepl.LSN
}

// readHistory reads how the timeline of a server came about, the oldest one first. It is empty for the first, and
// where the server does not know.
func readHistory(ctx context.Context, conn *pgconn.PgConn, timeline int64) ([]timelineEnd, error) {
	if timeline <= 1 {
		return nil, nil
	}
	file, err := pglogrepl.TimelineHistory(ctx, conn, int32(timeline)) //nolint:gosec // the server's own number
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return nil, nil // it has lost the file: how its timeline came about is not known
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history of timeline %d: %w", timeline, err)
	}
	return parseHistory(string(file.Content))
}

// parseHistory reads a history file: on each line a timeline, where it was left, and why (timeline.c). What follows #
// is a comment.
func parseHistory(text string) (ends []timelineEnd, err error) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("a line of a timeline's history has %d fields", len(fields))
		}
		var end timelineEnd
		if end.timeline, err = strconv.ParseInt(fields[0], 10, 64); err != nil {
			return nil, fmt.Errorf("a timeline's history: %w", err)
		}
		if end.at, err = pglogrepl.ParseLSN(fields[1]); err != nil {
			return nil, fmt.Errorf("a timeline's history: %w", err)
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// isPast reports whether a position of another timeline lies in the history of the server: nothing before it
// was written otherwise there. It does where the history left that timeline behind the position. A position that
// is further on was not reached on that timeline by a stream that outlived the last of the changes. The slot knows: one
// that was confirmed beyond it was read on this server's timeline, and a session begins nowhere but
// where it may.
func isPast(ends []timelineEnd, stored storedPosition, confirmed pglogrepl.LSN) bool {
	for _, end := range ends {
		if end.timeline == stored.timeline {
			return stored.lsn <= end.at || confirmed > ends[len(ends)-1].at
		}
	}
	return false
}
