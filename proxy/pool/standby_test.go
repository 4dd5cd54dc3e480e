package pool_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/pgserver"
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
		Roles:   map[string]*pgconn.Config{"": both.role},
		Options: pool.Options{Prefer: pool.PreferStandby, MaxStaleness: 2 * time.Second},
	}
	p := newPool(t, both.role, func(c *pool.Config) { *c = bounded })
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
	answers(t, p, "primary")
	eventually(t, "a fresh session", s.Fresh)
}

// TestNotBefore has sessions read what has just been committed, from a standby that has
// not replayed it, without a bound of staleness.
func TestNotBefore(t *testing.T) {
	t.Parallel()
	both := startPair(t)
	p := newPool(t, both.role, func(c *pool.Config) { c.Prefer = pool.PreferStandby })
	p.NotBefore(time.Now()) // before anything is known
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
	if err := p.Reconfigure(pool.Config{Roles: map[string]*pgconn.Config{"": both.role}, Options: pool.Options{Prefer: pool.OnlyStandby}}); err != nil {
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
	p := newPool(t, role, nil)
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
	p := newPool(t, role, func(c *pool.Config) { c.Prefer = pool.OnlyStandby })
	count := map[string]int{}
	for range 10 {
		s := get(t, p, ann())
		count[s.one("SELECT pg_catalog.current_setting('port')")]++
	}
	if len(count) != 2 || count[fmt.Sprint(second.Port())] != 5 {
		t.Error(count)
	}
}
