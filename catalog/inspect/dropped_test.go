package inspect

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestViewsDroppedWhileRead drops a view that is in the snapshot, before its definition is written.
// What is found is as without it.
func TestViewsDroppedWhileRead(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, pgtest.Shared(t))
	var conns [2]*pgx.Conn
	for i := range conns {
		var err error
		if conns[i], err = pgx.Connect(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conns[i].Close(context.WithoutCancel(t.Context())) })
	}
	admin, reader := conns[0], conns[1]
	if _, err := admin.Exec(t.Context(), "CREATE VIEW seven AS SELECT 7 AS n; CREATE VIEW eight AS SELECT 8 AS n"); err != nil {
		t.Fatal(err)
	}
	attempts, known := 0, new(Definitions)
	err := readingAgain(t.Context(), reader, func() error {
		rows, err := reader.Query(t.Context(), "SELECT oid::bigint FROM pg_class WHERE relname IN ('seven', 'eight')")
		if err != nil {
			return err
		}
		views, err := pgx.CollectRows(rows, pgx.RowTo[catalog.OID])
		if err != nil {
			return err
		}
		if attempts++; attempts == 1 {
			if _, err := admin.Exec(t.Context(), "DROP VIEW seven"); err != nil {
				return err
			}
		}
		return known.read(t.Context(), reader, views)
	})
	if err != nil || attempts != 2 || len(known.last) != 1 {
		t.Errorf("%d definitions after %d attempts, %v", len(known.last), attempts, err)
	}
}
