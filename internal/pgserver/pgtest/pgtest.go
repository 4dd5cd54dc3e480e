// Package pgtest gives a test binary one PostgreSQL server and its tests a
// database each.
//
// A package that uses it declares
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
package pgtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// limit bounds the making and the dropping of a database and the start.
const limit = 2 * time.Minute

// shared is the binary's server, started at the first use.
var shared struct {
	once   sync.Once
	server *pgserver.Server
	err    error
}

// databases numbers the databases of this binary.
var databases atomic.Int64

// Main runs the tests, stops the shared server if one was started, and exits.
func Main(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the tests' PostgreSQL server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Shared returns the server that all tests of the binary share. A test on a
// machine without server binaries fails; it is never skipped.
func Shared(t testing.TB) *pgserver.Server {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		shared.server, shared.err = pgserver.Start(ctx, pgserver.Options{})
	})
	switch {
	case errors.Is(shared.err, pgserver.ErrNotFound):
		t.Fatalf("%v: run `make postgres`", shared.err)
	case shared.err != nil:
		t.Fatal(shared.err)
	}
	return shared.server
}

// Verifier is an SCRAM-SHA-256 verifier (RFC 5802, section 3) of an ASCII password with one iteration
// in place of 4096, which take a client under the race detector tens of milliseconds. It is not
// random: for tests alone.
func Verifier(password string) string {
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	const salt = "salt of the test"
	salted := mac([]byte(password), salt+"\x00\x00\x00\x01")
	stored := sha256.Sum256(mac(salted, "Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return "SCRAM-SHA-256$1:" + encode([]byte(salt)) + "$" + encode(stored[:]) + ":" + encode(mac(salted, "Server Key"))
}

// Database makes an empty database on a server and returns its connection URL
// for the superuser. The database is dropped when the test ends, with the
// sessions and replication slots that are left on it; roles, which
// belong to the server, are not. Options follow the name in CREATE DATABASE.
//
// As PostgreSQL 15 and later have it, not everybody may make objects in the
// schema public.
func Database(t testing.TB, s *pgserver.Server, options ...string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if s.Version().Major >= 15 {
		// The other way writes the whole template into the WAL, which each stream of the server reads.
		options = append(options, "STRATEGY file_copy")
	}
	if err := execute(s, "postgres", "CREATE DATABASE "+name+" "+strings.Join(options, " ")); err != nil {
		t.Fatalf("making a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(s, name); err != nil {
			t.Errorf("dropping the test's database: %v", err)
		}
	})
	if err := execute(s, name, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"); err != nil {
		t.Fatalf("making a database for the test: %v", err)
	}
	return s.DSN(name)
}

// Connect makes a database on the shared server, runs statements in it, and returns a connection of the superuser, which
// is closed when the test ends.
func Connect(t testing.TB, statements string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), Database(t, Shared(t)))
	if err != nil {
		t.Fatalf("connecting to the test's database: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	Execute(t, conn, statements)
	return conn
}

// Execute runs statements.
func Execute(t testing.TB, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// dropSlots ends the users of a database's replication slots and drops those
// that are not in use any more.
const dropSlots = `
SELECT CASE WHEN active THEN pg_terminate_backend(active_pid)
            ELSE pg_drop_replication_slot(slot_name) IS NOT NULL END
FROM pg_replication_slots WHERE database = $1`

// drop removes a database. A slot is in use until its terminated session has
// ended, hence the attempts.
func drop(s *pgserver.Server, name string) error {
	const attempts, pause = 100, 50 * time.Millisecond
	var err error
	for range attempts {
		if err = execute(s, "postgres", dropSlots, name); err == nil {
			err = execute(s, "postgres", "DROP DATABASE "+name+" WITH (FORCE)")
		}
		if err == nil {
			return nil
		}
		time.Sleep(pause)
	}
	return err
}

// execute runs one statement on a database as the superuser.
func execute(s *pgserver.Server, database, sql string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql, args...)
	return errors.Join(err, conn.Close(ctx))
}
