package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// watchEvery is how often each host is asked, at least.
	watchEvery = time.Second
	// watchCatchUp is how often one is asked that has yet to show what NotBefore says.
	watchCatchUp = 50 * time.Millisecond
	// watchTimeout is how long one may take to answer, or to take a connection.
	watchTimeout = 5 * time.Second
	// watchGrace is how long sessions wait for what all hosts have to say, when there is a
	// new configuration, and do with what was known before.
	watchGrace = time.Second
	// watchName is the application_name of the connections that ask.
	watchName = "kproxy watches servers"
)

// question is what each host is asked. A standby says on which timeline it is by its
// control file, so some minutes after a promotion at most. One that is promoted in
// between the parts of the question fails it once.
const question = `SELECT s.standby::pg_catalog.text,
 (CASE WHEN s.standby THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_lsn() END OPERATOR(pg_catalog.-) '0/0'::pg_catalog.pg_lsn)::pg_catalog.text,
 CASE WHEN s.standby
 THEN (SELECT GREATEST(c.timeline_id, r.min_recovery_end_timeline) FROM pg_catalog.pg_control_checkpoint() AS c, pg_catalog.pg_control_recovery() AS r)::pg_catalog.int8
 ELSE ('x' OPERATOR(pg_catalog.||) pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::pg_catalog.bit(32)::pg_catalog.int8 END::pg_catalog.text,
 (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c)::pg_catalog.text
FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby OFFSET 0) AS s`

// watch asks several hosts again and again what they are and how far they are.
type watch struct {
	pool    *Pool
	hosts   []*host
	role    *pgconn.Config
	log     *slog.Logger
	every   time.Duration
	stop    context.CancelFunc
	cluster *cluster // guarded by Pool.mu

	wake    []chan struct{} // asks a host at once
	began   time.Time
	missing map[*host]bool // guarded by Pool.mu: have not answered, nor failed to, once
	all     chan struct{}  // closed when none is missing
}

// rewatch begins to watch the hosts of the configuration, if there are several, and ends
// the former watch. Mu is held.
func (p *Pool) rewatch() {
	former := p.watch
	if former != nil {
		former.stop()
		p.watch = nil
	}
	bound := p.config.MaxStaleness
	for _, h := range p.hosts {
		if len(p.hosts) == 1 {
			h.behind.Store(false)
		}
		if bound == 0 {
			h.freshUntil.Store(always)
		} else if h.freshUntil.Load() == always {
			h.freshUntil.Store(0) // nothing is known yet
		}
	}
	if len(p.hosts) == 1 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &watch{
		pool: p, hosts: p.hosts, role: p.config.Roles[""], log: p.config.Logger, every: watchEvery, stop: stop, began: time.Now(),
		cluster: newCluster(len(p.hosts), bound), missing: map[*host]bool{}, all: make(chan struct{}),
	}
	if bound > 0 {
		w.every = min(w.every, bound/4)
	}
	if former != nil && slices.Equal(former.hosts, w.hosts) {
		w.cluster.inherit(former.cluster)
	} else {
		w.cluster.require(p.notBefore)
	}
	p.watch = w
	for _, h := range p.hosts {
		w.missing[h] = true
		w.wake = append(w.wake, make(chan struct{}, 1))
	}
	for i := range p.hosts {
		p.background.Go(func() { w.run(ctx, i) })
	}
}

