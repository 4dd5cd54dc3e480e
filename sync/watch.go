package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// watcher checks the databases on connections and a goroutine of its own: for requests of the
// operator, for definitions, which the stream does not carry, for connections that are open
// only at this end, and for the lag of the slot. It also sends heartbeats to an idle stream.
type watcher struct {
	syncer *Syncer
	shared *shared
	store  store // without connections until the first check, and after one that failed
	// found passes findings to the applier.
	found    chan finding
	beat     time.Time // of the last heartbeat
	slotAt   time.Time // when the slot was last measured
	failures int       // checks that failed in a row
	primary  *pgx.Conn // for heartbeats, where the source is a standby
	seen     []walMark // oldest first; all but the first lie behind the position
}

// finding is something about a table, or of all of them.
type finding struct {
	// err is a *TableError, or another reason to restart the session; nil if the table has only
	// got partitions without rows.
	err error
	// definition is that of the table, since before the position at.
	table      catalog.Name
	definition definition
	at         pglogrepl.LSN
	// timeline is one that the source's server has gone on to; else 0.
	timeline int64
}

// walMark is where the WAL ended at a moment.
type walMark struct {
	at  time.Time
	lsn uint64
}

const (
	watchInterval = time.Second
	// watchTimeout bounds a check; after it, the next one is on another connection.
	watchTimeout = 10 * time.Second
	// slotInterval is how often the slot is measured.
	slotInterval = 5 * time.Second
	// deadAfter is how long an answer is awaited before another connection asks the server whether
	// one will come.
	deadAfter = 15 * time.Second
)

// errRestart ends a session because an operator asked for something.
var errRestart = errors.New("the operator asked for something")

func newWatcher(s *session) *watcher {
	return &watcher{syncer: s.syncer, shared: &s.shared, store: store{slot: s.store.slot, publication: s.store.publication}, found: make(chan finding, 1), beat: time.Now()}
}

// run checks the database until ctx ends. A failed check does not end the session.
func (w *watcher) run(ctx context.Context) {
	defer func() { w.store.close(); w.closePrimary() }()
	for sleep(ctx, watchInterval) == nil {
		err := guard(w.syncer.config.Logger, func() error { return w.check(ctx) })
		if err == nil {
			w.failures = 0
		}
		halt, stop := (*TableError)(nil), (*StopError)(nil)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.As(err, &halt), errors.As(err, &stop), errors.Is(err, errRestart):
			w.report(finding{err: err})
		default:
			w.failed(err)
			w.store.close()
			w.store.conn, w.store.source = nil, nil
		}
	}
}

// failed logs a failed check, as a warning after warnAfter in a row, since changes of
// definitions go unnoticed meanwhile.
func (w *watcher) failed(err error) {
	level := slog.LevelDebug
	if w.failures++; w.failures == warnAfter {
		level = slog.LevelWarn
	}
	w.syncer.config.Logger.Log(context.Background(), level, "looks at the database fail", "error", err)
}

// warnAfter is the number of failed checks in a row after which the log warns.
const warnAfter = 5

// report passes a finding to the applier, unless one is waiting.
func (w *watcher) report(f finding) {
	select {
	case w.found <- f:
	default: // the next check finds it again
	}
}

