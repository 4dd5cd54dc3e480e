package integration

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ended is the SQLSTATE with which a statement fails, empty where it does not. A session
// that has ended may have said so before the statement came.
func ended(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql)
	var refused *pgconn.PgError
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("%s: %v", sql, err)
	}
	if err == nil {
		return ""
	}
	return refused.Code
}

// TestTimeouts bounds sessions by the configuration, on every version of PostgreSQL. A
// connection to the database outlives sessions that were idle for too long.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.settings = "timeouts: {statement: 2s, transaction: 5s, idle_in_transaction: 2s, idle: 2s}"
	s := ready(t, o)
	const long = "SELECT count(*) FROM generate_series(1, 1000000000)"
	admin, kept := connect(t, s.admin), 0
	const sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1"
	t.Run("statement", func(t *testing.T) {
		conn := connect(t, s.url())
		if code := ended(t, conn, long); code != "57014" {
			t.Errorf("a long statement ends with %q", code)
		}
		if code := ended(t, conn, "SET statement_timeout = 0"); code == "" {
			t.Error("a client takes the bound away")
		}
		if code := ended(t, conn, "SELECT 1"); code != "" {
			t.Errorf("the next statement ends with %q", code)
		}
	})
	t.Run("idle", func(t *testing.T) {
		conn := connect(t, s.url())
		time.Sleep(3 * time.Second)
		if code := ended(t, conn, "SELECT 1"); code != "57P05" {
			t.Errorf("an idle session ends with %q", code)
		}
		kept = scalar[int](t, admin, sessions, s.reader)
	})
	t.Run("idle in a transaction", func(t *testing.T) {
		conn := connect(t, s.url())
		if code := ended(t, conn, "BEGIN"); code != "" {
			t.Fatal(code)
		}
		time.Sleep(3 * time.Second)
		if code := ended(t, conn, "SELECT 1"); code != "25P03" {
			t.Errorf("a session that is idle in a transaction ends with %q", code)
		}
	})
	t.Run("transaction", func(t *testing.T) {
		conn := connect(t, s.url())
		code, began := ended(t, conn, "BEGIN"), time.Now()
		for code == "" && time.Since(began) < patience {
			time.Sleep(300 * time.Millisecond)
			code = ended(t, conn, "SELECT count(*) FROM people")
		}
		if code != "25P04" {
			t.Errorf("a long transaction ends with %q", code)
		}
	})
	if kept == 0 {
		t.Error("no connection is kept while nobody uses it")
	}
}
