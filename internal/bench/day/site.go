package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/integration/certificate"
	"github.com/kproxy/kproxy/integration/child"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/scram"
)

const (
	database       = "hospital"
	clientUser     = "analyst"
	clientPassword = "client-secret"
	ownerPassword  = "owner-secret"
	readerPassword = "reader-secret"
	slot           = "kproxy"
)

// site is a hospital's database with kproxy in front of it.
type site struct {
	options
	dir     string
	server  *pgserver.Server
	kproxy  *child.Process
	clients int    // port where clients connect
	metrics string // URL
	admin   string // URL of the superuser
	// loaded and published are how long it took to fill the table, and from kproxy's
	// start until its release could be read.
	loaded, published time.Duration
	generation        int64 // of the release, which stays the same all day
}

// newSite makes the database, publishes its patients, and returns once clients can read
// them.
func newSite(ctx context.Context, o options, progress io.Writer) (_ *site, err error) {
	s := &site{options: o}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "kproxy-day-"); err != nil {
		return nil, err
	}
	if s.server, err = pgserver.Start(ctx, pgserver.Options{Durable: true, Settings: s.settings()}); err != nil {
		return nil, err
	}
	s.admin = s.server.DSN(database)
	fmt.Fprintf(progress, "PostgreSQL %s; loading %d patients.\n", s.server.Version(), o.Patients)
	begin := time.Now()
	if err := during(progress, "loading", func() error { return s.load(ctx) }); err != nil {
		return nil, fmt.Errorf("loading the hospital: %w", err)
	}
	s.loaded = time.Since(begin)
	fmt.Fprintf(progress, "Loaded in %.0f s; publishing.\n", s.loaded.Seconds())
	begin = time.Now()
	if err := during(progress, "publishing", func() error { return s.serve(ctx) }); err != nil {
		return nil, err
	}
	s.published = time.Since(begin)
	fmt.Fprintf(progress, "Published in %.0f s; the day begins.\n", s.published.Seconds())
	return s, nil
}

func (s *site) close() {
	if s.kproxy != nil {
		s.kproxy.End(time.Minute)
	}
	if s.server != nil {
		if err := s.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "day: stopping PostgreSQL:", err)
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, "day:", err)
	}
}

// settings are those of the server that its administrator would choose for this machine:
// a query runs on one core, so that there is another one for those who wait for less.
func (s *site) settings() map[string]string {
	settings := map[string]string{
		"max_connections": fmt.Sprint(s.Dashboards + 100), "shared_buffers": fmt.Sprintf("%dMB", s.buffers()>>20),
		"max_wal_size": "4GB", "checkpoint_timeout": "5min", "jit": "on",
	}
	if runtime.NumCPU() <= 4 {
		settings["max_parallel_workers_per_gather"] = "0"
	}
	return settings
}

// load makes the source table.
func (s *site) load(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.server.DSN("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+database)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	if conn, err = pgx.Connect(ctx, s.admin); err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := hospital.Load(ctx, conn, s.Patients, s.Seed); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	return err
}

// serve sets the database up, starts kproxy, and waits until there is a release.
func (s *site) serve(ctx context.Context) error {
	configuration, err := s.configuration()
	if err != nil {
		return err
	}
	if err := s.write("kproxy.yaml", configuration); err != nil {
		return err
	}
	if output, err := s.command(ctx, "setup").CombinedOutput(); err != nil {
		return fmt.Errorf("kproxy setup: %w: %s", err, output)
	}
	if s.kproxy, err = child.Start(s.command(context.WithoutCancel(ctx), "serve"), s.path("kproxy.log")); err != nil {
		return err
	}
	return s.awaitRelease(ctx)
}

// awaitRelease waits until there is a release that clients can read, as long as kproxy
// lives.
func (s *site) awaitRelease(ctx context.Context) error {
	admin, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer admin.Close(context.WithoutCancel(ctx))
	const shown = "SELECT generation FROM kproxy_store.generation WHERE table_name = 'patients' AND shows IS NULL AND halted IS NULL AND lsn IS NOT NULL"
	for {
		err := admin.QueryRow(ctx, shown).Scan(&s.generation)
		if err == nil && s.isRead(ctx) {
			return nil
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("waiting for the release: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.kproxy.Exited():
			return fmt.Errorf("kproxy ended:\n%s", s.kproxy.Said())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// isRead says whether a client is shown a row.
func (s *site) isRead(ctx context.Context) bool {
	conn, err := s.connect(ctx)
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var row int
	return conn.QueryRow(ctx, "SELECT 1 FROM patients LIMIT 1").Scan(&row) == nil
}

// command is one of kproxy's, with the site's configuration.
func (s *site) command(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Program, arguments...)
	cmd.Env = append(os.Environ(), "KPROXY_CONFIG="+s.path("kproxy.yaml"), "KPROXY_ADMIN_URL="+s.admin,
		"OWNER_PASSWORD="+ownerPassword, "READER_PASSWORD="+readerPassword)
	return cmd
}

// sections are the configuration's sections tables and readable.
var sections = regexp.MustCompile(`(?m)^tables:\n(?:(?: .*|#.*)?\n)+readable: .*\n`)

// The policy is the example's, k = 5 and two diagnoses, but guarded: newcomers wait for a
// thousand others, and by night for a minute at most, which are 24 of that day.
const guardedUpdates = "\n    updates: {mode: guarded, within: 1m}\n"

const (
	k = 5
	l = 2
)

// configuration has clients log in by SCRAM and TLS, and everything on that a careful
// operator would have on.
func (s *site) configuration() (string, error) {
	verifier, err := scram.New(clientPassword)
	if err != nil {
		return "", err
	}
	ports, err := freePorts(2)
	if err != nil {
		return "", err
	}
	if err := certificate.Write(s.dir); err != nil {
		return "", err
	}
	s.clients, s.metrics = ports[0], fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[1])
	policy := strings.Replace(sections.FindString(string(kproxy.ExampleConfig)), "\n    updates: immediate\n", guardedUpdates, 1)
	if !strings.Contains(policy, guardedUpdates) || !strings.Contains(policy, fmt.Sprintf("- k: %d\n      - {l: %d, of: diagnosis}\n", k, l)) {
		return "", errors.New("the example's policy is another one than it was")
	}
	return fmt.Sprintf(`listen: 127.0.0.1:%d
database: %s
tls: {mode: require, cert_file: server.crt, key_file: server.key}
users: [{name: %s, verifier: %q}]
upstream:
  owner: {host: 127.0.0.1, port: %d, user: kproxy_owner, password_env: OWNER_PASSWORD, sslmode: disable, database: %s}
  reader: {user: kproxy_reader, password_env: READER_PASSWORD}
slot: %s
replication: {heartbeat: 1s}
limits: {max_sessions: %d}
metrics: {listen: "127.0.0.1:%d"}
audit: {file: %s}
log: {level: warn}
%s
`, s.clients, database, clientUser, verifier.String(), s.server.Port(), database, slot, s.Dashboards+20, ports[1], s.path("audit.jsonl"), policy), nil
}

// connect logs in as an analyst, by TLS and SCRAM-SHA-256.
func (s *site) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s dbname=%s sslmode=verify-full sslrootcert=%s",
		s.clients, clientUser, clientPassword, database, s.path("server.crt")))
	if err != nil {
		return nil, err
	}
	// As Cube's driver: texts, and no statement that is kept.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, config)
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) error {
	return os.WriteFile(s.path(name), []byte(text), 0o600)
}

// freePorts are different ones that nobody listens on at the moment.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
