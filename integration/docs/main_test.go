package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
)

const (
	// patience bounds what must happen soon; nothing is measured against it.
	patience = 5 * time.Minute
	// usual is how many patients a page's database has unless it asks for others.
	usual = 2000
)

// shared is what the pages have in common, made when the first test needs it.
var shared struct {
	dir     string
	program once[string]           // the path of kproxy
	filled  once[*pgserver.Backup] // a server with the usual hospital
}

// once keeps what was made at the first use.
type once[T any] struct {
	sync.Once
	value T
	err   error
}

func (o *once[T]) get(t *testing.T, make func() (T, error)) T {
	t.Helper()
	o.Do(func() { o.value, o.err = make() })
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o.value
}

func TestMain(m *testing.M) {
	var err error
	if shared.dir, err = os.MkdirTemp("", "kproxy-docs-"); err == nil {
		err = os.Chmod(shared.dir, 0o755)
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	if err := errors.Join(err, os.RemoveAll(shared.dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// program builds kproxy.
func program(t *testing.T) string {
	t.Helper()
	return shared.program.get(t, func() (string, error) {
		return rig.Build(filepath.Join(shared.dir, "bin"))
	})
}

// database starts a server with a hospital of so many patients.
func database(t *testing.T, patients int) *pgserver.Server {
	t.Helper()
	if patients != usual {
		server := launch(t, pgserver.Options{})
		if err := fill(t.Context(), server, patients); err != nil {
			t.Fatal(err)
		}
		return server
	}
	backup := shared.filled.get(t, func() (*pgserver.Backup, error) {
		ctx := context.Background() // it outlives the test that makes it
		server, err := pgserver.Start(ctx, pgserver.Options{})
		if err != nil {
			return nil, err
		}
		var backup *pgserver.Backup
		if err = fill(ctx, server, usual); err == nil {
			backup, err = server.Backup(ctx, filepath.Join(shared.dir, "filled"))
		}
		return backup, errors.Join(err, server.Stop())
	})
	return launch(t, pgserver.Options{Backup: backup, SameTimeline: true})
}

// launch starts a server that is stopped with the test.
func launch(t *testing.T, o pgserver.Options) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("stopping the page's server: %v", err)
		}
	})
	return server
}

// fill makes the database hospital.
func fill(ctx context.Context, server *pgserver.Server, patients int) error {
	if err := on(ctx, server, "postgres", func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE hospital")
		return err
	}); err != nil {
		return err
	}
	return on(ctx, server, "hospital", func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"); err != nil {
			return err
		}
		return hospital.Load(ctx, conn, patients, 1)
	})
}

// loadPersons adds the persons of the demonstration, of the seed that they have there.
func loadPersons(t *testing.T, server *pgserver.Server, persons int) {
	t.Helper()
	err := on(t.Context(), server, "hospital", func(conn *pgx.Conn) error {
		return hospital.LoadHistories(t.Context(), conn, persons, 2)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// on does something as the superuser.
func on(ctx context.Context, server *pgserver.Server, database string, use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, server.DSN(database))
	if err != nil {
		return fmt.Errorf("connecting to the page's server: %w", err)
	}
	return errors.Join(use(conn), conn.Close(ctx))
}
