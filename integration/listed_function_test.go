package integration

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestListedFunctionsAreAccepted gives a listed function another definition: it is refused
// as what was not accepted, and comes back with the one that was.
func TestListedFunctionsAreAccepted(t *testing.T) {
	t.Parallel()
	const definition = "CREATE OR REPLACE FUNCTION twice(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT (2 * $1)::text'"
	o := referredSite()
	o.tables += "functions: [public.twice]\n"
	load := o.load
	o.load = func(ctx context.Context, conn *pgx.Conn) error {
		if err := load(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, definition)
		return err
	}
	s := ready(t, o)
	admin := connect(t, s.admin)
	execute(t, admin, "CREATE OR REPLACE FUNCTION twice(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT (3 * $1)::text'")
	eventually(t, "another definition is refused", func() bool {
		_, err := s.attempt(t, "SELECT twice(1) IS NOT NULL")
		return err != nil && strings.Contains(err.Error(), "function twice cannot be called now")
	})
	execute(t, admin, definition)
	eventually(t, "the accepted one comes back", func() bool {
		found, err := s.attempt(t, "SELECT twice(1) = '2'")
		return err == nil && found
	})
}
