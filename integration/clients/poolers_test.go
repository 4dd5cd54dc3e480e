package clients

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestPgBouncer has clients work through PgBouncer, which stands before the server and before
// kproxy: with passwords or secrets of SCRAM in its file of users, which it takes from clients
// by SCRAM or by MD5.
func TestPgBouncer(t *testing.T) {
	heavy(t)
	t.Parallel()
	program := rig.Program("pgbouncer", "/usr/sbin/pgbouncer")
	rig.Need(t, "pgbouncer", program != "")
	before := func(t *testing.T, w way, settings string) way {
		t.Helper()
		return pgbouncer(t, program, w, password, settings)
	}
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		compare(t, "pgx_cache_statement", func(t *testing.T, w way) []step {
			t.Helper()
			return pooledWork(t, before(t, w, "pool_mode = session\nauth_type = scram-sha-256\n"), "cache_statement")
		})
	})
	t.Run("psql", func(t *testing.T) {
		t.Parallel()
		psql := psqlOf(t, "system")
		compare(t, "pgbouncer_psql", func(t *testing.T, w way) []step {
			t.Helper()
			w = before(t, w, "pool_mode = session\nauth_type = scram-sha-256\n")
			// It has no channel binding.
			return script(t, w, psql, filepath.Join("testdata", "psql", "work.sql"), []string{"PGCHANNELBINDING=prefer"})
		})
	})
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		compare(t, "pgbouncer_reset", func(t *testing.T, w way) []step {
			t.Helper()
			return successors(t, before(t, w, "pool_mode = session\nauth_type = md5\ndefault_pool_size = 1\nserver_reset_query = DISCARD ALL\n"))
		})
	})
	t.Run("leftovers", func(t *testing.T) {
		t.Parallel()
		compare(t, "pgbouncer_leftovers", func(t *testing.T, w way) []step {
			t.Helper()
			return successors(t, before(t, w, "pool_mode = transaction\nauth_type = md5\ndefault_pool_size = 1\n"))
		})
	})
	// In transactions, clients cannot rely on what they prepare: they use unnamed statements, or none.
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run("transaction "+mode, func(t *testing.T) {
			t.Parallel()
			compare(t, "pgbouncer_"+mode, func(t *testing.T, w way) []step {
				t.Helper()
				return pooledWork(t, before(t, w, "pool_mode = transaction\nauth_type = scram-sha-256\ndefault_pool_size = 3\n"), mode)
			})
		})
	}
	t.Run("secrets", func(t *testing.T) {
		t.Parallel()
		compare(t, "pgbouncer_secrets", func(t *testing.T, w way) []step {
			t.Helper()
			// With a secret in place of the password it passes on what the client proves, which
			// the server's or kproxy's own secret fits, and no other.
			w = pgbouncer(t, program, w, secretOf(t, w), "pool_mode = session\nauth_type = scram-sha-256\n")
			conn := must[*pgx.Conn](t)(pgx.Connect(t.Context(), w.url()))
			p := &pgxWork{ctx: t.Context(), conn: conn}
			p.ask("query", "SELECT count(*), current_user FROM patients")
			p.note("close", func() (any, error) { return nil, conn.Close(p.ctx) })
			return p.steps
		})
	})
}

// pooledWork is pgx's work, without what it does to find that connections are its own.
func pooledWork(t *testing.T, w way, mode string) []step {
	t.Helper()
	p := &pgxWork{ctx: t.Context(), url: w.url("default_query_exec_mode", mode)}
	p.conn = must[*pgx.Conn](t)(pgx.Connect(t.Context(), p.url))
	if mode == "cache_statement" {
		p.queries()
		p.session()
	} else {
		p.ask("all types", thirty)
		p.ask("filter", "SELECT visit, title FROM patients WHERE diagnosis = ANY($1) AND visit < $2 AND mood = $3 ORDER BY visit", []string{"I10", "C50"}, 60, "good")
		p.note("many rows", func() (any, error) { return p.digest(p.conn, large) })
	}
	p.failures()
	p.batches()
	p.copies()
	p.cancels()
	p.note("close", func() (any, error) { return nil, p.conn.Close(p.ctx) })
	p.note("pool", p.pool)
	return p.steps
}

