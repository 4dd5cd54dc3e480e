package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// watchEvery is how often each host is asked, at least.
	watchEvery = time.Second
	// watchCatchUp is how often one is asked that has yet to show what NotBefore says.
	watchCatchUp = 50 * time.Millisecond
	// watchCatchUpFor is for how long that is done.
	watchCatchUpFor = 30 * time.Second
	// goodFor is for how long a host stays good for its sessions that does not answer.
	goodFor = 15 * time.Second
	// watchTimeout is how long one may take to answer, or to take a connection.
	watchTimeout = 5 * time.Second
	// watchGrace is how long sessions wait for what all hosts have to say, when there is a
	// new configuration, and do with what was known before.
	watchGrace = time.Second
	// watchName is the application_name of the connections that ask.
	watchName = "kproxy watches servers"
)

// Question is what each host is asked; [ReadAnswer] reads what it says. A standby says on which timeline it is by its
// control file, so some minutes after a promotion at most. One that is promoted in
// between the parts of the question fails it once.
const Question = `SELECT s.standby::pg_catalog.text,
 (CASE WHEN s.standby THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_lsn() END OPERATOR(pg_catalog.-) '0/0'::pg_catalog.pg_lsn)::pg_catalog.text,
 CASE WHEN s.standby
 THEN (SELECT GREATEST(c.timeline_id, r.min_recovery_end_timeline) FROM pg_catalog.pg_control_checkpoint() AS c, pg_catalog.pg_control_recovery() AS r)::pg_catalog.int8
 ELSE ('x' OPERATOR(pg_catalog.||) pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::pg_catalog.bit(32)::pg_catalog.int8 END::pg_catalog.text,
 ` + identityColumns + `
FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby OFFSET 0) AS s`

// identityColumns are those of an Identity.
const identityColumns = `(SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c)::pg_catalog.text,
 (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())::pg_catalog.text,
 (pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time()) OPERATOR(pg_catalog.*) 1000000::pg_catalog.float8)::pg_catalog.int8::pg_catalog.text`

// heartbeatOf asks for the last heartbeat of a process, after the question: what the host
// has replayed by then, it shows.
func heartbeatOf(process string) string {
	return "; SELECT coalesce((SELECT h.number FROM kproxy_catalog.heartbeat AS h WHERE h.process OPERATOR(pg_catalog.=) '" +
		strings.ReplaceAll(process, "'", "''") + "'), 0)::pg_catalog.text"
}

// watch asks the hosts again and again what they are and how far they are.
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
	all     chan struct{}  // closed when none is missing, and there is a reference
}

// rewatch begins to watch the hosts of the configuration, if they are to follow a
// reference, and ends the former watch. Mu is held.
func (p *Pool) rewatch() {
	if p.watch != nil {
		p.watch.stop()
		p.watch = nil
	}
	bound := p.config.MaxStaleness
	for _, h := range p.hosts.all {
		switch {
		case !p.config.Referred:
			h.behind.Store(false)
			h.freshUntil.Store(always)
			h.goodUntil.Store(always)
		case bound == 0:
			h.freshUntil.Store(always)
		case h.freshUntil.Load() == always:
			h.freshUntil.Store(0) // nothing is known yet
		}
		if p.config.Referred && h.goodUntil.Load() == always {
			h.goodUntil.Store(0)
		}
	}
	if !p.config.Referred {
		return
	}
	p.history.reach(bound)
	ctx, stop := context.WithCancel(context.Background())
	w := &watch{
		pool: p, hosts: p.hosts.all, role: p.config.Roles[""], log: p.config.Logger, every: Pace(bound), stop: stop, began: time.Now(),
		cluster: newCluster(len(p.hosts.all), &p.history), missing: map[*host]bool{}, all: make(chan struct{}),
	}
	p.watch = w
	for _, h := range p.hosts.all {
		w.missing[h] = true
		w.wake = append(w.wake, make(chan struct{}, 1))
	}
	for i := range p.hosts.all {
		p.background.Go(func() { w.run(ctx, i) })
	}
}

