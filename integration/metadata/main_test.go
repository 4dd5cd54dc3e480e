package metadata

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = 5 * time.Minute

// The names by which clients know the database and themselves. The server's database
// and the owner have others, which no client may see.
const (
	database = "clinic"
	user     = "analyst"
	password = "analyst's"
	reader   = "clinic_reader"
	owner    = "canary_owner"
	source   = "canary_database"
)

// site is the server with the kproxy that all tests describe, started by the first of
// them: what is read before the tests run would not count when go test decides whether
// a result still holds.
var site struct {
	once    sync.Once
	err     error
	server  *pgserver.Server
	address string
	dir     string
	stops   []func() error // in the order of the starts
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range slices.Backward(site.stops) {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// start has the site run.
func start(t *testing.T) {
	t.Helper()
	site.once.Do(func() { site.err = launch() })
	if site.err != nil {
		t.Fatal(site.err)
	}
}

func launch() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if site.dir, err = os.MkdirTemp("", "kproxy-metadata-"); err != nil {
		return err
	}
	site.stops = append(site.stops, func() error { return os.RemoveAll(site.dir) })
	if err := os.Chmod(site.dir, 0o755); err != nil {
		return err
	}
	program, err := rig.Build(site.dir)
	if err != nil {
		return err
	}
	if site.server, err = pgserver.Start(context.Background(), pgserver.Options{}); err != nil {
		return err
	}
	site.stops = append(site.stops, site.server.Stop)
	if err := load(ctx); err != nil {
		return fmt.Errorf("loading the tables: %w", err)
	}
	configuration, err := configure(ctx, program)
	if err != nil {
		return err
	}
	setup := exec.CommandContext(ctx, program, "setup", "--config", configuration, "--admin-url", site.server.DSN(source))
	if output, err := setup.CombinedOutput(); err != nil {
		return fmt.Errorf("kproxy setup: %w\n%s", err, output)
	}
	return serve(program, configuration)
}

// load makes the source database.
func load(ctx context.Context) error {
	statements, err := os.ReadFile("testdata/schema.sql")
	if err != nil {
		return err
	}
	beside, err := os.ReadFile("testdata/hidden.sql")
	if err != nil {
		return err
	}
	for _, step := range []struct{ database, sql string }{{"postgres", "CREATE DATABASE " + source}, {source, string(statements)}, {source, string(beside)}} {
		conn, err := pgx.Connect(ctx, site.server.DSN(step.database))
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, step.sql)
		if err = errors.Join(err, conn.Close(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// configure writes the configuration and returns its path.
func configure(ctx context.Context, program string) (string, error) {
	verifier := exec.CommandContext(ctx, program, "password")
	verifier.Stdin = strings.NewReader(password + "\n")
	made, err := verifier.Output()
	if err != nil {
		return "", fmt.Errorf("kproxy password: %w", err)
	}
	port, err := rig.FreePort()
	if err != nil {
		return "", err
	}
	site.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	tables, err := os.ReadFile("testdata/tables.yaml")
	if err != nil {
		return "", err
	}
	secret := filepath.Join(site.dir, "password")
	path := filepath.Join(site.dir, "kproxy.yaml")
	text := fmt.Sprintf(`listen: %s
database: %s
users: [{name: %s, verifier: %s}]
upstream:
  owner: {host: 127.0.0.1, port: %d, database: %s, user: %s, password_file: %s, sslmode: disable}
  reader: {user: %s, password_file: %s}
%s`, site.address, database, user, strings.TrimSpace(string(made)), site.server.Port(), source, owner, secret, reader, secret, tables)
	return path, errors.Join(os.WriteFile(secret, []byte("secret\n"), 0o600), os.WriteFile(path, []byte(text), 0o600))
}

// serve starts kproxy and returns once clients can connect.
func serve(program, configuration string) error {
	log, err := os.Create(filepath.Join(site.dir, "log"))
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "serve", "--config", configuration)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	site.stops = append(site.stops, func() error {
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait(), log.Close())
	})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(log.Name()); err == nil && strings.Contains(string(text), "msg=serving") {
			return nil
		}
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("kproxy does not serve:\n%s", text)
}

// clientURL is where clients connect.
func clientURL() string {
	u := url.URL{Scheme: "postgresql", User: url.UserPassword(user, password), Host: site.address, Path: "/" + database}
	return u.String()
}

// run runs a client and returns what it writes to both outputs. It is not judged by
// its exit code.
func run(t *testing.T, name string, arguments ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	host, port, err := net.SplitHostPort(site.address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Env = append(os.Environ(), "PGHOST="+host, "PGPORT="+port, "PGUSER="+user, "PGPASSWORD="+password, "PGDATABASE="+database,
		"PGCLIENTENCODING=UTF8", "LC_ALL=C.UTF-8")
	bytes, err := cmd.CombinedOutput()
	return string(bytes), err
}