// successors are clients that get the same connection of the pooler, one after the other.
func successors(t *testing.T, w way) []step {
	t.Helper()
	p := &pgxWork{ctx: t.Context()}
	client := func(name string, statements ...string) {
		p.note(name, func() (_ any, err error) {
			conn, err := pgx.Connect(p.ctx, w.url("default_query_exec_mode", "simple_protocol"))
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, conn.Close(p.ctx)) }()
			var seen []any
			for _, statement := range statements {
				read, err := p.rows(conn, statement)
				seen = append(seen, read)
				if err != nil {
					seen = append(seen, failure(err))
				}
			}
			return seen, nil
		})
	}
	const look = "SELECT current_setting('statement_timeout'), current_setting('TimeZone'), current_setting('extra_float_digits')"
	client("first", look, "SET statement_timeout = '7min'", "SET TimeZone = 'Asia/Kolkata'", "SET extra_float_digits = 0", "PREPARE one AS SELECT count(*) FROM patients", look)
	client("second", look, "EXECUTE one", "DEALLOCATE one", "RESET ALL", look)
	client("third", "DECLARE held CURSOR WITH HOLD FOR SELECT visit FROM patients ORDER BY visit", "FETCH 2 FROM held")
	client("fourth", "FETCH 2 FROM held", "CLOSE held", "DISCARD ALL", look)
	client("left in a transaction", "BEGIN", "SET LOCAL statement_timeout = '8min'", look)
	client("after it", look)
	client("left after an error", "BEGIN", "SELECT 1 / 0")
	client("after that", "SELECT count(*) FROM patients")
	return p.steps
}

// secretOf is the secret of SCRAM that the user has on a way.
func secretOf(t *testing.T, w way) (secret string) {
	t.Helper()
	if w == site.ways[through] {
		return site.verifier
	}
	conn := must[*pgx.Conn](t)(pgx.Connect(t.Context(), site.server.DSN(database)))
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), "SELECT rolpassword FROM pg_authid WHERE rolname = $1", user).Scan(&secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// pgbouncer has PgBouncer stand on a way, with TLS on both sides, and returns the way to it.
func pgbouncer(t *testing.T, program string, w way, secret, settings string) way {
	t.Helper()
	before := way{name: w.name + " and PgBouncer", port: must[int](t)(rig.FreePort())}
	folder := config(t, map[string]string{
		"users": fmt.Sprintf("%q %q\n", user, secret),
		"pgbouncer.ini": fmt.Sprintf(`[databases]
%s = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_file = users
client_tls_sslmode = require
client_tls_cert_file = server.crt
client_tls_key_file = server.key
server_tls_sslmode = verify-ca
server_tls_ca_file = server.crt
%s`, database, w.port, before.port, settings),
	})
	arguments := []string{"pgbouncer.ini"}
	if os.Geteuid() == 0 { // which it does not run as
		arguments = append(arguments, "--user=nobody")
	}
	daemon(t, nil, func() bool {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(before.port)))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, folder, program, arguments...)
	return before
}