// Pace is how often hosts must be asked, and references taken, for a bound of staleness; 0 = there
// is none.
func Pace(bound time.Duration) time.Duration {
	if bound == 0 {
		return watchEvery
	}
	return min(watchEvery, bound/8)
}

// Refer tells the pool what the server that kproxy writes to says of itself, again and
// again: see Config.Referred.
func (p *Pool) Refer(r Reference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.config.Referred || isClosed(p.closed) {
		return
	}
	p.start()
	first, process := !p.history.known, p.history.last.Process
	p.watch.cluster.refer(r)
	p.watch.judgeAll()
	if first || process != r.Process {
		p.watch.wakeAll() // whether they show a heartbeat of this name
	}
	p.slots.serve()
}

// Apart tells whether a host has answered that is not the server that kproxy writes to, so
// that heartbeats are needed to know whom it follows.
func (p *Pool) Apart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.hosts.all) > 1 {
		return true
	}
	if p.watch == nil {
		return false
	}
	for i := range p.hosts.all {
		if m := p.watch.cluster.members[i]; m.known && p.watch.cluster.role(i) != primary {
			return true
		}
	}
	return false
}

// NotBefore has sessions read nothing older than what was committed before a moment, on
// the clock of this process. A standby is not used, and Link.Fresh is false of sessions on
// it, until it shows a heartbeat that was written later; the primary always shows it.
// Without references it changes nothing. Later moments replace earlier ones.
func (p *Pool) NotBefore(least time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !least.After(p.history.least) {
		return
	}
	p.history.require(least)
	if !p.config.Referred {
		return
	}
	for _, h := range p.hosts.all {
		h.behind.Store(h.role != primary)
	}
	if p.watch != nil {
		p.watch.wakeAll()
	}
}

// wake asks a host at once.
func (p *Pool) wake(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch == nil {
		return
	}
	if i := slices.Index(p.watch.hosts, h); i >= 0 {
		p.watch.wakeUp(i)
	}
}

func (w *watch) wakeUp(i int) {
	select {
	case w.wake[i] <- struct{}{}:
	default: // it is awake
	}
}

// wakeAll asks all hosts at once.
func (w *watch) wakeAll() {
	for i := range w.wake {
		w.wakeUp(i)
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
		w.record(i, r, err)
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
	if failed || !w.hosts[i].behind.Load() || time.Since(w.required()) > watchCatchUpFor {
		return nil
	}
	return time.After(watchCatchUp)
}

// ask asks a host, over a connection that is kept for it; after an error it is gone.
func (w *watch) ask(ctx context.Context, i int, pg **pgconn.PgConn) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	if *pg == nil {
		conn, err := connectWatch(ctx, w.hosts[i], w.role)
		if err != nil {
			return reading{}, err
		}
		*pg = conn
	}
	text, process := Question, w.process()
	if process != "" {
		text += heartbeatOf(process)
	}
	sent := time.Now()
	results, err := (*pg).Exec(ctx, text).ReadAll()
	r := reading{sent: sent, got: time.Now(), process: process}
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

// connectWatch makes the connection over which a host is asked.
func connectWatch(ctx context.Context, h *host, role *pgconn.Config) (*pgconn.PgConn, error) {
	config := h.only(role)
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
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, ofQuestions).ReadAll(); err != nil {
		_ = conn.Conn().Close()
		return nil, fmt.Errorf("preparing to ask a server where it is: %w", err)
	}
	return conn, nil
}

// ofQuestions makes each part of the query see what is there when that part begins. It is not in
// the startup packet, because poolers accept little of it.
const ofQuestions = "SET default_transaction_isolation = 'read committed'"

