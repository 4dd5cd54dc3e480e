package pgtest_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestDatabasesAreFreshAndDropped(t *testing.T) {
	s := pgtest.Shared(t)
	if s != pgtest.Shared(t) {
		t.Fatal("two shared servers")
	}
	var names []string
	t.Run("inner", func(t *testing.T) {
		for range 2 {
			conn := connect(t, pgtest.Database(t, s))
			if _, err := conn.Exec(t.Context(), "CREATE TABLE t ()"); err != nil {
				t.Fatal(err)
			}
			// What is left behind must not be in the way: an open session, an
			// idle slot, and a slot in use.
			const slot = "SELECT pg_create_logical_replication_slot($1, 'pgoutput')"
			if _, err := conn.Exec(t.Context(), slot, "idle_"+conn.Config().Database); err != nil {
				t.Fatal(err)
			}
			names = append(names, conn.Config().Database)
		}
		replicate(t, s.DSN(names[0]))
	})
	conn := connect(t, s.DSN("postgres"))
	for _, sql := range []string{
		"SELECT count(*) FROM pg_database WHERE datname = ANY($1)",
		"SELECT count(*) FROM pg_replication_slots WHERE database = ANY($1)",
	} {
		var left int
		if err := conn.QueryRow(t.Context(), sql, names).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left != 0 {
			t.Errorf("%d left by %s", left, sql)
		}
	}
}

// replicate leaves a walsender that streams from a slot.
func replicate(t *testing.T, dsn string) {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["replication"] = "database"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	pg := conn.PgConn()
	if _, err := pg.Exec(t.Context(), `CREATE_REPLICATION_SLOT "busy" LOGICAL pgoutput`).ReadAll(); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), "CREATE PUBLICATION p").ReadAll(); err != nil {
		t.Fatal(err)
	}
	pg.Frontend().Send(&pgproto3.Query{String: `START_REPLICATION SLOT "busy" LOGICAL 0/0 (proto_version '1', publication_names 'p')`})
	if err := pg.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	for { // CopyBothResponse says that the slot is in use
		message, err := pg.Frontend().Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch message := message.(type) {
		case *pgproto3.CopyBothResponse:
			return
		case *pgproto3.ErrorResponse:
			t.Fatal(message.Message)
		}
	}
}
