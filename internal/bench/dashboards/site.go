package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/integration/child"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/scram"
)

const (
	database       = "hospital"
	clientUser     = "analyst"
	clientPassword = "client-secret"
)

// site is a hospital's database with kproxy in front of it.
type site struct {
	options
	dir                     string
	server                  *pgserver.Server
	kproxy                  *child.Process
	admin, clients          string // URLs of the superuser, and of kproxy's clients
	sourceSize, releaseSize string
	published               time.Duration
}

// newSite makes the database and its materialized views, and returns once clients can read the patients.
func newSite(ctx context.Context, o options) (_ *site, err error) {
	s := &site{options: o}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "kproxy-dashboards-"); err != nil {
		return nil, err
	}
	if s.server, err = pgserver.Start(ctx, pgserver.Options{Settings: map[string]string{"max_connections": "300", "max_wal_size": "4GB", "shared_buffers": "1GB", "jit": "on"}}); err != nil {
		return nil, err
	}
	s.admin = s.server.DSN(database)
	if err := s.load(ctx); err != nil {
		return nil, fmt.Errorf("loading the hospital: %w", err)
	}
	begin := time.Now()
	if err := s.serve(ctx); err != nil {
		return nil, err
	}
	s.published = time.Since(begin)
	return s, s.settle(ctx)
}

func (s *site) close() {
	if s.kproxy != nil {
		s.kproxy.End(time.Minute)
	}
	if s.server != nil {
		if err := s.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "dashboards: stopping PostgreSQL:", err)
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
	}
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
	if err := hospital.Load(ctx, conn, s.patients, 1); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	return err
}

// The ways in which changes become visible. Guarded newcomers wait for a batch, a minute at most.
const (
	immediate = "immediate"
	guarded   = "guarded"

	viewSummary      = "\n    summary: view\n"
	immediateUpdates = "\n    updates: immediate\n"
	guardedUpdates   = "\n    updates: {mode: guarded, within: 1m}\n"
)

// policy is the section tables of the example, whose updates are immediate.
var policy = regexp.MustCompile(`(?m)^tables:\n(?:(?: .*|#.*)?\n)+`)

// serve sets the database up, starts kproxy, and waits until clients can read the table.
func (s *site) serve(ctx context.Context) error {
	verifier, err := scram.New(clientPassword)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return err
	}
	tables := policy.FindString(string(kproxy.ExampleConfig))
	if !strings.Contains(tables, immediateUpdates) || !strings.Contains(tables, viewSummary) {
		return errors.New("the example's policy is another one than it was")
	}
	if s.updates == guarded {
		tables = strings.Replace(tables, immediateUpdates, guardedUpdates, 1)
	}
	tables = strings.Replace(tables, viewSummary, "\n    summary: "+s.summary+"\n", 1)
	configuration := fmt.Sprintf(`listen: %s
database: %s
tls: {mode: off}
users: [{name: %s, verifier: %q}]
upstream:
  owner: {host: 127.0.0.1, port: %d, database: %s, user: kproxy_owner, password_env: OWNER_PASSWORD, sslmode: disable}
  reader: {user: kproxy_reader, password_env: READER_PASSWORD}
limits: {max_sessions: 200}
answers: {size: 64MB}
log: {level: warn}
%s`, address, database, clientUser, verifier.String(), s.server.Port(), database, tables)
	file := filepath.Join(s.dir, "kproxy.yaml")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		return err
	}
	s.clients = fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", clientUser, clientPassword, address, database)
	command := func(ctx context.Context, argument string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, s.program, argument)
		cmd.Env = append(os.Environ(), "KPROXY_CONFIG="+file, "KPROXY_ADMIN_URL="+s.admin, "OWNER_PASSWORD=owner-secret", "READER_PASSWORD=reader-secret")
		return cmd
	}
	if output, err := command(ctx, "setup").CombinedOutput(); err != nil {
		return fmt.Errorf("kproxy setup: %w: %s", err, output)
	}
	if s.kproxy, err = child.Start(command(context.WithoutCancel(ctx), "serve"), filepath.Join(s.dir, "kproxy.log")); err != nil {
		return err
	}
	return s.await(ctx)
}

// await waits until clients can read the table.
func (s *site) await(ctx context.Context) error {
	for {
		err := func() error {
			conn, err := pgx.Connect(ctx, s.clients)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			var published int
			if err := conn.QueryRow(ctx, questions[0].sql).Scan(&published); err == nil && published > 0 {
				return nil
			}
			return errors.Join(err, errors.New("nothing is published"))
		}()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-s.kproxy.Exited():
			return fmt.Errorf("kproxy ended:\n%s", s.kproxy.Said())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// settle makes the materialized views, and has the server know its tables.
func (s *site) settle(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for number, q := range questions {
		if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE MATERIALIZED VIEW %s AS %s", viewName(number), q.sql)); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	if _, err := conn.Exec(ctx, "VACUUM (ANALYZE, FREEZE)"); err != nil {
		return err
	}
	const sizes = `SELECT pg_size_pretty(pg_table_size('patients')), pg_size_pretty(sum(pg_table_size(oid))) FROM pg_class
		WHERE relnamespace = 'kproxy_store'::regnamespace AND relname ~ '^(packed|release)_[0-9]+$' AND relkind = 'r'`
	return conn.QueryRow(ctx, sizes).Scan(&s.sourceSize, &s.releaseSize)
}

// change has rows of the source change, at the rate of the options, until stop is called.
func (s *site) change(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := s.changeUntil(ctx)
		if ctx.Err() != nil {
			err = nil
		}
		done <- err
	}()
	return func() error { cancel(); return <-done }
}

// changeUntil changes rows ten times a second, in transactions of their own, until the context ends.
func (s *site) changeUntil(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	const parts = 10
	each := max(1, s.rate/parts)
	tick := time.NewTicker(time.Second / parts)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		var batch pgx.Batch
		for i := range each {
			batch.Queue("UPDATE patients SET cost = cost + 1, marital_status = CASE WHEN $1 % 2 = 0 THEN 'single' ELSE 'married' END WHERE patient_id = 1 + $1 * 7919 % $2", n*each+i, s.patients)
		}
		if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}
