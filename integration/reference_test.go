package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// standbySite has a primary with two standbys, to which readers go.
func standbySite(t *testing.T, staleness string) (s *site, standbys [2]*pgserver.Server, metrics string) {
	t.Helper()
	metrics = freeAddress(t)
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = ownServer(t, pgserver.Options{})
	o.settings = fmt.Sprintf("metrics: {listen: %s}\n", metrics)
	s = newSite(t, o)
	s.kproxy(t, "setup").must(t)
	hosts := fmt.Sprintf("%q", fmt.Sprintf("127.0.0.1:%d", o.server.Port()))
	for i := range standbys {
		standby, err := o.server.Standby(t.Context(), pgserver.StandbyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = standby.Stop() })
		standbys[i] = standby
		hosts += fmt.Sprintf(", %q", fmt.Sprintf("127.0.0.1:%d", standby.Port()))
	}
	const reader = "    password_file: reader.password\n"
	s.replace(t, reader, reader+"    hosts: ["+hosts+"]\n    prefer: standby\n    max_staleness: "+staleness+"\n")
	return s, standbys, metrics
}

// sessionsOn tells whether a server has sessions of readers.
func (s *site) sessionsOn(t *testing.T, server *pgserver.Server) bool {
	t.Helper()
	const sessions = "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = $1 AND application_name LIKE 'test (127.0.0.1:%'"
	return scalar[bool](t, connect(t, server.DSN(s.database)), sessions, s.reader)
}

// TestSecondPrimary promotes a standby that readers are sent to while the primary lives, and
// has a table published under a stricter policy, after half of its records were deleted,
// with readers at work all the time. Nobody sees what was there before, everybody who asks
// is told, and nothing has to be started again.
func TestSecondPrimary(t *testing.T) {
	t.Parallel()
	s, standbys, metrics := standbySite(t, "30s")
	p := s.serve(t)
	impostor := standbys[0]
	var sessions []*pgx.Conn
	eventually(t, "both standbys have sessions", func() bool {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err == nil {
			sessions = append(sessions, conn)
		}
		return s.sessionsOn(t, standbys[0]) && s.sessionsOn(t, standbys[1])
	})
	defer func() {
		for _, conn := range sessions {
			_ = conn.Close(context.Background())
		}
	}()

	poller := pollReleases(t, s)
	defer poller.end()

	if err := impostor.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := func() bool {
		for _, conn := range sessions {
			_, err := conn.Exec(t.Context(), "SELECT 1")
			var last *pgconn.PgError
			if errors.As(err, &last) && last.Code == "57P01" && strings.Contains(last.Message, "does not follow the one that kproxy publishes on") && last.Hint != "" {
				return true
			}
		}
		return false
	}
	eventually(t, "a session on the second primary is told why it ends", ended)
	eventually(t, "no session is on the second primary", func() bool { return !s.sessionsOn(t, impostor) })
	address := fmt.Sprintf("127.0.0.1:%d", impostor.Port())
	eventually(t, "/readyz fails", func() bool {
		status, text := get(t, metrics, "/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "second primary")
	})
	if sample(t, metrics, `kproxy_upstream_role{role="second_primary",server="`+address+`"}`) != 1 {
		t.Error("metrics do not tell of the second primary")
	}
	if !strings.Contains(p.log.String(), "a database server is now a second primary") {
		t.Errorf("the log does not tell of it:\n%s", p.log)
	}
	for command, code := range map[string]int{"check": 1, "verify": 1, "status": 3} {
		out := s.kproxy(t, command)
		if out.code != code || !strings.Contains(out.stdout+out.stderr, "server "+address+" is a second primary") {
			t.Errorf("kproxy %s ends with %d and %s%s", command, out.code, out.stdout, out.stderr)
		}
	}

	testStricterPolicy(t, s, impostor, metrics, poller)
	if !p.running() {
		t.Error("kproxy has ended")
	}
}

// releasePoller is a reader who asks all the time, and counts the answers that it gets.
type releasePoller struct {
	// stricter says that a policy of k = 12 is in force, and half of the records are gone.
	stricter           atomic.Bool
	served, superseded atomic.Int64
	end                func()
}

func pollReleases(t *testing.T, s *site) *releasePoller {
	t.Helper()
	p := new(releasePoller)
	ctx, stop := context.WithCancel(t.Context())
	polled := make(chan struct{})
	p.end = func() { stop(); <-polled }
	go func() {
		defer close(polled)
		var conn *pgx.Conn
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			if conn == nil || conn.IsClosed() {
				var err error
				if conn, err = pgx.Connect(ctx, s.url()); err != nil {
					continue
				}
			}
			p.ask(ctx, conn)
		}
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}()
	return p
}