// NotBefore has sessions read nothing older than what was committed before a moment, on
// the clock of this process. A standby is not used, and Link.Fresh is false of sessions on
// it, until it is known to have replayed that; the primary always shows it. With one host
// it changes nothing. Later moments replace earlier ones.
func (p *Pool) NotBefore(least time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !least.After(p.notBefore) {
		return
	}
	p.notBefore = least
	if len(p.hosts) == 1 {
		return
	}
	for _, h := range p.hosts {
		h.behind.Store(h.standing != primary)
	}
	if p.watch == nil {
		return
	}
	p.watch.cluster.require(least)
	for _, wake := range p.watch.wake {
		select {
		case wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// seen waits until each host has been asked once, or a little while.
func (w *watch) seen(ctx context.Context) error {
	select {
	case <-w.all:
		return nil
	default:
	}
	select {
	case <-w.all:
		return nil
	case <-time.After(watchGrace - time.Since(w.began)):
		return nil
	case <-w.pool.closed:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run watches one host.
func (w *watch) run(ctx context.Context, i int) {
	var pg *pgconn.PgConn
	defer func() {
		if pg != nil {
			_ = pg.Conn().Close()
		}
	}()
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	failed := false
	for {
		r, err := w.ask(ctx, i, &pg)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failed {
			w.log.Warn("a database server does not answer", "host", w.hosts[i].host, "port", w.hosts[i].port, "error", err)
		}
		failed = err != nil
		w.told(i, r, err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.wake[i]:
		case <-w.soon(i, failed):
		}
	}
}

// soon is when a host that is behind, and answers, is asked again; nil = no sooner than
// others.
func (w *watch) soon(i int, failed bool) <-chan time.Time {
	if failed || !w.hosts[i].behind.Load() {
		return nil
	}
	return time.After(watchCatchUp)
}

// ask asks a host, over a connection that is kept for it; after an error it is gone.
func (w *watch) ask(ctx context.Context, i int, pg **pgconn.PgConn) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	if *pg == nil {
		conn, err := w.connect(ctx, i)
		if err != nil {
			return reading{}, err
		}
		*pg = conn
	}
	sent := time.Now()
	results, err := (*pg).Exec(ctx, question).ReadAll()
	r := reading{sent: sent, got: time.Now()}
	if err == nil {
		err = r.parse(results)
	}
	if err != nil {
		_ = (*pg).Conn().Close()
		*pg = nil
		return reading{}, fmt.Errorf("asking a server where it is: %w", err)
	}
	return r, nil
}

func (w *watch) connect(ctx context.Context, i int) (*pgconn.PgConn, error) {
	config := w.hosts[i].only(w.role)
	config.RuntimeParams[nameParameter] = watchName
	delete(config.RuntimeParams, "idle_session_timeout")
	config.MaxProtocolMessageBodyLen = maxAnswerBytes
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetKeepAliveConfig(keepAlive)
		}
		return conn, err
	}
	return pgconn.ConnectConfig(ctx, config)
}

// parse reads the answer to the question.
func (r *reading) parse(results []*pgconn.Result) error {
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 4 {
		return errMalformed
	}
	row := results[0].Rows[0]
	r.recovering, r.system = string(row[0]) == "true", string(row[3])
	var err, failed error
	r.position, err = strconv.ParseUint(string(row[1]), 10, 64)
	r.timeline, failed = strconv.ParseUint(string(row[2]), 10, 32)
	if err != nil || failed != nil {
		return errors.New("the server has no position in its log")
	}
	return nil
}

// told takes what a host has said, or that it has not.
func (w *watch) told(i int, r reading, err error) {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch != w {
		return
	}
	if err != nil {
		w.cluster.lost(i)
	} else {
		w.cluster.observe(i, r)
	}
	if w.missing[w.hosts[i]] {
		delete(w.missing, w.hosts[i])
		if len(w.missing) == 0 {
			close(w.all)
		}
	}
	if len(w.missing) > 0 && time.Since(w.began) < watchGrace {
		return
	}
	for j, h := range w.hosts {
		w.judge(j, h)
	}
}

// judge has the pool know what a host is now, and until when it is fresh. Of a host that
// does not answer it stays what it was: what was true of a moment stays so.
func (w *watch) judge(i int, h *host) {
	now := w.cluster.standing(i)
	if h.standing != now {
		h.standing = now
		w.log.Info("a database server is now "+now.String(), "host", h.host, "port", h.port)
	}
	if w.cluster.members[i].known {
		h.behind.Store(!w.cluster.complete(i))
	}
	bound := w.pool.config.MaxStaleness
	switch asOf := w.cluster.asOf(i); {
	case bound == 0:
	case !asOf.IsZero():
		h.freshUntil.Store(int64(asOf.Add(bound).Sub(epoch)))
	case w.cluster.members[i].known && now == unknown:
		h.freshUntil.Store(0)
	}
}

// String is the standing in words.
func (s standing) String() string {
	switch s {
	case primary:
		return "the primary"
	case standby:
		return "a standby"
	default:
		return "unknown"
	}
}
