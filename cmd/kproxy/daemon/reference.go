package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/pool"
	ksync "github.com/kproxy/kproxy/sync"
)

// referrer asks the server that kproxy writes to, again and again, what it is and how far it
// is, and tells the proxy, which has readers on no server that is neither this one nor a copy
// that follows it. It is the same for the process that applies and for those that follow.
type referrer struct {
	logger *slog.Logger
	config func() *config.Config
	syncer *ksync.Syncer
	proxy  *proxy.Server
	wake   chan struct{}

	// What follows belongs to run.

	conn   *pgx.Conn
	source *pgx.Conn      // to the source, where that is in a database of its own and a bound needs it
	under  *config.Config // that conn and source were made under
	last   pool.Reference
	failed string // as the log was told last
}

// referTimeout bounds a look at the server.
const referTimeout = 5 * time.Second

// wakeUp has the server asked at once.
func (r *referrer) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default: // it will be
	}
}

// run tells references until ctx ends.
func (r *referrer) run(ctx context.Context) {
	defer r.removeHeartbeat(context.WithoutCancel(ctx))
	for {
		err := r.look(ctx)
		if ctx.Err() != nil {
			return
		}
		r.note(err)
		timer := time.NewTimer(pool.Pace(r.config().Upstream.MaxStaleness))
		select {
		case <-timer.C:
		case <-r.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// note puts into the log that the server does not answer, and that it does again.
func (r *referrer) note(err error) {
	switch {
	case err == nil && r.failed != "":
		r.logger.Info("the database server that kproxy publishes on answers again")
		r.syncer.Retry()
		r.failed = ""
	case err != nil && r.failed != err.Error():
		r.logger.Warn("the database server that kproxy publishes on does not say what it is", "error", err)
		r.failed = err.Error()
	}
	if err != nil {
		r.hangUp()
	}
}

func (r *referrer) hangUp() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, conn := range []**pgx.Conn{&r.conn, &r.source} {
		if *conn != nil {
			_ = (*conn).Close(ctx)
			*conn = nil
		}
	}
}

// removeHeartbeat takes the process's heartbeat away.
func (r *referrer) removeHeartbeat(ctx context.Context) {
	if r.conn != nil && r.last.Process != "" {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, _ = r.conn.Exec(ctx, "DELETE FROM kproxy_catalog.heartbeat WHERE process = $1", r.last.Process) // others do, in time
	}
	r.hangUp()
}

// look asks the server once, and tells the proxy.
func (r *referrer) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, referTimeout)
	defer cancel()
	c := r.config()
	err := r.connect(ctx, c)
	if err != nil {
		return err
	}
	now := pool.Reference{Sent: time.Now(), Process: r.last.Process, Heartbeat: r.last.Heartbeat}
	bounded := c.Upstream.MaxStaleness > 0
	if bounded {
		if err := r.writeApplied(ctx, c.Slot); err != nil {
			return err
		}
		if now.Source, err = r.identifySource(ctx, c); err != nil {
			return err
		}
	}
	applied := uint64(0)
	// Who has begun goes on: of a reference without a heartbeat of its own, it is not known since
	// when changes are applied.
	if r.proxy.Apart() || now.Heartbeat > 0 {
		if now.Process == "" {
			now.Process = rand.Text()
		}
		now.Heartbeat++
		r.last.Process, r.last.Heartbeat = now.Process, now.Heartbeat // a number is never written twice
		if applied, err = r.beat(ctx, c.Slot, now); err != nil {
			return err
		}
	}
	later, err := r.identify(ctx, c.Slot, &now)
	if err != nil {
		return err
	}
	if bounded {
		// What was applied before the heartbeat is shown by who shows that one.
		if now.Applied = applied; now.Heartbeat == 0 {
			now.Applied = later
		}
	}
	now.Got = time.Now()
	if r.last.Started != "" && r.last.Process == now.Process && now.Process != "" && (now.Identity != r.last.Identity || now.Timeline != r.last.Timeline) {
		// Another history has begun, which must not be taken for the one before.
		r.last = pool.Reference{}
		r.wakeUp()
		return nil
	}
	r.last = now
	r.proxy.Refer(now)
	return nil
}

// connect opens the connection, unless it is there.
func (r *referrer) connect(ctx context.Context, c *config.Config) error {
	if r.conn != nil && r.under == c && !r.conn.IsClosed() {
		return nil
	}
	r.hangUp()
	owner, err := upstream.OwnerConfig(c)
	if err != nil {
		return err
	}
	owner.RuntimeParams["search_path"] = "pg_catalog"
	owner.RuntimeParams["application_name"] = "kproxy"
	owner.RuntimeParams["default_transaction_isolation"] = "read committed"
	owner.RuntimeParams["default_transaction_read_only"] = "off"
	// A heartbeat has to be in the log, and need wait for no standby.
	owner.RuntimeParams["synchronous_commit"] = "local"
	if r.conn, err = pgx.ConnectConfig(ctx, owner); err != nil {
		return fmt.Errorf("connecting as the owner: %w", err)
	}
	r.under = c
	_, err = r.conn.Exec(ctx, "DELETE FROM kproxy_catalog.heartbeat WHERE written_at < pg_catalog.now() - '1 day'::interval")
	if err != nil {
		return fmt.Errorf("removing old heartbeats: %w", err)
	}
	return nil
}