func (p *releasePoller) ask(ctx context.Context, conn *pgx.Conn) {
	asked := p.stricter.Load()
	var records, smallest int
	err := conn.QueryRow(ctx, "SELECT coalesce(sum(c), 0)::int, coalesce(min(c), 0)::int FROM (SELECT count(*) AS c FROM people GROUP BY age) g", pgx.QueryExecModeSimpleProtocol).
		Scan(&records, &smallest)
	if err != nil {
		return
	}
	p.served.Add(1)
	if asked && (smallest < 12 || records > operatedRows/2) {
		p.superseded.Add(1)
	}
}

// testStricterPolicy has half of the records deleted and the policy made stricter, and the
// second primary come back, which has what was there before.
func testStricterPolicy(t *testing.T, s *site, impostor *pgserver.Server, metrics string, poller *releasePoller) {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", impostor.Port())
	// With a stricter policy nothing would start while there is a second primary; one that
	// runs publishes by the file that it has, so that the records alone change here.
	admin := connect(t, s.server.DSN(s.database))
	execute(t, admin, fmt.Sprintf("DELETE FROM people WHERE id > %d", operatedRows/2))
	if err := impostor.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "/readyz is well", func() bool { status, _ := get(t, metrics, "/readyz"); return status == http.StatusOK })
	s.kproxy(t, "check").must(t)
	s.replace(t, "k: 5", "k: 12")
	s.kproxy(t, "reload").must(t)
	poller.stricter.Store(true)
	if err := impostor.Restart(t.Context()); err != nil { // it has what was there before, for as long as it likes
		t.Fatal(err)
	}
	before := poller.served.Load()
	eventually(t, "readers are served under the stricter policy", func() bool { return poller.served.Load() > before+200 })
	eventually(t, "it is found out again", func() bool {
		return sample(t, metrics, `kproxy_upstream_role{role="second_primary",server="`+address+`"}`) == 1
	})
	before = poller.served.Load()
	eventually(t, "readers are served beside it", func() bool { return poller.served.Load() > before+200 })
	if n := poller.superseded.Load(); n > 0 {
		t.Errorf("%d of %d answers are of the release before", n, poller.served.Load())
	}
}

// TestFrozenStreamIsStale stops the process of the server that sends the stream, and holds
// the row that every commit of the store writes. While something is committed that readers do
// not see for longer than the bound, no statement is answered, whatever server it goes to.
func TestFrozenStreamIsStale(t *testing.T) {
	t.Parallel()
	s, _, metrics := standbySite(t, "5s")
	s.serve(t)
	admin := connect(t, s.server.DSN(s.database))
	const bound = 5 * time.Second
	answered := func() (n int, refused string) {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err == nil {
			defer func() { _ = conn.Close(t.Context()) }()
			err = conn.QueryRow(t.Context(), "SELECT min(n) FROM people").Scan(&n)
		}
		var said *pgconn.PgError
		if errors.As(err, &said) {
			return 0, said.Code + " " + said.Message
		}
		if err != nil {
			return 0, err.Error()
		}
		return n, ""
	}
	eventually(t, "readers are served", func() bool { _, refused := answered(); return refused == "" })
	count := 0
	for name, freeze := range map[string]func() (thaw func()){
		"the stream is not sent": func() func() {
			pid := scalar[int](t, admin, "SELECT active_pid FROM pg_replication_slots WHERE active AND slot_type = 'logical'")
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			return func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
		},
		"changes are not applied": func() func() {
			holder := connect(t, s.server.DSN(s.database))
			execute(t, holder, "BEGIN; SELECT FROM kproxy_store.position FOR UPDATE")
			return func() { execute(t, holder, "COMMIT") }
		},
	} {
		t.Log(name)
		eventually(t, "readers see all", func() bool { n, refused := answered(); return refused == "" && n == count })
		thaw := freeze()
		count++
		execute(t, admin, forward)
		committed := time.Now() // or before
		eventually(t, "statements are refused", func() bool {
			asked := time.Now()
			n, refused := answered()
			if refused == "" && n < count && asked.Sub(committed) > bound {
				t.Errorf("%s: %v after a commit, readers do not see it, and are not told", name, asked.Sub(committed))
			}
			return strings.HasPrefix(refused, "57P0")
		})
		eventually(t, "/readyz tells it, which looks once in a second", func() bool {
			status, text := get(t, metrics, "/readyz")
			return status == http.StatusServiceUnavailable && strings.Contains(text, "recent enough")
		})
		if out := s.kproxy(t, "status"); out.code != 3 || !strings.Contains(out.stdout, "READERS ARE REFUSED since ") {
			t.Errorf("%s: status ends with %d and says\n%s%s", name, out.code, out.stdout, out.stderr)
		}
		thaw()
	}
	eventually(t, "readers see all", func() bool { n, refused := answered(); return refused == "" && n == count })
	eventually(t, "/readyz is well", func() bool { status, _ := get(t, metrics, "/readyz"); return status == http.StatusOK })
}

