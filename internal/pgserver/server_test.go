package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// start runs a server that the test's end stops.
func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// query returns the single value of a statement run as the superuser.
func query(t *testing.T, s *Server, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var value string
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func execute(t *testing.T, s *Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// alive reports whether a process exists, be it somebody else's. A zombie that
// init has not reaped yet is dead.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil && runtime.GOOS != "linux" || err == nil && !strings.Contains(string(stat), ") Z ")
}

// expectDead waits out the moment between a process's closing of its files,
// which is what the server's end is known by, and its end for the kernel.
func expectDead(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d of %v is gone", pid, pids), func() bool { return !alive(pid) })
	}
}

// eventually waits for a condition that must come true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never came true that %s", what)
}

func TestServerIsConfigured(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Settings: map[string]string{"work_mem": "5MB", "cluster_name": `it's \ here`}})
	for setting, want := range map[string]string{
		"wal_level":               "logical",
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "",
		"fsync":                   "off",
		"synchronous_commit":      "on",
		"password_encryption":     "scram-sha-256",
		"port":                    strconv.Itoa(s.Port()),
		"data_directory":          s.DataDir(),
		"work_mem":                "5MB",
		"cluster_name":            `it's \ here`,
	} {
		if got := query(t, s, "SELECT current_setting('"+setting+"')"); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if got := query(t, s, "SHOW server_version"); !strings.HasPrefix(got, s.Version().String()) {
		t.Errorf("the server says version %s, its binaries %s", got, s.Version())
	}
	if got := query(t, s, "SELECT string_agg(DISTINCT auth_method, ' ') FROM pg_hba_file_rules"); got != "scram-sha-256" {
		t.Errorf("authentication by %s", got)
	}
}

func TestDurableServerSyncs(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Durable: true})
	if got := query(t, s, "SELECT current_setting('fsync') || current_setting('full_page_writes')"); got != "onon" {
		t.Errorf("fsync and full_page_writes are %s", got)
	}
}

func TestWrongPasswordIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Superuser: "chief", Password: "it's a secret/@:"})
	if got := query(t, s, "SELECT current_user || rolsuper FROM pg_roles WHERE rolname = current_user"); got != "chieftrue" {
		t.Errorf("the superuser is %q", got)
	}
	wrong := strings.Replace(s.DSN("postgres"), "secret", "guess", 1)
	if conn, err := pgx.Connect(t.Context(), wrong); err == nil {
		_ = conn.Close(t.Context())
		t.Error("a wrong password was accepted")
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	pid, root := s.PID(), s.folder.root
	family := append(childrenOf(pid), pid)
	if len(family) < 2 {
		t.Fatalf("postmaster %d has no children", pid)
	}
	conn, err := pgx.Connect(t.Context(), s.DSN("postgres")) // a session that stays
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for range 2 { // the second call does nothing
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	expectDead(t, family)
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
	if s.PID() != 0 {
		t.Error("a stopped server has a process id")
	}
	if s.Restart(t.Context()) == nil || s.Kill() == nil {
		t.Error("a stopped server was restarted or killed")
	}
}

func TestKillAndRestartRecovers(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	execute(t, s, "CREATE TABLE t AS SELECT generate_series(1, 1000) AS n")
	port := s.Port()
	for range 2 {
		// A session busy with pure computing notices nothing by itself.
		go func() {
			conn, err := pgx.Connect(context.Background(), s.DSN("postgres"))
			if err == nil {
				_, _ = conn.Exec(context.Background(), "SELECT count(*) FROM generate_series(1, 1000000000) a")
			}
		}()
		eventually(t, "a session computes", func() bool {
			return query(t, s, "SELECT count(*)::text FROM pg_stat_activity WHERE query LIKE 'SELECT count(*) FROM generate%'") == "1"
		})
		pid := s.PID()
		family := append(childrenOf(pid), pid)
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		expectDead(t, family)
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Port() != port {
			t.Errorf("the port changed from %d to %d", port, s.Port())
		}
		if got := query(t, s, "SELECT count(*)::text FROM t"); got != "1000" {
			t.Errorf("%s rows after recovery", got)
		}
	}
}

func TestTwoServersSideBySide(t *testing.T) {
	t.Parallel()
	a, b := start(t, Options{}), start(t, Options{})
	execute(t, a, "CREATE TABLE only_a ()")
	if got := query(t, b, "SELECT count(*)::text FROM pg_class WHERE relname = 'only_a'"); got != "0" {
		t.Error("two servers share a cluster")
	}
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	query(t, b, "SELECT 'b lives'")
}

func TestNamedDataFolderIsReused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(reachableDir(t), "cluster")
	s := start(t, Options{DataDir: dir, Password: "p"})
	execute(t, s, "CREATE TABLE kept ()")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{DataDir: dir}); err == nil {
		t.Fatal("a cluster was reused without its password")
	}
	s = start(t, Options{DataDir: dir, Password: "p"})
	if got := query(t, s, "SELECT count(*)::text FROM pg_class WHERE relname = 'kept'"); got != "1" {
		t.Error("the cluster was made anew")
	}
}

func TestTakenPortIsReported(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Start(t.Context(), Options{Port: l.Addr().(*net.TCPAddr).Port})
	if err == nil || !strings.Contains(err.Error(), "the port is taken") || !strings.Contains(err.Error(), "could not bind") {
		t.Errorf("the error does not say why: %v", err)
	}
}

func TestFailedStartQuotesTheLogAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(reachableDir(t), "cluster")
	_, err := Start(t.Context(), Options{DataDir: dir, Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), `unrecognized configuration parameter "no_such_setting"`) {
		t.Errorf("the error does not quote the log: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{}); err == nil {
		t.Error("a canceled start succeeded")
	}
}

// reachableDir is a test folder that the unprivileged user can enter, which
// t.TempDir is not when the tests run as root.
func reachableDir(t *testing.T) string {
	t.Helper()
	own, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	base, err := temporaryBase(own)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "pgserver-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}
