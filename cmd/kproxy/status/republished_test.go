package status

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// beforeCounts does something before each count of a release.
type beforeCounts func()

func (f beforeCounts) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, `FROM "kproxy_store"."release_`) {
		f()
	}
	return ctx
}

func (beforeCounts) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// compareRepublished drops the release of a table twice between the snapshot that tells of it and its count: what is told
// is of the third one. It leaves the store as it was.
func compareRepublished(t *testing.T, settings *pgx.ConnConfig, execute func(sql string)) {
	t.Helper()
	const republish = `UPDATE kproxy_store.generation SET generation = %[2]d WHERE generation = %[1]d;
		ALTER TABLE kproxy_store.records_%[1]d RENAME TO records_%[2]d; ALTER TABLE kproxy_store.release_%[1]d RENAME TO release_%[2]d`
	const first, last = 17, 19
	execute(fmt.Sprintf(republish, 7, first))
	generation := first
	settings.Tracer = beforeCounts(func() {
		if generation < last {
			execute(fmt.Sprintf(republish, generation, generation+1))
			generation++
		}
	})
	conn, err := pgx.ConnectConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	s, err := readStored(t.Context(), upstream.Databases{Owner: conn, Source: conn}, "status_test", storedPolicy, "kproxy_reader", countAll)
	if err != nil || len(s.Tables) != len(storedPolicy.Tables) || s.Tables[0].Shown != last || s.Tables[0].Rows != 13 {
		t.Errorf("where releases are dropped meanwhile: %+v, %v", s.Tables, err)
	}
	execute(fmt.Sprintf(republish, generation, 7))
}