// TestRestartedPrimaryIsNotStale starts the primary again, as operators do. No statement is answered
// with what is older than the bound, while kproxy waits before it connects again.
func TestRestartedPrimaryIsNotStale(t *testing.T) {
	t.Parallel()
	s, _, metrics := standbySite(t, "5s")
	s.serve(t)
	const bound = 5 * time.Second
	answered := func() (n int, err error) {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err != nil {
			return 0, err
		}
		defer func() { _ = conn.Close(t.Context()) }()
		return n, conn.QueryRow(t.Context(), "SELECT min(n) FROM people").Scan(&n)
	}
	eventually(t, "readers are served", func() bool { _, err := answered(); return err == nil })
	if err := s.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, connect(t, s.server.DSN(s.database)), forward)
	committed := time.Now() // or before
	eventually(t, "readers see the change", func() bool {
		asked := time.Now()
		n, err := answered()
		if err == nil && n == 0 && asked.Sub(committed) > bound {
			t.Errorf("%v after a commit, readers do not see it, and are not told", asked.Sub(committed))
		}
		return err == nil && n == 1
	})
	eventually(t, "/readyz is well", func() bool { status, _ := get(t, metrics, "/readyz"); return status == http.StatusOK })
}

// TestRestartedServerIsServedAgain restarts the only server under a bound of staleness, as a minor
// upgrade does. Readers are served again each time, and it is never taken for a second primary.
func TestRestartedServerIsServedAgain(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = ownServer(t, pgserver.Options{})
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	const reader = "    password_file: reader.password\n"
	s.replace(t, reader, reader+"    max_staleness: 3s\n")
	p := s.serve(t)
	served := func() bool { _, err := s.attempt(t, "SELECT count(*) > 0 FROM people"); return err == nil }
	for range 3 {
		eventually(t, "readers are served", served)
		if err := s.server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "readers are served", served)
	if strings.Contains(p.log.String(), "second primary") {
		t.Errorf("the log speaks of a second primary:\n%s", p.log)
	}
}

// TestReadyIfLoginsSucceed has every login be refused by the database: /readyz says so, and that it
// is over.
func TestReadyIfLoginsSucceed(t *testing.T) {
	t.Parallel()
	metrics := freeAddress(t)
	o := sqlSite(operatedSchema, countedPolicy)
	o.settings = fmt.Sprintf("metrics: {listen: %s}\n", metrics)
	s := ready(t, o)
	admin := connect(t, s.admin)
	probe := func(want int) func() bool {
		return func() bool {
			status, _ := get(t, metrics, "/readyz")
			_, err := s.attempt(t, "SELECT count(*) > 0 FROM people")
			return status == want && (err == nil) == (want == http.StatusOK)
		}
	}
	eventually(t, "/readyz is well", probe(http.StatusOK))
	execute(t, admin, `ALTER ROLE "`+s.reader+`" NOLOGIN`)
	execute(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+s.reader+"'")
	eventually(t, "/readyz fails with the logins", probe(http.StatusServiceUnavailable))
	execute(t, admin, `ALTER ROLE "`+s.reader+`" LOGIN`)
	eventually(t, "/readyz is well again", probe(http.StatusOK))
}
