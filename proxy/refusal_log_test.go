package proxy

import (
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRepeatedRefusalsAreCounted has a guesser and an outage: the first refusal is logged at
// once, the others as a number.
func TestRepeatedRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	const logins = 200
	for _, test := range []struct{ what, password, level, reason, state string }{
		{"a guesser", "wrong", "INFO", "wrong password", stateInvalidPassword},
		{"an outage", testPassword, "ERROR", "connect: connection refused", stateConnectionFailure},
	} {
		c := nowhere(t)
		c.Access.Throttle.Off = true
		log := &logBuffer{}
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
		p := serve(t, c)
		login := func() {
			w := dialWire(t, p.addr)
			defer func() { _ = w.Close() }()
			if w.outcome(testUser, published, test.password) == "ok" {
				w.expectFatal(test.state)
			}
		}
		login()
		eventually(t, "the first is logged", func() bool { return len(log.lines(refusedLine)) == 1 })
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range logins / 4 {
					login()
				}
			})
		}
		all.Wait()
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		if lines := log.lines("level="); len(lines) != 2 || !strings.Contains(lines[1], "times=200 period=1m0s ") {
			t.Errorf("%s: %d lines:\n%s", test.what, len(lines), strings.Join(lines[:min(len(lines), 5)], ""))
		}
		for _, line := range log.lines("level=") {
			for _, want := range []string{"level=" + test.level, refusedLine, "user=" + testUser, test.reason} {
				if !strings.Contains(line, want) {
					t.Errorf("%s: the log has not %s: %s", test.what, want, line)
				}
			}
		}
	}
}

// TestEndsInAnOutageAreCounted ends sessions of several users at once, by losing the server, and others by
// themselves.
func TestEndsInAnOutageAreCounted(t *testing.T) {
	t.Parallel()
	const sessions = 30
	const ended = `msg="session ended"`
	log := &logBuffer{}
	p := startProxy(t, func(c *Config) {
		c.Access = testAccess("bob", "cem", "dan")
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	direct := connectPgx(t, p.direct)
	var all []*pgconn.PgConn
	for i := range sessions {
		conn, err := pgconn.Connect(deadline(t), strings.Replace(p.url("sslmode=disable"), "//"+testUser+":", "//"+[]string{testUser, "bob", "cem", "dan"}[i%4]+":", 1))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
	}
	for _, conn := range all[:2] { // who leaves has a line, each
		if err := conn.Close(deadline(t)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "two sessions have ended", func() bool { return len(log.lines(ended)) == 2 })
	if _, err := direct.Exec(deadline(t), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no session is left", func() bool { return p.Counts().Sessions == 0 })
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	lines := log.lines(ended)
	times := 0
	for _, line := range lines[2:] {
		if _, count, counted := strings.Cut(line, "times="); counted {
			n, err := strconv.Atoi(strings.Fields(count)[0])
			if err != nil {
				t.Fatal(err)
			}
			times += n
		} else {
			times++
		}
	}
	// The server may say why it goes, or be gone: two reasons.
	if len(lines) > 2+2*2 || times != sessions-2 {
		t.Errorf("%d lines tell of %d ends of %d:\n%s", len(lines), times, sessions-2, strings.Join(lines, ""))
	}
	for _, conn := range all {
		_ = conn.Conn().Close()
	}
}
