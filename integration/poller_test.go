package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pause waits a little before another attempt.
func pause(ctx context.Context) {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
	}
}

// rest waits four times as long as it took to look, at most a second: a reader who looks all the time
// keeps the processors from what it looks at, the more so the busier they are.
func rest(ctx context.Context, began time.Time) {
	select {
	case <-time.After(min(4*time.Since(began), time.Second)):
	case <-ctx.Done():
	}
}

// watched is one visible state of the table folk, counted in one statement and
// so on one snapshot.
type watched struct {
	Rows  int64
	Small int64 // groups of like rows with fewer than k of them
	Alike int64 // groups of like rows with fewer than l illnesses
	Odd   int64 // pairs of which one row is missing, or more than two are there
	Sum   int64 // of all costs
}

var watching = fmt.Sprintf(`WITH visible AS MATERIALIZED (SELECT * FROM folk),
	classes AS (SELECT count(*) AS n, count(DISTINCT coalesce(illness, '-')) AS l FROM visible GROUP BY %s)
	SELECT (SELECT count(*) FROM visible), (SELECT count(*) FROM classes WHERE n < %d), (SELECT count(*) FROM classes WHERE l < %d),
		(SELECT count(*) FROM (SELECT FROM visible GROUP BY pair HAVING count(*) <> 2) p), (SELECT coalesce(sum(cost), 0) FROM visible)`,
	folkQI, folkK, folkL)

// violation says what is wrong with a state.
func (w watched) violation() string {
	var wrong []string
	if w.Small > 0 {
		wrong = append(wrong, fmt.Sprintf("%d classes have fewer than %d rows", w.Small, folkK))
	}
	if w.Alike > 0 {
		wrong = append(wrong, fmt.Sprintf("%d classes have fewer than %d illnesses", w.Alike, folkL))
	}
	if w.Odd > 0 || w.Sum != 0 {
		wrong = append(wrong, fmt.Sprintf("it is in the middle of a source transaction: %d odd pairs, sum %d", w.Odd, w.Sum))
	}
	return strings.Join(wrong, "; ")
}

// poller checks every state that a client can see.
type poller struct {
	url    string
	states atomic.Int64
	rows   atomic.Int64 // of the last state
}

// run polls until ctx ends. It lives through restarts of proxy and server.
func (p *poller) run(ctx context.Context) error {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, p.url)
		if err != nil {
			pause(ctx)
			continue
		}
		err = p.watch(ctx, conn)
		_ = conn.Close(context.WithoutCancel(ctx))
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// watch polls on one connection: now with statements of their own, now twice in
// a transaction, which must show the same state. A lost connection is no error.
func (p *poller) watch(ctx context.Context, conn *pgx.Conn) error {
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		var first, second watched
		err := p.look(ctx, conn, &first)
		if err == nil && i%5 == 0 {
			err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
				if err := p.look(ctx, conn, &first); err != nil {
					return err
				}
				pause(ctx)
				return p.look(ctx, conn, &second)
			})
			if err == nil && first != second {
				return fmt.Errorf("one transaction shows two states: %+v and %+v", first, second)
			}
		}
		switch {
		case err == nil:
			rest(ctx, began)
		case conn.IsClosed() || goneAway(err):
			return nil
		default:
			return err
		}
	}
	return nil
}

// goneAway is the error of a statement while server or proxy stop or start.
func goneAway(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && (strings.HasPrefix(server.Code, "57P") || strings.HasPrefix(server.Code, "08"))
}

func (p *poller) look(ctx context.Context, conn *pgx.Conn, w *watched) error {
	if err := conn.QueryRow(ctx, watching).Scan(&w.Rows, &w.Small, &w.Alike, &w.Odd, &w.Sum); err != nil {
		return err
	}
	p.states.Add(1)
	p.rows.Store(w.Rows)
	if wrong := w.violation(); wrong != "" {
		return fmt.Errorf("a visible state of %d rows: %s", w.Rows, wrong)
	}
	return nil
}

// poll starts pollers; the returned function stops them and reports.
func poll(t *testing.T, s *site, pollers int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &poller{url: s.url()}
	ended := make(chan error, pollers)
	for range pollers {
		go func() { ended <- p.run(ctx) }()
	}
	return func() {
		t.Helper()
		seen := p.states.Load()
		eventually(t, "a last state is seen", func() bool { return p.states.Load() > seen+int64(pollers) || len(ended) > 0 })
		cancel()
		for range pollers {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		t.Logf("%d states were looked at, the last one of %d rows", p.states.Load(), p.rows.Load())
	}
}
