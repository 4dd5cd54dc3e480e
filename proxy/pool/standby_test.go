package pool_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/proxy/pool"
)

// pair is a primary with a standby, and a role that may read both.
type pair struct {
	primary, standby *pgserver.Server
	dsn              string // of the primary
	role             *pgconn.Config
}

func startPair(t *testing.T) *pair {
	t.Helper()
	primary, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Stop() })
	dsn := primary.DSN("postgres")
	role := reader(t, primary, dsn)
	execute(t, dsn, "CREATE TABLE t (a int)")
	standby, err := primary.Standby(t.Context(), pgserver.StandbyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(role.User, role.Password), Path: "/postgres", RawQuery: "sslmode=disable",
		Host: fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d", primary.Port(), standby.Port()),
	}
	both := parse(t, u.String())
	maps.Copy(both.RuntimeParams, role.RuntimeParams)
	return &pair{primary, standby, dsn, both}
}

// refer has a pool told what a server says, from now on until the test ends or stop is
// called. What the test writes is its own release.
func refer(t *testing.T, p *pool.Pool, dsn string) (stop func()) {
	t.Helper()
	execute(t, dsn, `CREATE SCHEMA IF NOT EXISTS kproxy_catalog; GRANT USAGE ON SCHEMA kproxy_catalog TO PUBLIC;
		CREATE TABLE IF NOT EXISTS kproxy_catalog.heartbeat (process text PRIMARY KEY, number bigint); GRANT SELECT ON kproxy_catalog.heartbeat TO PUBLIC`)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var conn *pgx.Conn
		r := pool.Reference{}
		for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			var err error
			if conn == nil {
				if conn, err = pgx.Connect(ctx, dsn); err != nil {
					conn = nil
					continue
				}
				r = pool.Reference{Process: rand.Text()}
			}
			r.Sent, r.Heartbeat = time.Now(), r.Heartbeat+1
			var applied, flushed, timeline int64
			const flush = "pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint"
			err = conn.QueryRow(ctx, "SELECT "+flush).Scan(&applied)
			if err == nil {
				_, err = conn.Exec(ctx, "INSERT INTO kproxy_catalog.heartbeat VALUES ($1, $2) ON CONFLICT (process) DO UPDATE SET number = excluded.number", r.Process, int64(r.Heartbeat))
			}
			if err == nil {
				err = conn.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_control_system())::text, (SELECT oid FROM pg_database WHERE datname = current_database())::text,
					(date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint::text, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint, `+flush).
					Scan(&r.System, &r.Database, &r.Started, &timeline, &flushed)
			}
			if err != nil {
				_ = conn.Close(ctx)
				conn = nil
				continue
			}
			r.Applied, r.Flushed, r.Timeline, r.Got = uint64(applied), uint64(flushed), uint64(timeline), time.Now()
			p.Refer(r)
		}
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// where is which server answers a new session.
func where(t *testing.T, p *pool.Pool) (*session, string) {
	t.Helper()
	s := get(t, p, ann())
	if s.one("SELECT pg_is_in_recovery()") == "t" {
		return s, "standby"
	}
	return s, "primary"
}

// answers waits until new sessions are answered by a server, or refused with an SQLSTATE.
func answers(t *testing.T, p *pool.Pool, want string) {
	t.Helper()
	got := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		link, err := obtain(ctx, p, ann())
		cancel()
		if err == nil {
			s := take(t, link)
			got = map[string]string{"t": "standby", "f": "primary"}[s.one("SELECT pg_is_in_recovery()")]
			s.Release('I')
		} else {
			got = err.Error()
			var refused *pool.Refusal
			if errors.As(err, &refused) {
				got = refused.SQLState() + " " + refused.Error()
			}
		}
		if strings.HasPrefix(got, want) {
			return
		}
	}
	t.Fatalf("new sessions are answered by %s, want %s", got, want)
}

// TestStandbys follows a standby that lags, is cut off and is promoted.
func TestStandbys(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	bounded := pool.Config{
		Roles: map[string]*pgconn.Config{"": both.role}, Referred: true,
		Options: pool.Options{Prefer: pool.PreferStandby, MaxStaleness: 2 * time.Second},
	}
	p := newPool(t, both.role, func(c *pool.Config) { *c = bounded })
	stop := refer(t, p, both.dsn)
	answers(t, p, "standby")
	follower := both.standby.DSN("postgres")

	s, at := where(t, p)
	if at != "standby" || !s.Fresh() {
		t.Fatalf("the first session is on the %s, fresh %v", at, s.Fresh())
	}
	execute(t, follower, "SELECT pg_wal_replay_pause()")
	execute(t, both.dsn, "INSERT INTO t VALUES (1)")
	eventually(t, "a stale session", func() bool { return !s.Fresh() })
	answers(t, p, "primary")
	only := bounded
	only.Prefer = pool.OnlyStandby
	if err := p.Reconfigure(only); err != nil {
		t.Fatal(err)
	}
	answers(t, p, "57P03 no database server shows data that are recent enough")
	execute(t, follower, "SELECT pg_wal_replay_resume()")
	eventually(t, "a fresh session", s.Fresh)
	answers(t, p, "standby")

	if err := both.primary.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a session that may be stale", func() bool { return !s.Fresh() })
	answers(t, p, "57P03 no database server shows data that are recent enough")
	if err := p.Reconfigure(bounded); err != nil {
		t.Fatal(err)
	}
	if err := both.standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Nobody has said that this one is meant.
	answers(t, p, "57P03 no database server")
	eventually(t, "a session is not good on a server that kproxy does not write to", func() bool { return !s.Good() })
	stop()
	refer(t, p, follower)
	answers(t, p, "primary")
	eventually(t, "a fresh session", s.Fresh)
}

// TestSecondPrimary promotes a standby while the primary lives, with sessions there.
func TestSecondPrimary(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	cascaded, err := both.standby.Standby(t.Context(), pgserver.StandbyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cascaded.Stop() })
	role := both.role.Copy()
	role.Fallbacks = append(role.Fallbacks, &pgconn.FallbackConfig{Host: "127.0.0.1", Port: uint16(cascaded.Port())})
	p := newPool(t, role, func(c *pool.Config) { c.Referred, c.Prefer = true, pool.PreferStandby })
	refer(t, p, both.dsn)
	on := func(port int) *session {
		var found *session
		eventually(t, fmt.Sprint("a session on ", port), func() bool {
			s := get(t, p, ann())
			if s.one("SELECT pg_catalog.current_setting('port')") == fmt.Sprint(port) {
				found = s
			}
			return found != nil
		})
		return found
	}
	here, below := on(both.standby.Port()), on(cascaded.Port())
	if err := both.standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session on the second primary is not good", func() bool { return !here.Good() })
	execute(t, both.standby.DSN("postgres"), "CREATE TABLE u AS SELECT generate_series(1, 10000)")
	eventually(t, "the session below it is not good", func() bool { return !below.Good() })
	answers(t, p, "primary")
	for _, h := range p.Report().Hosts {
		want := map[string]string{
			fmt.Sprint("127.0.0.1:", both.primary.Port()): "primary", fmt.Sprint("127.0.0.1:", both.standby.Port()): "second_primary",
			fmt.Sprint("127.0.0.1:", cascaded.Port()): "diverged",
		}[h.Address]
		if h.Role != want || h.Good != (want == "primary") || (h.Fix == "") != (want == "primary") {
			t.Errorf("%+v, want %s", h, want)
		}
	}
	if s, at := where(t, p); at != "primary" || !s.Good() {
		t.Errorf("a session is on the %s", at)
	}
	if err := both.standby.Stop(); err != nil {
		t.Fatal(err)
	}
	answers(t, p, "primary")
}

// TestHostThatLeadsElsewhere has one host, which is a standby, become a primary of its own.
func TestHostThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	role := both.role.Copy()
	role.Port, role.Fallbacks = uint16(both.standby.Port()), nil
	p := newPool(t, role, func(c *pool.Config) { c.Referred = true })
	stop := refer(t, p, both.dsn)
	answers(t, p, "standby")
	s, _ := where(t, p)
	if err := both.standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is not good", func() bool { return !s.Good() })
	answers(t, p, "57P03 no database server is known to be")
	stop()
	refer(t, p, both.standby.DSN("postgres"))
	answers(t, p, "primary")
}

// TestNotBefore has sessions read what has just been committed, from a standby that has
// not replayed it, without a bound of staleness.
func TestNotBefore(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	p := newPool(t, both.role, func(c *pool.Config) { c.Referred, c.Prefer = true, pool.PreferStandby })
	p.NotBefore(time.Now()) // before anything is known
	refer(t, p, both.dsn)
	answers(t, p, "standby")
	s, _ := where(t, p)
	follower := both.standby.DSN("postgres")
	execute(t, follower, "SELECT pg_wal_replay_pause()")
	execute(t, both.dsn, "INSERT INTO t VALUES (1)")
	if _, at := where(t, p); at != "standby" || !s.Fresh() {
		t.Fatalf("without a requirement the %s answers", at)
	}
	moment := time.Now()
	p.NotBefore(moment)
	if s.Fresh() {
		t.Error("what is old may be shown")
	}
	for range 20 {
		if _, at := where(t, p); at != "primary" {
			t.Fatal("the standby answers, and is behind")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := p.Reconfigure(pool.Config{Roles: map[string]*pgconn.Config{"": both.role}, Referred: true, Options: pool.Options{Prefer: pool.OnlyStandby}}); err != nil {
		t.Fatal(err)
	}
	answers(t, p, "57P03 no database server shows data that are recent enough")
	execute(t, follower, "SELECT pg_wal_replay_resume()")
	answers(t, p, "standby")
	eventually(t, "a fresh session", s.Fresh)
	p.NotBefore(moment) // it is shown by now
	if _, at := where(t, p); at != "standby" || !s.Fresh() {
		t.Errorf("the %s answers", at)
	}
}

// TestPrimaryIsFound names the standby first.
func TestPrimaryIsFound(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	role := both.role.Copy()
	other := role.Fallbacks[0]
	role.Port, other.Port = other.Port, role.Port
	p := newPool(t, role, func(c *pool.Config) { c.Referred = true })
	refer(t, p, both.dsn)
	s, at := where(t, p)
	if at != "primary" || !s.Fresh() {
		t.Errorf("the session is on the %s", at)
	}
	if err := both.standby.Pause(); err != nil { // a server that hangs is in nobody's way
		t.Fatal(err)
	}
	answers(t, p, "primary")
	if err := both.standby.Resume(); err != nil {
		t.Fatal(err)
	}
}

// TestStandbysShareSessions has sessions spread over equals.
func TestStandbysShareSessions(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	second, err := both.primary.Standby(t.Context(), pgserver.StandbyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Stop() })
	role := both.role.Copy()
	role.Fallbacks = append(role.Fallbacks, &pgconn.FallbackConfig{Host: "127.0.0.1", Port: uint16(second.Port())})
	p := newPool(t, role, func(c *pool.Config) { c.Referred, c.Prefer = true, pool.OnlyStandby })
	refer(t, p, both.dsn)
	eventually(t, "both standbys are known", func() bool {
		n := 0
		for _, h := range p.Report().Hosts {
			if h.Role == "standby" {
				n++
			}
		}
		return n == 2
	})
	count := map[string]int{}
	for range 10 {
		s := get(t, p, ann())
		count[s.one("SELECT pg_catalog.current_setting('port')")]++
	}
	if len(count) != 2 || count[fmt.Sprint(second.Port())] != 5 {
		t.Error(count)
	}
}
