package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver"
)

const (
	// patience bounds what must happen soon; nothing is measured against it.
	patience = 5 * time.Minute

	// recorded is the major version of PostgreSQL that the golden files are of.
	recorded = 15

	// The suites' own names: they are the same whichever way a suite goes.
	user     = "postgres"
	password = "secret"
	database = "suites"
)

// scratch is a folder for the whole run that any user can enter.
var scratch string

func TestMain(m *testing.M) {
	code, err := prepareAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func prepareAndRun(m *testing.M) (code int, err error) {
	scratch, err = os.MkdirTemp("", "kproxy-suites-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := os.Chmod(scratch, 0o755); err != nil {
		return 1, err
	}
	defer func() {
		if postgres.server != nil {
			err = errors.Join(err, postgres.server.Stop())
		}
	}()
	return m.Run(), nil
}

// postgres is the server of all suites, started at the first use.
var postgres struct {
	once   sync.Once
	server *pgserver.Server
	err    error
}

func server(t *testing.T) *pgserver.Server {
	t.Helper()
	postgres.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if postgres.server, postgres.err = pgserver.Start(ctx, pgserver.Options{Superuser: user, Password: password}); postgres.err == nil {
			postgres.err = serveTLS(ctx, postgres.server)
		}
	})
	if postgres.err != nil {
		t.Fatal(postgres.err)
	}
	return postgres.server
}

// skipUnlessRecorded skips a test whose golden files are of another version's answers.
func skipUnlessRecorded(t *testing.T) {
	t.Helper()
	if version := server(t).Version(); version.Major != recorded {
		t.Skipf("what comes of the suites is recorded for PostgreSQL %d, this is %s", recorded, version)
	}
}

// serveTLS has the server show the certificate, to clients that want to see it.
func serveTLS(ctx context.Context, s *pgserver.Server) error {
	shown, err := ofLoopback()
	if err != nil {
		return err
	}
	if err := shown.copyTo(s.DataDir()); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ALTER SYSTEM SET ssl = on")
	return errors.Join(err, conn.Close(ctx), s.Restart(ctx))
}

// freshDatabase makes the suites' database anew, with statements of the superuser. What
// fails for want of an extension's files is left out.
func freshDatabase(t *testing.T, statements ...string) {
	t.Helper()
	execute(t, "postgres", "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)", "CREATE DATABASE "+database)
	execute(t, database, statements...)
}

// execute runs statements on a database as the superuser.
func execute(t *testing.T, database string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, server(t).DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// program builds kproxy, once.
var program = sync.OnceValues(func() (string, error) {
	return rig.Build(scratch)
})
