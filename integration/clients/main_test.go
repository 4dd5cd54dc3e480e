package clients

import (
	"context"
	"errors"
	"fmt"
	"net"
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
const patience = 10 * time.Minute

// Both ways lead to a database of this name, for a user of this name: the user of
// kproxy is called as the reader role that all its sessions run as.
const (
	database = "clinic"
	user     = "analyst"
	password = "analyst's pass:word/é"
	owner    = "keeper"
)

// site is the server with the kproxy that all clients connect to, started by the first
// of them: what is read before the tests run would not count when go test decides
// whether a result still holds.
var site struct {
	once        sync.Once
	err         error
	server      *pgserver.Server
	dir         string
	certificate string // a file: of kproxy and of the server
	verifier    string // the secret of SCRAM by which kproxy knows the user
	ways        [2]way
	stops       []func() error // in the order of the starts
	mu          sync.Mutex     // of stops, once tests run
}

// cleanup has something done when all tests have run.
func cleanup(stop func() error) {
	site.mu.Lock()
	defer site.mu.Unlock()
	site.stops = append(site.stops, stop)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if code != 0 && site.dir != "" {
		log, _ := os.ReadFile(filepath.Join(site.dir, "log")) // none if kproxy was not started
		for line := range strings.Lines(string(log)) {
			if !strings.Contains(line, "level=INFO") {
				fmt.Fprint(os.Stderr, line)
			}
		}
	}
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
	if site.dir, err = os.MkdirTemp("", "kproxy-clients-"); err != nil {
		return err
	}
	cleanup(func() error { return os.RemoveAll(site.dir) })
	program, err := rig.Build(site.dir)
	if err != nil {
		return err
	}
	if err := certify(); err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	if site.server, err = pgserver.Start(context.Background(), pgserver.Options{}); err != nil {
		return err
	}
	cleanup(site.server.Stop)
	site.ways[straight] = way{name: "straight", port: site.server.Port()}
	if err := load(ctx); err != nil {
		return fmt.Errorf("loading the tables: %w", err)
	}
	configuration, err := configure(ctx, program)
	if err != nil {
		return err
	}
	setup := exec.CommandContext(ctx, program, "setup", "--config", configuration, "--admin-url", site.server.DSN(database))
	if output, err := setup.CombinedOutput(); err != nil {
		return fmt.Errorf("kproxy setup: %w\n%s", err, output)
	}
	if err := serve(program, configuration); err != nil {
		return err
	}
	return open(ctx)
}

// load makes the database.
func load(ctx context.Context) error {
	statements, err := os.ReadFile("testdata/schema.sql")
	if err != nil {
		return err
	}
	return errors.Join(execute(ctx, site.server, "postgres", "CREATE DATABASE "+database), execute(ctx, site.server, database, string(statements)))
}

// open lets the reader role work without kproxy as a client works with it: it finds
// what is published, reads only, and demands TLS with the same certificate.
func open(ctx context.Context) error {
	key, err := os.ReadFile(filepath.Join(site.dir, "server.key"))
	if err != nil {
		return err
	}
	certificate, err := os.ReadFile(site.certificate)
	if err != nil {
		return err
	}
	// The server reads its key only from a file of its own that nobody else can read.
	const write = `CREATE TEMPORARY TABLE lines AS SELECT line FROM unnest(string_to_array('%s', E'\n')) line WHERE line <> '';
		COPY lines TO PROGRAM 'umask 077 && cat >%s'; DROP TABLE lines`
	for _, sql := range []string{
		"ALTER ROLE " + user + " SET search_path = kproxy_release_public, public",
		"ALTER ROLE " + user + " SET default_transaction_read_only = on",
		// For clients that name the schema; through kproxy they get what stands for the table.
		"GRANT SELECT ON public.wards TO " + user,
		fmt.Sprintf(write, key, "clients.key"),
		fmt.Sprintf(write, certificate, "clients.crt"),
		"ALTER SYSTEM SET ssl_cert_file = 'clients.crt'",
		"ALTER SYSTEM SET ssl_key_file = 'clients.key'",
		"ALTER SYSTEM SET ssl = on",
		"SELECT pg_reload_conf()",
	} {
		if err := execute(ctx, site.server, database, sql); err != nil {
			return fmt.Errorf("opening the straight way: %w", err)
		}
	}
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, site.ways[straight].url())
		if err == nil {
			return conn.Close(ctx)
		}
		if !strings.Contains(err.Error(), "refused TLS") {
			return fmt.Errorf("the straight way: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

// execute runs statements as the superuser.
func execute(ctx context.Context, server *pgserver.Server, database, sql string) error {
	conn, err := pgx.Connect(ctx, server.DSN(database))
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return errors.Join(err, conn.Close(ctx))
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
	site.ways[through] = way{name: "through kproxy", port: port}
	tables, err := os.ReadFile("testdata/tables.yaml")
	if err != nil {
		return "", err
	}
	secret := filepath.Join(site.dir, "password")
	path := filepath.Join(site.dir, "kproxy.yaml")
	site.verifier = strings.TrimSpace(string(made))
	// Balancers connect from the second address, clients from the first.
	text := fmt.Sprintf(`listen: %s
proxy_protocol: {from: 127.0.0.2}
tls: {cert_file: server.crt, key_file: server.key}
users: [{name: %s, verifier: %s}]
upstream:
  owner: {host: 127.0.0.1, port: %d, database: %s, user: %s, password_file: %s, sslmode: disable}
  reader: {user: %s, password_file: %s}
%s`, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), user, site.verifier, site.server.Port(), database, owner, secret, user, secret, tables)
	return path, errors.Join(os.WriteFile(secret, []byte(password+"\n"), 0o600), os.WriteFile(path, []byte(text), 0o600))
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
	cleanup(func() error {
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
