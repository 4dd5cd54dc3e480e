package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestStrangersInPgCatalog puts a function, an operator and a cast beside PostgreSQL's own
// while kproxy serves: statements that may mean them are refused, and pass again once they
// are gone.
func TestStrangersInPgCatalog(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(operatedSchema, countedPolicy))
	admin, client := connect(t, s.admin), connect(t, s.url())
	for _, c := range []struct{ plant, sql, state, told, remove string }{
		{
			"CREATE FUNCTION pg_catalog.abs(text) RETURNS text LANGUAGE sql AS 'SELECT $1'", "SELECT abs(-1)::text",
			"42501", "function pg_catalog.abs(text)", "DROP FUNCTION pg_catalog.abs(text)",
		},
		{
			"CREATE OPERATOR pg_catalog.- (leftarg = text, rightarg = text, function = pg_catalog.textcat)", "SELECT (2 - 1)::text",
			"42501", "operator pg_catalog.- (text, text)", "DROP OPERATOR pg_catalog.- (text, text)",
		},
		{
			"CREATE FUNCTION public.truth(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; CREATE CAST (text AS int) WITH FUNCTION public.truth(text) AS IMPLICIT",
			"SELECT 'a'", "55000", "cast (text AS integer)", "DROP CAST (text AS int)",
		},
	} {
		awaitAnswer(t, client, c.sql, "")
		execute(t, admin, c.plant)
		awaitAnswer(t, client, c.sql, c.state)
		if checked := s.kproxy(t, "check"); !strings.Contains(checked.stdout+checked.stderr, c.told) {
			t.Errorf("check does not tell of %s:\n%s%s", c.told, checked.stdout, checked.stderr)
		}
		execute(t, admin, c.remove)
		awaitAnswer(t, client, c.sql, "")
	}
}

// awaitAnswer waits until the statement is answered with the SQLSTATE; "" is none.
func awaitAnswer(t *testing.T, conn *pgx.Conn, sql, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		var refusal *pgconn.PgError
		switch {
		case err == nil && want == "":
			return
		case errors.As(err, &refusal) && refusal.Code == want:
			if refusal.Hint == "" {
				t.Errorf("%s: no hint: %v", sql, err)
			}
			return
		case ctx.Err() != nil:
			t.Fatalf("%s is never answered with %q: %v", sql, want, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