// config is a folder with files for any user, and with the server's certificate and key.
func config(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = must[string](t)(os.MkdirTemp("", "kproxy-before-"))
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	for _, name := range []string{"server.crt", "server.key"} {
		files[name] = string(must[[]byte](t)(os.ReadFile(filepath.Join(site.dir, name))))
	}
	err := os.Chmod(folder, 0o755)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// daemon runs a program in an environment, nil for the test's own, until the test ends, and waits until it is ready.
func daemon(t *testing.T, environment []string, ready func() bool, folder, program string, arguments ...string) {
	t.Helper()
	var said rig.Log
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, environment, &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(patience); !ready(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatalf("%s ends: %s", program, said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not ready: %s", program, said.String())
		}
	}
}

// TestHAProxy has psql work through HAProxy, which stands before the server and before kproxy,
// and which tells kproxy the client's address or does not: TLS and channel binding reach
// through it.
func TestHAProxy(t *testing.T) {
	heavy(t)
	t.Parallel()
	program := rig.Program("haproxy", "/usr/sbin/haproxy")
	rig.Need(t, "haproxy", program != "")
	psql := psqlOf(t, "system")
	for name, manner := range map[string]string{"hidden": "check", "told": told} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare(t, "psql_work", func(t *testing.T, w way) []step {
				t.Helper()
				if w == site.ways[straight] { // PostgreSQL does not know the protocol
					w, _ = haproxy(t, program, w, "", "check")
				} else {
					w, _ = haproxy(t, program, w, "", manner)
				}
				return script(t, w, psql, filepath.Join("testdata", "psql", "work.sql"), nil)
			})
		})
	}
	t.Run("checks", func(t *testing.T) {
		t.Parallel()
		compare(t, "haproxy_checks", func(t *testing.T, w way) []step {
			t.Helper()
			var d diary
			for _, option := range []string{"option tcp-check", "option pgsql-check user " + user, encryptedCheck} {
				_, state := haproxy(t, program, w, option, "check")
				d.note(option, func() (any, error) { return state, nil })
			}
			return d.steps
		})
	})
}

// told has HAProxy say whose connection it is, from an address where kproxy expects it: what
// kproxy shows of the client is not this address.
const told = "check check-send-proxy send-proxy-v2 source 127.0.0.2"

// encryptedCheck asks for TLS, as a client does.
const encryptedCheck = `tcp-check connect
    tcp-check send-binary 0000000804d2162f
    tcp-check expect string S`

// haproxy has HAProxy stand on a way, before a server that is not there, too, and returns the
// way to it, and what it finds of the server when it has found that the other one is not there.
func haproxy(t *testing.T, program string, w way, options, manner string) (before way, state string) {
	t.Helper()
	before = way{name: w.name + " and HAProxy", port: must[int](t)(rig.FreePort())}
	if strings.HasPrefix(options, "tcp-check") {
		options = "option tcp-check\n    " + options
	}
	folder := config(t, map[string]string{"haproxy.cfg": fmt.Sprintf(`global
    stats socket unix@stats
defaults
    mode tcp
    timeout connect 1m
    timeout client 10m
    timeout server 10m
    timeout check 1m
listen clients
    bind 127.0.0.1:%d
    %s
    server absent 127.0.0.1:1 check inter 50ms
    server present 127.0.0.1:%d inter 50ms %s
`, before.port, options, w.port, manner)})
	daemon(t, nil, func() bool {
		servers := statistics(folder)
		state = servers["present"]
		return strings.HasPrefix(servers["absent"], "DOWN ") && (strings.HasPrefix(state, "UP L") || strings.HasPrefix(state, "DOWN L"))
	}, folder, program, "-f", "haproxy.cfg")
	return before, state
}

// statistics are the states of HAProxy's servers and the results of the last checks of them,
// by their names; none while it is not there.
func statistics(folder string) map[string]string {
	conn, err := net.Dial("unix", filepath.Join(folder, "stats"))
	if err != nil {
		return nil
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("show stat\n")); err != nil {
		return nil
	}
	rows, err := csv.NewReader(conn).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil
	}
	servers := make(map[string]string)
	for _, row := range rows[1:] {
		of := func(column string) string { return row[slices.Index(rows[0], column)] }
		// A star says that the next check is under way.
		servers[of("svname")] = fmt.Sprintf("%s %s %s", of("status"), strings.TrimPrefix(of("check_status"), "* "), of("last_chk"))
	}
	return servers
}
