package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/scram"
)

const (
	analyst       = "analyst"
	defaultListen = "127.0.0.1:6432"
	// operator may log in to the console, at this address if it is free.
	operator       = "admin"
	defaultConsole = "127.0.0.1:6480"
	// defaultMetrics is where Prometheus reads, likewise.
	defaultMetrics = "127.0.0.1:9187"
	// passwordRunes is the length of the random passwords; 5 bits each.
	passwordRunes = 16
)

// build makes the database, its tables, the configuration, and what kproxy
// needs in the database.
func (s *stage) build(ctx context.Context, source source) error {
	c, err := base()
	if err != nil {
		return err
	}
	s.config = c
	if err := source.configure(c); err != nil {
		return err
	}
	if s.Guarded {
		guard(c.Policy)
	}
	if err := s.access(ctx); err != nil {
		return err
	}
	if err := s.execute(ctx, "postgres", func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{c.Database}.Sanitize())
		return err
	}); err != nil {
		return fmt.Errorf("creating the database: %w", err)
	}
	s.say("Loading the data into database %s.", c.Database)
	return s.execute(ctx, c.Database, func(conn *pgx.Conn) error {
		if err := source.load(ctx, conn); err != nil {
			return err
		}
		// PostgreSQL before 15 lets everybody create objects in schema public.
		if _, err := conn.Exec(ctx, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"); err != nil {
			return fmt.Errorf("closing schema public: %w", err)
		}
		return provision.Apply(ctx, conn, provision.Input{
			Policy:      c.Policy,
			Owner:       provision.Login{Name: c.Upstream.Owner.User, Password: c.Upstream.Owner.Password.Reveal()},
			Reader:      provision.Login{Name: c.Upstream.Reader.User, Password: c.Upstream.Reader.Password.Reveal()},
			Publication: c.Publication,
		})
	})
}

// shortWait is how long new records wait in a demonstration before a small batch.
const shortWait = 10 * time.Second

// guard has the updates of all tables guarded.
func guard(policy catalog.Policy) {
	for i, t := range policy.Tables {
		if policy.IsMember(t.Table) {
			policy.Tables[i].Updates = catalog.Updates{Mode: catalog.Guarded, Batch: catalog.DefaultBatch, Within: shortWait, RowsWithin: shortWait}
			continue
		}
		policy.Tables[i].Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: catalog.DefaultCrowd, Batch: catalog.DefaultBatch, Within: shortWait}
		policy.Tables[i].Suppression, policy.Tables[i].Reanonymize = 0, 0
	}
}

// access sets addresses and fresh passwords.
func (s *stage) access(ctx context.Context) error {
	c := s.config
	s.password = randomPassword()
	verifier, err := scram.New(s.password)
	if err != nil {
		return err
	}
	c.Users = []config.User{{Name: analyst, Verifier: config.NewSecret(verifier.String())}}
	for _, connection := range []*config.Connection{&c.Upstream.Owner, &c.Upstream.Reader} {
		connection.Host, connection.Port, connection.Database = "127.0.0.1", s.server.Port(), c.Database
		connection.SSLMode = "disable"
		connection.Password = config.NewSecret(randomPassword())
	}
	c.Listen = []string{s.Listen}
	if s.Listen == "" {
		c.Listen[0] = freeAddress(ctx, defaultListen, s.Once)
	}
	if s.Once {
		return nil // no browser is used
	}
	return s.console(ctx)
}

// console has the web console opened, with everything that it can do, and metrics.
func (s *stage) console(ctx context.Context) error {
	s.consolePassword = randomPassword()
	verifier, err := scram.New(s.consolePassword)
	if err != nil {
		return err
	}
	s.config.Console = config.Console{
		Listen: freeAddress(ctx, defaultConsole, false), Actions: config.Allow,
		Users: []config.ConsoleUser{{Name: operator, Verifier: config.NewSecret(verifier.String())}},
	}
	s.config.Verify.Every = time.Minute
	s.config.Metrics.Listen = freeAddress(ctx, defaultMetrics, false)
	return nil
}

// freeAddress prefers the documented port; a tour takes any free one.
func freeAddress(ctx context.Context, documented string, anyPort bool) string {
	if !anyPort {
		if listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", documented); err == nil {
			_ = listener.Close()
			return documented
		}
	}
	return "127.0.0.1:0"
}

func randomPassword() string { return rand.Text()[:passwordRunes] }

// execute runs do on a superuser's connection to the private server.
func (s *stage) execute(ctx context.Context, database string, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.server.DSN(database))
	if err != nil {
		return fmt.Errorf("connecting to the private server: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}
