package pool_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

// startPgBouncer has PgBouncer stand before a server, and returns its port. It is one that
// passes on no setting of a startup packet, as the ones that it knows are few.
func startPgBouncer(t *testing.T, server *pgserver.Server, role *pgconn.Config, mode string) uint16 {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !exists(program) {
			if os.Getenv("CI") != "" {
				t.Fatal("PgBouncer is not installed")
			}
			t.Skip("PgBouncer is not installed (Debian: pgbouncer)")
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	folder, err := os.MkdirTemp("", "kproxy-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	users, settings := filepath.Join(folder, "users"), filepath.Join(folder, "pgbouncer.ini")
	file := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file(users, fmt.Sprintf("%q %q\n", role.User, role.Password))
	file(settings, fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = %s
default_pool_size = 20
ignore_startup_parameters = extra_float_digits, search_path, default_transaction_read_only, statement_timeout, options
`, server.Port(), port, users, mode))
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	arguments := []string{settings}
	if os.Geteuid() == 0 {
		arguments = []string{"--user=nobody", settings}
	}
	cmd := exec.Command(program, arguments...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "PgBouncer answers", func() bool {
		conn, err := net.DialTimeout("tcp", fmt.Sprint("127.0.0.1:", port), time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return uint16(port)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestPoolers has PgBouncer in each of its modes between the pool and the server.
func TestPoolers(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	role := reader(t, server, dsn)
	for mode, want := range map[string]pool.Pooler{
		"session": pool.SessionPooler, "transaction": pool.TransactionPooler, "statement": pool.StatementPooler, "": pool.NoPooler,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			through := role.Copy()
			if mode != "" {
				through.Port = startPgBouncer(t, server, role, mode)
			}
			clear(through.RuntimeParams)
			found, err := pool.FindPooler(t.Context(), through)
			if err != nil || found != want {
				t.Errorf("found is %v, %v", found, err)
			}
			p := newPool(t, through, nil)
			link, err := obtain(t.Context(), p, ann())
			switch {
			case want.Shares():
				if err == nil || !pool.IsPooler(err) || !strings.Contains(err.Error(), want.String()) {
					t.Errorf("a session gets %v", err)
				}
			case err != nil:
				t.Error(err)
			}
			if link != nil {
				link.Release('I')
			}

			// Session mode keeps what a session sets, but drops what its startup packet has.
			through.RuntimeParams["default_transaction_read_only"] = "on"
			p = newPool(t, through, nil)
			link, err = obtain(t.Context(), p, ann())
			if (err == nil) != (want == pool.NoPooler) || err != nil && !pool.IsPooler(err) {
				t.Errorf("with a setting that is dropped, a session gets %v", err)
			}
			if link != nil {
				link.Release('I')
			}
		})
	}
}
