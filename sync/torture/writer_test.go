package torture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// writer sends the transactions of a script, on a connection that goes straight to the
// server.
type writer struct {
	dsn    func() string
	script *script
	count  int
	// settings are sent at the start of each connection.
	settings string
	// done counts the transactions of all writers, whatever became of them.
	done *atomic.Int64
	// refused counts the transactions that the server rolled back.
	refused *atomic.Int64
	// gate is passed with each transaction; nil for none.
	gate *sync.RWMutex
}

// run sends every transaction once. One whose fate a broken connection hides is not
// sent again.
func (w *writer) run(ctx context.Context) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for range w.count {
		if err := w.one(ctx, &conn); err != nil {
			return err
		}
	}
	return nil
}

// until sends transactions until stop is closed. Without tables to draw from it moves amounts of the ledger.
func (w *writer) until(ctx context.Context, stop <-chan struct{}) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := w.one(ctx, &conn); err != nil {
			return err
		}
	}
}

// one sends a transaction, on a new connection where there is none.
func (w *writer) one(ctx context.Context, conn **pgx.Conn) error {
	if w.gate != nil {
		w.gate.RLock()
		defer w.gate.RUnlock()
	}
	t := transaction{commit: true}
	if w.script.shapes == nil {
		t.statements = transfer(w.script.rng)
	} else {
		t = w.script.next()
	}
	if *conn == nil || (*conn).IsClosed() {
		var err error
		if *conn, err = reconnect(ctx, w.dsn, w.settings); err != nil {
			return err
		}
	}
	err := w.send(ctx, *conn, t)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !survivable(err) {
		return fmt.Errorf("a writer: %w", err)
	}
	if err != nil {
		w.refused.Add(1)
	}
	w.done.Add(1)
	if w.script.oneIn(4) {
		pause(ctx, time.Duration(w.script.rng.IntN(20))*time.Millisecond)
	}
	return nil
}

func (w *writer) send(ctx context.Context, conn *pgx.Conn, t transaction) error {
	err := w.statements(ctx, conn, t)
	end := "COMMIT"
	if err != nil || !t.commit {
		end = "ROLLBACK"
	}
	if conn.IsClosed() {
		return err
	}
	_, ended := conn.PgConn().Exec(ctx, end).ReadAll()
	return errors.Join(err, ended)
}

func (w *writer) statements(ctx context.Context, conn *pgx.Conn, t transaction) error {
	if _, err := conn.PgConn().Exec(ctx, "BEGIN").ReadAll(); err != nil {
		return err
	}
	for _, s := range t.statements {
		var err error
		if s.rows != "" {
			_, err = conn.PgConn().CopyFrom(ctx, strings.NewReader(s.rows), s.sql)
		} else {
			_, err = conn.PgConn().Exec(ctx, s.sql).ReadAll()
		}
		if err != nil {
			return err
		}
		pause(ctx, s.pause)
	}
	return nil
}

// survivable are the errors that a concurrent workload on a server that restarts meets:
// broken connections, deadlocks, time-outs of locks, keys that are taken, rows without a partition. Anything else
// is a mistake of the script.
func survivable(err error) bool {
	if errors.As(err, new(*mistake)) {
		return false
	}
	server := (*pgconn.PgError)(nil)
	if !errors.As(err, &server) {
		return true
	}
	for _, state := range []string{"08", "40", "55P03", "57", "23505", "23514", "25P02"} {
		if strings.HasPrefix(server.Code, state) {
			return true
		}
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pinned are the settings on which the text form of values depends.
var pinned = map[string]string{
	"datestyle": "ISO, YMD", "intervalstyle": "postgres", "timezone": "UTC", "extra_float_digits": "1", "bytea_output": "hex",
}

// connect makes one attempt.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	for name, setting := range pinned {
		config.RuntimeParams[name] = setting
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return pgx.ConnectConfig(ctx, config)
}

// reconnect tries until the server is there.
func reconnect(ctx context.Context, dsn func() string, settings string) (*pgx.Conn, error) {
	for start := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		conn, err := connect(ctx, dsn())
		if err == nil && settings != "" {
			if _, err = conn.PgConn().Exec(ctx, settings).ReadAll(); err != nil {
				_ = conn.Close(ctx)
			}
		}
		switch {
		case err == nil:
			return conn, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Since(start) > time.Minute:
			return nil, fmt.Errorf("no connection in a minute: %w", err)
		}
	}
}
