package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/proxy/pool"
)

// process is the server process that a session has.
func process(t testing.TB, conn *pgx.Conn) (pid int) {
	t.Helper()
	if err := conn.QueryRow(deadline(t), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// leave ends a session and waits until its connection is kept, or closed.
func leave(t testing.TB, p *testProxy, conn *pgx.Conn) {
	t.Helper()
	if err := conn.Close(deadline(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a settled pool", func() bool {
		s := p.pool.Stats()
		return s.Places == s.Idle
	})
}

func TestUpstreamConnectionsAreReused(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	url := p.url("sslmode=disable")
	first := connectPgx(t, url)
	pid := process(t, first)
	for _, sql := range []string{"SET work_mem = '1MB'", "PREPARE p AS SELECT 1", "BEGIN", "SELECT 1/0"} {
		_, _ = first.Exec(deadline(t), sql)
	}
	leave(t, p, first)
	second := connectPgx(t, url)
	if got := process(t, second); got != pid {
		t.Errorf("process %d, before %d", got, pid)
	}
	var memory string
	if err := second.QueryRow(deadline(t), "SHOW work_mem").Scan(&memory); err != nil || memory == "1MB" {
		t.Error(memory, err)
	}
	leave(t, p, second)
	if got := process(t, connectPgx(t, p.url("sslmode=disable&timezone=Asia/Tokyo"))); got == pid {
		t.Error("one connection for different parameters")
	}
}

// TestUpstreamAfterDeath has clients die in the middle of something. Whatever connection
// the next one gets, it is as new.
func TestUpstreamAfterDeath(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Pool.MaxConnections = 1 })
	query := func(sql string) oldproto.FrontendMessage { return &oldproto.Query{String: sql} }
	for name, last := range map[string][]oldproto.FrontendMessage{
		"idle":               nil,
		"in a transaction":   {query("BEGIN; CREATE TEMP TABLE t (a int)")},
		"in a statement":     {query("SELECT pg_sleep(20)")},
		"in a result":        {query("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)")},
		"in a copy":          {query("COPY (SELECT generate_series(1, 10000000)) TO STDOUT")},
		"in a pipeline":      {&oldproto.Parse{Name: "s", Query: "SELECT 1"}, &oldproto.Bind{PreparedStatement: "s", DestinationPortal: "p"}},
		"in a failed one":    {&oldproto.Parse{Query: "SELECT 1/0"}, &oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Flush{}},
		"after a statement":  {query("SET work_mem = '1MB'; LISTEN x; SELECT pg_advisory_lock(1)")},
		"inside a message":   nil,
		"in a simple cursor": {query("BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT generate_series(1, 100); COMMIT; FETCH 2 FROM c")},
	} {
		t.Run(name, func(t *testing.T) {
			w := p.loginWire(t)
			w.send(last...)
			if name == "inside a message" {
				if _, err := w.Write([]byte{'Q', 0, 0, 1, 0, 'S'}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(20 * time.Millisecond) // to have it begin; nothing depends on it
			_ = w.Close()
			next := connectPgx(t, p.url("sslmode=disable"))
			var left int
			err := next.QueryRow(deadline(t), `SELECT (SELECT count(*) FROM pg_prepared_statements WHERE name = 's') + (SELECT count(*) FROM pg_cursors WHERE name <> '')
				+ (SELECT count(*) FROM pg_listening_channels()) + (SELECT count(*) FROM pg_class WHERE relpersistence = 't')
				+ (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') + (current_setting('work_mem') = '1MB')::int`).Scan(&left)
			if err != nil || left != 0 {
				t.Errorf("%d things are left, %v", left, err)
			}
			leave(t, p, next)
		})
	}
}

// TestSessionsWaitForTheServer: where others have the server's connections, sessions wait as they
// do for their own.
func TestSessionsWaitForTheServer(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	admin := connectPgx(t, p.direct)
	config, err := pgconn.ParseConfig(p.direct)
	if err != nil {
		t.Fatal(err)
	}
	config.User, config.Password = "few_"+config.Database, "few"
	role := pgx.Identifier{config.User}.Sanitize()
	if _, err := admin.Exec(deadline(t), "CREATE ROLE "+role+" LOGIN PASSWORD 'few' CONNECTION LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = admin.Exec(context.Background(), "DROP ROLE "+role) })
	q := startProxy(t, func(c *Config) { c.Upstream, c.Pool = config, pool.Options{QueueTimeout: patience, IdleTimeout: -1} })
	hasty := startProxy(t, func(c *Config) { c.Upstream, c.Pool = config, pool.Options{QueueTimeout: time.Second} })
	first := connectPgx(t, q.url("sslmode=disable"))
	var refused *pgconn.PgError
	if _, err := pgx.Connect(deadline(t), hasty.url("sslmode=disable")); !errors.As(err, &refused) || refused.Code != stateTooManyConnections {
		t.Errorf("%v", err)
	}
	served := make(chan error, 1)
	go func() {
		conn, err := pgx.Connect(deadline(t), q.url("sslmode=disable"))
		if err == nil {
			err = conn.Close(deadline(t))
		}
		served <- err
	}()
	time.Sleep(300 * time.Millisecond) // to have it wait; nothing depends on it
	if err := first.Close(deadline(t)); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("a session that waits for the server: %v", err)
	}
}

func TestSessionsWaitForConnections(t *testing.T) {
	t.Parallel()
	var log *logBuffer
	p := startProxy(t, func(c *Config) {
		c.Pool = pool.Options{MaxConnections: 1, QueueTimeout: 500 * time.Millisecond}
		log = logged(c)
	})
	url := p.url("sslmode=disable")
	first := connectPgx(t, url)
	pid := process(t, first)
	_, err := pgx.Connect(deadline(t), url)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != stateTooManyConnections || refused.Hint == "" {
		t.Errorf("%v", err)
	}
	eventually(t, "it is logged", func() bool { return len(log.lines(refusedLine)) == 1 })
	if told := log.lines("level=ERROR"); len(told) > 0 {
		t.Errorf("a limit that is met is an error: %s", told)
	}
	waiting := make(chan *pgx.Conn, 1)
	go func() {
		conn, _ := pgx.Connect(context.Background(), url)
		waiting <- conn
	}()
	eventually(t, "a session that waits", func() bool { return p.pool.Stats().Waiting == 1 })
	leave := first.Close(deadline(t))
	second := <-waiting
	if leave != nil || second == nil {
		t.Fatal(leave, "the second session got no connection")
	}
	defer func() { _ = second.Close(context.Background()) }()
	if got := process(t, second); got != pid {
		t.Errorf("process %d, before %d", got, pid)
	}
}

// TestManySessionsOnFewConnections has more clients than there are connections, all of
// whom are served.
func TestManySessionsOnFewConnections(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Pool = pool.Options{MaxConnections: 3, MaxQueue: 100, QueueTimeout: patience} })
	url := p.url("sslmode=disable")
	pids := make(chan int)
	const clients, each = 20, 3
	for range clients {
		go func() {
			for range each {
				pid := 0
				conn, err := pgx.Connect(deadline(t), url)
				if err == nil {
					err = errors.Join(conn.QueryRow(deadline(t), "SELECT pg_backend_pid()").Scan(&pid), conn.Close(deadline(t)))
				}
				if err != nil {
					t.Error(err)
				}
				pids <- pid
			}
		}()
	}
	var seen []int
	for range clients * each {
		if pid := <-pids; !slices.Contains(seen, pid) {
			seen = append(seen, pid)
		}
	}
	if len(seen) > 3 {
		t.Errorf("%d connections for sessions that leave nothing", len(seen))
	}
}