// writeApplied tells other processes how far this one has applied, if it is the one that does.
func (r *referrer) writeApplied(ctx context.Context, slot string) error {
	applied, known := r.syncer.Applied()
	system, timeline := r.last.System, r.last.Timeline
	if r.last.Source.System != "" {
		system, timeline = r.last.Source.System, r.last.Source.Timeline
	}
	if !known || applied.System != system || uint64(applied.Timeline) != timeline {
		return nil
	}
	_, err := r.conn.Exec(ctx, `INSERT INTO kproxy_store.applied AS a (slot, epoch, lsn)
		SELECT p.slot, p.epoch, $3::text::pg_lsn FROM kproxy_store.position p WHERE p.slot = $1 AND p.epoch = $2
		ON CONFLICT (slot) DO UPDATE SET epoch = excluded.epoch, lsn = excluded.lsn
		WHERE (a.epoch, a.lsn) <> (excluded.epoch, excluded.lsn) AND a.epoch <= excluded.epoch`, slot, applied.Epoch, applied.Position.String())
	if err != nil {
		return fmt.Errorf("telling how far changes are applied: %w", err)
	}
	return nil
}

// beat writes a heartbeat, and reads up to where changes were applied before.
func (r *referrer) beat(ctx context.Context, slot string, now pool.Reference) (applied uint64, err error) {
	var lsn int64
	err = r.conn.QueryRow(ctx, `WITH beat AS (
			INSERT INTO kproxy_catalog.heartbeat (process, number, written_at) VALUES ($2, $3, pg_catalog.now())
			ON CONFLICT (process) DO UPDATE SET number = excluded.number, written_at = excluded.written_at)
		SELECT coalesce((SELECT pg_catalog.pg_wal_lsn_diff(a.lsn, '0/0') FROM kproxy_store.applied a WHERE a.slot = $1), 0)::bigint`,
		slot, now.Process, int64(now.Heartbeat)).Scan(&lsn)
	if err != nil {
		return 0, fmt.Errorf("writing a heartbeat: %w", err)
	}
	return uint64(lsn), nil
}

// identifySource asks the source's server what it is, and how far its log is. It is the zero value
// where the source is in the owner's database.
func (r *referrer) identifySource(ctx context.Context, c *config.Config) (s pool.SourceReference, err error) {
	if !c.IsApart() {
		return s, nil
	}
	if r.source == nil || r.source.IsClosed() {
		if r.source, err = connectLog(ctx, c); err != nil {
			return s, err
		}
	}
	var timeline, flushed int64
	err = r.source.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text,
		('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::bigint,
		pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_flush_lsn(), '0/0')::bigint`).Scan(&s.System, &timeline, &flushed)
	if err != nil {
		return s, fmt.Errorf("asking the source's server what it is: %w", err)
	}
	s.Timeline, s.Flushed = uint64(timeline), uint64(flushed)
	return s, nil
}

// connectLog connects to where the source's log is written: the source, or its primary where it is a standby that
// was not promoted.
func connectLog(ctx context.Context, c *config.Config) (*pgx.Conn, error) {
	source, err := upstream.ConnectSource(ctx, c)
	if err != nil || !c.HasPrimary() {
		return source, err
	}
	standby := false
	if err = source.QueryRow(ctx, "SELECT pg_catalog.pg_is_in_recovery()").Scan(&standby); err == nil && !standby {
		return source, nil
	}
	_ = source.Close(context.WithoutCancel(ctx))
	if err != nil {
		return nil, fmt.Errorf("asking the source what it is: %w", err)
	}
	return upstream.ConnectPrimary(ctx, c)
}

// errOwnerOnStandby is what is wrong with a server that cannot be written to.
var errOwnerOnStandby = errors.New("upstream.owner leads to a standby")

// identify reads what the server is and how far its log is, and up to where changes are
// applied.
func (r *referrer) identify(ctx context.Context, slot string, now *pool.Reference) (applied uint64, err error) {
	var standby bool
	var timeline, flushed, lsn int64
	err = r.conn.QueryRow(ctx, `SELECT s.standby, (SELECT system_identifier FROM pg_catalog.pg_control_system())::text,
		(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())::text,
		(pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint::text,
		CASE WHEN s.standby THEN 0 ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::bigint END,
		CASE WHEN s.standby THEN 0 ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_flush_lsn(), '0/0')::bigint END,
		coalesce((SELECT pg_catalog.pg_wal_lsn_diff(a.lsn, '0/0') FROM kproxy_store.applied a WHERE a.slot = $1), 0)::bigint
		FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby OFFSET 0) AS s`, slot).
		Scan(&standby, &now.System, &now.Database, &now.Started, &timeline, &flushed, &lsn)
	if err != nil {
		return 0, fmt.Errorf("asking the server what it is: %w", err)
	}
	if standby {
		return 0, errOwnerOnStandby
	}
	now.Timeline, now.Flushed = uint64(timeline), uint64(flushed)
	return uint64(lsn), nil
}
