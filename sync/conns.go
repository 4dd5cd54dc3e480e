package sync

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	gosync "sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A connection can be open at one end only: a firewall forgets it, a host disappears, and
// whoever waits for an answer waits for ever. Long statements look the same from here, so
// no deadline fits; but the server knows whether it is busy for a session. Connections
// therefore note since when an answer is awaited, and the watcher asks the server.

// trackedConn is a connection that notes since when it is read from.
type trackedConn struct {
	net.Conn
	reading atomic.Int64 // in nanoseconds; 0 for not
	pid     uint32
	of      *connTracker
}

// Read notes that something is awaited.
func (l *trackedConn) Read(b []byte) (int, error) {
	l.reading.Store(time.Now().UnixNano())
	defer l.reading.Store(0)
	return l.Conn.Read(b)
}

// Close takes the line off the list.
func (l *trackedConn) Close() error {
	l.of.mu.Lock()
	delete(l.of.open, l)
	l.of.mu.Unlock()
	return l.Conn.Close()
}

// connTracker are the open connections of a Syncer.
type connTracker struct {
	mu   gosync.Mutex
	open map[*trackedConn]bool
}

// track has the connections of a configuration noted, and kept alive: a host that is
// gone is noticed by TCP itself.
func (ls *connTracker) track(config *pgconn.Config) {
	dial := config.DialFunc
	if dial == nil {
		dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lease, Interval: lease / 4, Count: 3}}
		dial = dialer.DialContext
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &trackedConn{Conn: conn, of: ls}
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if ls.open == nil {
			ls.open = make(map[*trackedConn]bool)
		}
		ls.open[l] = true
		return l, nil
	}
}

// identify notes which session of the server a connection is.
func (ls *connTracker) identify(conn *pgconn.PgConn) {
	under := conn.Conn()
	if encrypted, is := under.(*tls.Conn); is {
		under = encrypted.NetConn()
	}
	if l, is := under.(*trackedConn); is {
		ls.mu.Lock()
		l.pid = conn.PID()
		ls.mu.Unlock()
	}
}

// waiting are the lines on which an answer has been awaited for longer than a while.
func (ls *connTracker) waiting(since time.Duration) []*trackedConn {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var found []*trackedConn
	for l := range ls.open {
		if reading := l.reading.Load(); l.pid != 0 && reading != 0 && time.Since(time.Unix(0, reading)) > since {
			found = append(found, l)
		}
	}
	return found
}

// checkConnections asks the server for the sessions from which an answer is awaited. One that
// waits for kproxy, or is not there, will never give it. Its server process is ended as well: it
// may hold a transaction, for which a snapshot would wait as long as the server believes in
// its client.
func (w *watcher) checkConnections(ctx context.Context) error {
	if err := w.checkTracked(ctx, w.store.conn, &w.syncer.conns); err != nil || !w.store.isApart() {
		return err
	}
	return w.checkTracked(ctx, w.store.source, w.syncer.sourceConns())
}

func (w *watcher) checkTracked(ctx context.Context, on *pgx.Conn, tracked *connTracker) error {
	for _, l := range tracked.waiting(deadAfter) {
		reading := l.reading.Load()
		var busy bool
		err := on.QueryRow(ctx, "SELECT coalesce((SELECT state = 'active' FROM pg_catalog.pg_stat_activity WHERE pid = $1), false)", l.pid).Scan(&busy)
		if err != nil {
			return fmt.Errorf("asking for a session: %w", err)
		}
		if !busy && l.reading.Load() == reading {
			w.syncer.config.Logger.Info("a connection to the server is open only at this end", "pid", l.pid)
			_ = l.Close()
			const end = `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
				WHERE pid = $1 AND state <> 'active' AND usename = current_user AND application_name LIKE 'kproxy %'`
			if _, err := on.Exec(ctx, end, l.pid); err != nil {
				return fmt.Errorf("ending a session: %w", err)
			}
		}
	}
	return nil
}
