package check

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// configuredQuery returns a configuration with an auth_query, to a database of its own.
func configuredQuery(t *testing.T, query string) *config.Config {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	const schema = "CREATE TABLE verifiers (name text, verifier text); INSERT INTO verifiers VALUES ('ann', 'hers'), ('bob', NULL), ('eve', 'one'), ('eve', 'two')"
	if _, err := admin.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	at := admin.Config()
	c := &config.Config{}
	c.Timeouts.Connect = 10 * time.Second
	c.AuthQuery = config.AuthQuery{Query: query, Timeout: 5 * time.Second, Connection: config.Connection{
		Host: at.Host, Port: int(at.Port), Database: at.Database, User: at.User, SSLMode: "disable", Password: config.NewSecret(at.Password),
	}}
	return c
}

func TestCheckOfAuthQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT verifier FROM public.verifiers WHERE name = $1":       "",
		"SELECT verifier FROM public.none WHERE name = $1":            "42P01",
		"SELECT verifier, name FROM public.verifiers WHERE name = $1": "other columns",
		"SELECT 'one for all' || left($1, 0)":                         "who cannot exist",
		"SELECT 1 WHERE $1 <> ''":                                     "other columns",
		"UPDATE public.verifiers SET name = $1 RETURNING verifier":    "25006",
	} {
		c := configuredQuery(t, query)
		report := checkAuthQuery(t.Context(), c)
		if (want == "") != (len(report) == 0) || !strings.Contains(report.String(), want) {
			t.Errorf("%s: %s", query, report)
		}
		// A lookup that fails is fatal for nobody else; one that finds everybody is.
		if fatal := want == "who cannot exist"; (len(report.Errors()) > 0) != fatal {
			t.Errorf("%s: fatal %v: %s", query, !fatal, report)
		}
	}
	c := configuredQuery(t, "SELECT verifier FROM public.verifiers WHERE name = $1")
	c.AuthQuery.Connection.User = "nobody"
	if report := checkAuthQuery(t.Context(), c); !strings.Contains(report.String(), "user and password") {
		t.Errorf("a role that cannot log in: %s", report)
	}
}
