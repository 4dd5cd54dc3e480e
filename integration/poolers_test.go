package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// pgbouncer has PgBouncer stand before a server in a mode, and returns where it listens. It
// takes any setting in startup packets.
func pgbouncer(t *testing.T, to, user, password, mode string) (host, port string) {
	t.Helper()
	return pgbouncerWith(t, to, user, password, "pool_mode = "+mode+"\n"+
		"ignore_startup_parameters = extra_float_digits, search_path, default_transaction_read_only, standard_conforming_strings, statement_timeout, options\n")
}

// pgbouncerWith gives it settings.
func pgbouncerWith(t *testing.T, to, user, password, further string) (host, port string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; exec.Command(program, "--version").Run() != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("PgBouncer is not installed")
			}
			t.Skip("PgBouncer is not installed (Debian: pgbouncer)")
		}
	}
	host, port, err = net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	behind, behindPort, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "kproxy-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	users, settings := filepath.Join(folder, "users"), filepath.Join(folder, "pgbouncer.ini")
	for path, text := range map[string]string{
		users:    fmt.Sprintf("%q %q\n", user, strings.ReplaceAll(password, `"`, `""`)),
		settings: fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = %s\nlisten_port = %s\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = %s\n%s", behind, behindPort, host, port, users, further),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	arguments := []string{settings}
	if os.Geteuid() == 0 {
		arguments = []string{"--user=nobody", settings}
	}
	cmd := exec.Command(program, arguments...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "PgBouncer answers", func() bool {
		conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return host, port
}

// TestPoolers has PgBouncer between kproxy and the database, which is refused, and between
// clients and kproxy, which works.
func TestPoolers(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = ownServer(t, pgserver.Options{})
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	server := fmt.Sprintf("127.0.0.1:%d", o.server.Port())
	const reader = "    password_file: reader.password\n"
	for _, mode := range []string{"transaction", "statement"} {
		host, port := pgbouncer(t, server, s.reader, readerPassword, mode)
		through := reader + "    host: " + host + "\n    port: " + port + "\n"
		s.replace(t, reader, through)
		if out := s.kproxy(t, "check"); out.code != 1 || !strings.Contains(out.stdout, "a pooler in "+mode+" mode is between kproxy and") {
			t.Errorf("%s: kproxy check ends with %d and %s%s", mode, out.code, out.stdout, out.stderr)
		}
		if out := s.kproxy(t, "serve"); out.code == 0 || !strings.Contains(out.stderr, "a pooler in "+mode+" mode") {
			t.Errorf("%s: kproxy serve ends with %d and %s", mode, out.code, out.stderr)
		}
		s.replace(t, through, reader)
	}
	s.serve(t)
	at, err := pgx.ParseConfig(s.url())
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"session", "transaction"} {
		host, port := pgbouncer(t, net.JoinHostPort(at.Host, fmt.Sprint(at.Port)), at.User, at.Password, mode)
		client := at.Copy()
		client.Host, client.DefaultQueryExecMode = host, pgx.QueryExecModeSimpleProtocol
		if _, err := fmt.Sscan(port, &client.Port); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			conn, err := pgx.ConnectConfig(t.Context(), client)
			if err != nil {
				t.Fatal(mode, err)
			}
			if n := scalar[int](t, conn, "SELECT count(*)::int FROM people"); n != operatedRows {
				t.Errorf("%s: %d rows", mode, n)
			}
			_ = conn.Close(t.Context())
		}
	}
}
