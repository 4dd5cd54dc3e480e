package draft_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/draft"
	"github.com/kproxy/kproxy/hospital"
	"github.com/kproxy/kproxy/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// database makes a database and returns its connection string.
func database(t *testing.T, load func(context.Context, *pgx.Conn) error) string {
	t.Helper()
	dsn := pgtest.Database(t, pgtest.Shared(t))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := load(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// proposed drafts from a database.
func proposed(t *testing.T, o draft.Options) *draft.Outcome {
	t.Helper()
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "kproxy.yaml")
	}
	o.User, o.Listen, o.Seed = "analyst", "127.0.0.1:6432", 1
	outcome, err := draft.Database(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestHospital(t *testing.T) {
	t.Parallel()
	dsn := database(t, func(ctx context.Context, conn *pgx.Conn) error { return hospital.Load(ctx, conn, 5000, 1) })
	outcome := proposed(t, draft.Options{DSN: dsn, Sample: 2000})
	var report strings.Builder
	if err := outcome.Report(&report); err != nil {
		t.Fatal(err)
	}
	t.Log(report.String())
	t.Log(outcome.Text)
}