func (w *watcher) check(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	if w.store.conn == nil {
		if w.store.conn, w.store.source, err = w.syncer.openBoth(ctx, followerName); err != nil {
			return err
		}
	}
	for _, one := range []func(context.Context) error{w.checkConnections, w.checkRequests, w.checkDefinitions, w.checkHalted, w.checkTimeline, w.checkSlot} {
		if err := one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkRequests finds requests of the operator that are not being handled.
func (w *watcher) checkRequests(ctx context.Context) error {
	if w.shared.watching.Load() == nil {
		return nil
	}
	rows, err := w.store.conn.Query(ctx, "SELECT table_schema, table_name FROM kproxy_store.generation WHERE asked IS NOT NULL")
	if err != nil {
		return fmt.Errorf("looking for requests: %w", err)
	}
	asked, err := pgx.CollectRows(rows, pgx.RowToStructByPos[catalog.Name])
	if err != nil {
		return fmt.Errorf("looking for requests: %w", err)
	}
	may, err := w.syncer.mayApply(ctx, w.store.conn)
	if err != nil {
		return err
	}
	if !may {
		return errRestart // the operator has accepted another policy
	}
	tables := w.syncer.Status().Tables
	for _, name := range asked {
		if status, configured := tables[name]; configured && !status.Preparing {
			return errRestart
		}
	}
	return nil
}

// watchedTable is a table whose definition is checked. Of the table itself, the watcher reads only what
// never changes.
type watchedTable struct {
	table      *table
	definition definition
}

// watch passes the applied tables to the watcher.
func (s *session) watch() {
	watched := make([]watchedTable, 0, len(s.tables))
	for _, t := range s.tables {
		watched = append(watched, watchedTable{t, t.definition})
	}
	s.shared.watching.Store(&watched)
}

// checkDefinitions compares the tables with what they were when their stores were
// compared with their sources.
func (w *watcher) checkDefinitions(ctx context.Context) error {
	watched := w.shared.watching.Load()
	if watched == nil {
		return nil
	}
	for _, t := range *watched {
		now, absent, err := t.table.layout.source().readDefinition(ctx, w.store.source, w.syncer.config.Publication, t.definition.bound)
		if err != nil {
			return err
		}
		if !absent && now.text() == t.definition.text() {
			continue
		}
		empty, err := w.onlyEmptier(ctx, t.definition, now)
		if err != nil {
			return err
		}
		f := finding{table: t.table.layout.name(), definition: now}
		if err := w.store.source.QueryRow(ctx, "SELECT ("+sourceEnd+")::text").Scan(&f.at); err != nil {
			return fmt.Errorf("reading the end of the log: %w", err)
		}
		if e := t.table.layout.source().differs(now, t.definition.text()); absent || e.afresh || !empty {
			f.err = e
		}
		w.report(f)
	}
	return nil
}

// checkHalted finds halted tables whose definition is again the accepted one, and ends the session so
// that they go on.
func (w *watcher) checkHalted(ctx context.Context) error {
	if w.shared.watching.Load() == nil {
		return nil
	}
	statuses := w.syncer.Status().Tables
	for _, p := range w.syncer.configured() {
		if statuses[p.Policy.Table].State != Halted || p.Relation.OID == 0 {
			continue
		}
		healed, err := w.hasHealed(ctx, p)
		if err != nil {
			return err
		}
		if healed {
			w.syncer.config.Logger.Info("a table is again what was accepted, and goes on", "relation", p.Policy.Table)
			return errRestart
		}
	}
	return nil
}

func (w *watcher) hasHealed(ctx context.Context, p catalog.Publication) (bool, error) {
	t, err := newTable(p)
	if err != nil {
		return false, nil //nolint:nilerr // it is looked at when the configuration is taken over
	}
	found, err := w.store.generations(ctx)
	if err != nil {
		return false, err
	}
	g, known := found[t.layout.name()]
	if !known || !g.mayHeal() || !g.isMark() && !t.layout.fits(g) {
		return false, nil
	}
	bound, err := w.store.accepted(ctx, t, g, known)
	if err == nil {
		_, _, err = t.layout.source().readDefinition(ctx, w.store.source, w.syncer.config.Publication, bound)
	}
	if halt := (*TableError)(nil); errors.As(err, &halt) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return w.store.mayRead(ctx, t.layout.name())
}

// onlyEmptier reports whether partitions without rows are the only change: rows that they get from
// now on are in the stream.
func (w *watcher) onlyEmptier(ctx context.Context, before, now definition) (bool, error) {
	more, only := now.grown(before)
	if !only {
		return false, nil
	}
	for _, leaf := range more {
		// By its size, since the owner need not be allowed to read a partition by itself.
		var size int64
		if err := w.store.source.QueryRow(ctx, "SELECT coalesce(pg_catalog.pg_relation_size($1::oid::regclass), 0)", leaf).Scan(&size); err != nil {
			return false, fmt.Errorf("looking at a new partition: %w", err)
		}
		if size > 0 {
			return false, nil
		}
	}
	return true, nil
}

// checkSlot measures how far the slot is behind, and gives an idle stream a message.
func (w *watcher) checkSlot(ctx context.Context) error {
	if w.shared.watching.Load() == nil || time.Since(w.slotAt) < slotInterval {
		return nil
	}
	w.slotAt = time.Now()
	var status SlotStatus
	stored, known, err := w.store.storedPosition(ctx)
	if err != nil || !known {
		return err
	}
	var end uint64
	err = w.store.source.QueryRow(ctx, `SELECT coalesce(pg_catalog.pg_wal_lsn_diff(log.at, s.restart_lsn), 0)::bigint, coalesce(s.wal_status, ''),
		coalesce(pg_catalog.pg_wal_lsn_diff(log.at, '0/0'), 0)::bigint
		FROM (SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN greatest(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn())
			ELSE pg_catalog.pg_current_wal_lsn() END) AS log(at) LEFT JOIN pg_catalog.pg_replication_slots s ON s.slot_name = $1`, w.syncer.config.Slot).
		Scan(&status.Retained, &status.WALStatus, &end)
	if err != nil {
		return fmt.Errorf("measuring the slot: %w", err)
	}
	position := uint64(stored.lsn)
	status.Behind = w.behind(end, max(position, w.shared.consumed.Load()))
	w.syncer.mu.Lock()
	w.syncer.status.Slot = status
	w.syncer.mu.Unlock()
	w.syncer.notify()
	return w.heartbeat(ctx, end > position)
}

// behind returns how long ago the WAL ended at the position, as far as marks tell. There is one
// mark for each check since the oldest that the position has not reached.
func (w *watcher) behind(end, position uint64) time.Duration {
	w.seen = append(w.seen, walMark{at: time.Now(), lsn: end})
	for len(w.seen) > 0 && w.seen[0].lsn <= position {
		w.seen = w.seen[1:]
	}
	if len(w.seen) > maxMarks { // the oldest stays, others thin out
		kept := w.seen[:1]
		for i := 2; i < len(w.seen); i += 2 {
			kept = append(kept, w.seen[i])
		}
		w.seen = kept
	}
	if len(w.seen) == 0 {
		return 0
	}
	return time.Since(w.seen[0].at)
}

const maxMarks = 1024

// heartbeat writes a message into the WAL if something was written since the last one, so that
// the slot of an idle stream releases the WAL of others. PostgreSQL 13 does not send messages;
// there, keepalives have this effect.
func (w *watcher) heartbeat(ctx context.Context, behind bool) error {
	if !behind || time.Since(w.beat) < w.syncer.config.Heartbeat {
		return nil
	}
	w.beat = time.Now()
	return w.writeBeat(ctx)
}