func TestConnectFailures(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial tcp 10.0.0.1:5432: no route to host for reader")
	refused := func(state string) error {
		return fmt.Errorf("%w: %w", secret, &pgconn.PgError{Code: state, Message: "secret"})
	}
	for _, c := range []struct {
		err   error
		state string
	}{
		{secret, stateConnectionFailure},
		{refused("28P01"), stateConnectionFailure},
		{refused("22023"), stateInvalidParameterValue},
		{refused("22021"), stateInvalidParameterValue},
		{refused("42602"), stateInvalidParameterValue},
		{refused("42704"), stateUndefinedObject},
		{refused("57014"), "57014"},
		{refused("57P05"), "57P05"},
		{refused("53300"), stateTooManyConnections},
		{refused("57P03"), stateCannotConnectNow},
		{errNoUser, stateAdminShutdown},
	} {
		got := connectFailure(c.err)
		if got.state != c.state {
			t.Errorf("%v: %s, want %s", c.err, got.state, c.state)
		}
		for _, hidden := range []string{"10.0.0.1", "reader", "secret"} {
			if strings.Contains(got.message+got.hint, hidden) {
				t.Errorf("the client is told %q, %q", got.message, got.hint)
			}
		}
	}
}

// TestStartupParametersHarmNobodyElse has a client fail by what it sets itself.
func TestStartupParametersHarmNobodyElse(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Pool.IdleTimeout = -1 })
	for _, set := range [][2]string{{"timezone", strings.Repeat("x", 9_900)}, {"timezone", "Nowhere"}, {"default_text_search_config", "a..b"}} {
		config, err := pgx.ParseConfig(p.url("sslmode=disable"))
		if err != nil {
			t.Fatal(err)
		}
		config.RuntimeParams[set[0]] = set[1]
		_, err = pgx.ConnectConfig(deadline(t), config)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != stateInvalidParameterValue || refused.Hint == "" {
			t.Errorf("%s: %v", set[0], err)
		}
		connectPgx(t, p.url("sslmode=disable"))
	}
}
