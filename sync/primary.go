package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/repeats"
)

// The source can be a physical standby (PostgreSQL 16 and later): the slot is on it, its log is decoded
// there, and tables are read there. Of the primary kproxy then asks what only a primary can write: a
// heartbeat, and, while a slot is made, a record of the transactions that run, for which decoding on a
// standby waits (PostgreSQL, chapter Logical Decoding Concepts). Whatever the primary refuses, or does
// not answer, leaves applying as it is.

// standbyDecodes is the first server that decodes as a standby.
const standbyDecodes = 160000

// sourceEnd is how far the log of the source's server is. On a standby it is at least the end of the record
// that is being replayed, of which a session may see the effect already.
const sourceEnd = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN greatest(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn())
	ELSE pg_catalog.pg_current_wal_insert_lsn() END`

// checkRole refuses a server that decodes nothing for kproxy: a standby that was not meant to be the
// source, or one that is too old.
func (s *session) checkRole(ctx context.Context) error {
	for _, conn := range s.store.connections() {
		var standby bool
		var version int
		err := conn.QueryRow(ctx, "SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('server_version_num')::int").Scan(&standby, &version)
		if err != nil {
			return fmt.Errorf("asking the server what it is: %w", err)
		}
		switch {
		case !standby:
		case s.syncer.config.Primary == nil || !s.store.isApart() || conn != s.store.source:
			return errors.New("the server is a standby that was not promoted")
		case version < standbyDecodes:
			return &StopError{What: "the source is a standby of a version before PostgreSQL 16, which decodes nothing", Fix: "let source lead to the primary, without source.primary"}
		default:
			s.store.standby = true
		}
	}
	return nil
}

// awaitReplay makes sure that the standby has replayed what the store shows: one that was started anew, or
// that follows in another's place, may be behind for a while.
func (s *store) awaitReplay(ctx context.Context, stored storedPosition) error {
	if !s.standby {
		return nil
	}
	var replayed bool
	err := s.source.QueryRow(ctx, "SELECT NOT pg_catalog.pg_is_in_recovery() OR pg_catalog.pg_last_wal_replay_lsn() >= $1::text::pg_lsn", stored.lsn.String()).Scan(&replayed)
	if err != nil {
		return fmt.Errorf("asking how far the standby is: %w", err)
	}
	if !replayed {
		return fmt.Errorf("the source is a standby that has not replayed the log up to %s yet, which the store shows", stored.lsn)
	}
	return nil
}

// openPrimary connects to the primary of a source that is a standby.
func (s *Syncer) openPrimary(ctx context.Context) (*pgx.Conn, error) {
	s.mu.Lock()
	primary := s.primary
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, deadAfter)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.connection(primary, followerName))
	if err != nil {
		return nil, fmt.Errorf("connecting to the primary: %w", Reason(err))
	}
	return conn, nil
}

// snapshotInterval is how often the primary is asked for a record of the transactions that run. Where some
// of them write, making a slot takes several.
const snapshotInterval = 500 * time.Millisecond

// logSnapshots has the primary write a record of the transactions that run, time and again, until ctx ends.
// A role that may not call the function writes a heartbeat: the primary's background writer follows it
// with such a record within 15 seconds.
func (s *Syncer) logSnapshots(ctx context.Context) {
	if s.config.Primary == nil {
		return
	}
	conn, err := s.openPrimary(ctx)
	if err == nil {
		defer closeConn(conn)
	}
	statement := "SELECT pg_catalog.pg_log_standby_snapshot()"
	for err == nil {
		if _, err = conn.Exec(ctx, statement); hasState(err, insufficientPrivilege) {
			s.config.Logger.Info("the primary does not let kproxy speed up making a slot on its standby", "error", err, "fix", "run 'kproxy setup --side source'")
			statement = emitHeartbeat
			_, err = conn.Exec(ctx, statement)
		}
		if err == nil {
			s.notePrimary(nil)
			err = sleep(ctx, snapshotInterval)
		}
	}
	if ctx.Err() == nil {
		s.notePrimary(err)
	}
}

const emitHeartbeat = "SELECT pg_catalog.pg_logical_emit_message(true, 'kproxy', '')"

// notePrimary has log and status tell that the primary does not do its part, nil that it does. Nobody waits for
// it: the standby is read on.
func (s *Syncer) notePrimary(err error) {
	problem := ""
	if err != nil {
		problem = "the primary of the source does not take what kproxy writes there: " + err.Error()
		s.repeats.Note(s.config.Logger, slog.LevelWarn, repeats.Key{Kind: "primary", Who: err.Error()}, problem, "fix", fixPrimary)
	}
	s.mu.Lock()
	changed := s.status.Primary != problem
	s.status.Primary = problem
	s.mu.Unlock()
	if changed {
		s.notify()
	}
}

const fixPrimary = "let source.primary lead to the primary of the source's standby, and run 'kproxy setup --side source' there"

// writeBeat writes a heartbeat: at the source, or at the primary where that is a standby.
func (w *watcher) writeBeat(ctx context.Context) error {
	on := w.store.source
	if w.syncer.config.Primary != nil {
		var standby bool
		var system string
		err := on.QueryRow(ctx, "SELECT pg_catalog.pg_is_in_recovery(), (SELECT system_identifier FROM pg_catalog.pg_control_system())::text").Scan(&standby, &system)
		if err != nil {
			return fmt.Errorf("asking the source what it is: %w", err)
		}
		if standby {
			w.syncer.notePrimary(w.beatPrimary(ctx, system))
			return nil
		}
		w.syncer.notePrimary(nil) // the source is one itself by now
	}
	if _, err := on.Exec(ctx, emitHeartbeat); err != nil {
		return fmt.Errorf("writing a heartbeat: %w", err)
	}
	return nil
}

// beatPrimary writes a heartbeat at the primary, on a connection that is kept. A server of another system
// than the standby is none of its primaries.
func (w *watcher) beatPrimary(ctx context.Context, system string) (err error) {
	defer func() {
		if err != nil {
			w.closePrimary()
		}
	}()
	if w.primary == nil {
		if w.primary, err = w.syncer.openPrimary(ctx); err != nil {
			return err
		}
		var of string
		if err = w.primary.QueryRow(ctx, "SELECT system_identifier::text FROM pg_catalog.pg_control_system()").Scan(&of); err != nil {
			return fmt.Errorf("asking the primary what it is: %w", err)
		}
		if of != system {
			return fmt.Errorf("the server at source.primary has system identifier %s, and the source %s: the one is not the other's standby", of, system)
		}
	}
	_, err = w.primary.Exec(ctx, emitHeartbeat)
	return err
}

func (w *watcher) closePrimary() {
	if w.primary != nil {
		closeConn(w.primary)
		w.primary = nil
	}
}

// checkTimeline finds that the source's server goes on on another timeline: the standby was promoted, or
// follows another primary. On a standby this is known from its first restart point there.
func (w *watcher) checkTimeline(ctx context.Context) error {
	if w.syncer.config.Primary == nil || w.shared.watching.Load() == nil {
		return nil
	}
	timeline, err := timelineOf(ctx, w.store.source)
	if err != nil {
		return err
	}
	if timeline > w.shared.timeline.Load() {
		w.report(finding{timeline: timeline})
	}
	return nil
}

func timelineOf(ctx context.Context, source querier) (timeline int64, err error) {
	err = source.QueryRow(ctx, `SELECT CASE WHEN standby THEN (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())::bigint
			ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END
		FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby OFFSET 0) AS s`).Scan(&timeline)
	if err != nil {
		return 0, fmt.Errorf("asking the source for its timeline: %w", err)
	}
	return timeline, nil
}

// moveTimeline notes that the position is one of the timeline that the source's server is on now. The stream has not
// broken: what it sends is of that server's history, on whichever timeline. That is certain for the server that
// the stream comes from alone, and another session may be at another one, behind the same name.
func (s *session) moveTimeline(ctx context.Context) error {
	var sends bool
	err := s.store.source.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_replication_slots WHERE slot_name = $1 AND active_pid = $2)",
		s.store.slot, int32(s.replication.PID())).Scan(&sends)
	if err != nil || !sends {
		return errors.Join(errors.New("the session at the source is at another server than the stream"), err)
	}
	timeline, err := timelineOf(ctx, s.store.source)
	if err != nil {
		return err
	}
	tag, err := s.store.conn.Exec(ctx, "UPDATE kproxy_store.position SET timeline = $3 WHERE slot = $1 AND epoch = $2", s.store.slot, s.store.epoch, timeline)
	if err != nil {
		return fmt.Errorf("noting the timeline of the source: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errFenced
	}
	s.syncer.config.Logger.Info("the source's server goes on on another timeline, and the stream with it", "timeline", timeline)
	s.store.timeline = timeline
	s.shared.timeline.Store(timeline)
	s.progressed.timeline.Store(timeline)
	return nil
}

// serverMajor is the major version of the server of a connection for replication; 0 where it does not say.
func serverMajor(conn *pgconn.PgConn) int {
	text := conn.ParameterStatus("server_version")
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	number, err := strconv.Atoi(text[:end])
	if err != nil {
		return 0
	}
	return number
}
