package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The source, and the store with the release, can be in one database or in two, of one server or of
// several. Where they are in two, a change is read in one and written in the other, together with
// its position: what a crash leaves unwritten, the slot sends again. Of the source kproxy needs the
// privileges to read and to replicate, and it writes nothing there but heartbeats.

// sourceOf is how the source is reached: by a login of its own, or as the owner of the store.
func sourceOf(owner, source *pgx.ConnConfig) *pgx.ConnConfig {
	if source == nil {
		return owner
	}
	return source
}

// logins returns how store and source are reached at present.
func (s *Syncer) logins() (owner, source *pgx.ConnConfig) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owner, sourceOf(s.owner, s.source)
}

// isApart reports whether the source is in a database of its own.
func (c *Config) isApart() bool { return c.Source != nil }

// sourceConns are the connections to the source's server.
func (s *Syncer) sourceConns() *connTracker {
	if s.config.isApart() {
		return &s.apart
	}
	return &s.conns
}

// openBoth connects to the store and to the source, by one connection where both are in one
// database.
func (s *Syncer) openBoth(ctx context.Context, name string) (conn, source *pgx.Conn, err error) {
	if conn, err = s.open(ctx, name); err != nil || !s.config.isApart() {
		return conn, conn, err
	}
	if source, err = s.openSource(ctx, name); err != nil {
		closeConn(conn)
		return nil, nil, err
	}
	return conn, source, nil
}

// storeServer is the server that a store is on: its system identifier and its timeline. It is the zero
// value where the store is in the source's database, or where an earlier version has written it.
type storeServer struct {
	system   string
	timeline int64
}

// findHome reads which server the store is on.
func findHome(ctx context.Context, conn *pgx.Conn) (h storeServer, err error) {
	err = conn.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text,
		('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::bit(32)::bigint`).Scan(&h.system, &h.timeline)
	if err != nil {
		return h, fmt.Errorf("identifying the server of the store: %w", err)
	}
	return h, nil
}

// wentBack reports whether the server has another history than when the store was written: a
// standby was promoted, or a backup restored, and the last transactions may be missing. A store on another
// system was moved there, as docs/apart.md says.
func (h storeServer) wentBack(stored storeServer) bool {
	return h.system != "" && h.system == stored.system && h.timeline != stored.timeline
}

// isApart reports whether the source is in a database of its own.
func (s *store) isApart() bool { return s.source != s.conn }

// connections are those of the store, each once.
func (s *store) connections() []*pgx.Conn {
	if s.isApart() {
		return []*pgx.Conn{s.conn, s.source}
	}
	return []*pgx.Conn{s.conn}
}

// lookingFrom is by what the source is looked at while a transaction of the store is open: that
// transaction, where both are in one database. A statement of another connection sees all that was
// committed before it, as one of the transaction does.
func (s *store) lookingFrom(tx querier) querier {
	if s.isApart() {
		return s.source
	}
	return tx
}

func (s *store) close() {
	if s.conn != nil {
		closeConn(s.conn)
	}
	if s.source != nil && s.isApart() {
		closeConn(s.source)
	}
}