// parse reads the answer to the question, and to the one after the heartbeat.
func (r *reading) parse(results []*pgconn.Result) error {
	parts := 1
	if r.process != "" {
		parts = 2
	}
	if len(results) != parts || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 6 {
		return errMalformed
	}
	said, err := ReadAnswer(results[:1])
	if err != nil {
		return err
	}
	r.Identity, r.recovering, r.position, r.timeline = said.Identity, said.Recovering, said.Position, said.Timeline
	if parts == 2 {
		if len(results[1].Rows) != 1 || len(results[1].Rows[0]) != 1 {
			return errMalformed
		}
		if r.heartbeat, err = strconv.ParseUint(string(results[1].Rows[0][0]), 10, 64); err != nil {
			return errMalformed
		}
	}
	return nil
}

// Answer is what a server says of itself.
type Answer struct {
	Identity
	Recovering bool   // it is a standby
	Position   uint64 // of its log: written, by a primary; replayed, by a standby
	Timeline   uint64 // on which it is, as far as is known
}

// ReadAnswer reads the answer to [Question].
func ReadAnswer(results []*pgconn.Result) (Answer, error) {
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 6 {
		return Answer{}, errMalformed
	}
	row := results[0].Rows[0]
	said := Answer{Recovering: string(row[0]) == "true", Identity: Identity{string(row[3]), string(row[4]), string(row[5])}}
	var wrong, failed error
	said.Position, wrong = strconv.ParseUint(string(row[1]), 10, 64)
	said.Timeline, failed = strconv.ParseUint(string(row[2]), 10, 32)
	if wrong != nil || failed != nil {
		return Answer{}, errors.New("the server has no position in its log")
	}
	return said, nil
}

// required is when something was required last.
func (w *watch) required() time.Time {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	return w.pool.history.least
}

// process is the name under which heartbeats are written.
func (w *watch) process() string {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	return w.pool.history.last.Process
}

// record takes what a host has said, or that it has not.
func (w *watch) record(i int, r reading, err error) {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch != w {
		return
	}
	if err == nil && w.hosts[i].trouble != nil {
		for _, c := range w.hosts[i].circuits {
			c.answered(time.Now())
		}
	}
	w.hosts[i].trouble = err
	if err != nil {
		w.cluster.lost(i)
	} else {
		w.cluster.observe(i, r)
		if was := w.hosts[i].identity.Load(); was == nil || *was != r.Identity {
			w.hosts[i].identity.Store(&r.Identity)
		}
	}
	delete(w.missing, w.hosts[i])
	w.judgeAll()
}

// judgeAll has the pool know what the hosts are now, once all have had the time to answer.
func (w *watch) judgeAll() {
	if len(w.missing) == 0 && w.cluster.known && !isClosed(w.all) {
		close(w.all)
	}
	if !isClosed(w.all) && time.Since(w.began) < watchGrace {
		return
	}
	for i, h := range w.hosts {
		w.judge(i, h)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// judge has the pool know what a host is now, and until when it is good and fresh. Of a
// host that does not answer it stays what it was: what was true of a moment stays so.
func (w *watch) judge(i int, h *host) {
	now, m := w.cluster.role(i), w.cluster.members[i]
	h.silent = m.silent || !m.known
	if h.role != now {
		h.role = now
		w.logRole(h)
	}
	if m.known {
		h.behind.Store(!w.cluster.complete(i))
		good := int64(0)
		if now.serves() {
			good = int64(m.last.sent.Add(goodFor).Sub(epoch))
		}
		h.goodUntil.Store(good)
	}
	bound := w.pool.config.MaxStaleness
	switch shows := w.cluster.shows(i); {
	case bound == 0:
	case !shows.IsZero():
		h.freshUntil.Store(int64(shows.Add(bound).Sub(epoch)))
	case m.known && !now.serves():
		h.freshUntil.Store(0)
	}
}

// logRole puts into the log what a host is now.
func (w *watch) logRole(h *host) {
	level, fields := slog.LevelInfo, []any{"host", h.host, "port", h.port}
	if fix := h.role.fix(); fix != "" {
		level, fields = slog.LevelError, append(fields, "fix", fix)
	}
	w.log.Log(context.Background(), level, "a database server is now "+h.role.String(), fields...)
}
