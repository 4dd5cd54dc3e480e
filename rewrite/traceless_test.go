package rewrite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// tracelessTexts are texts, and whether they may leave something in their session.
var tracelessTexts = map[string]bool{
	"SELECT 1":                                    true,
	"SELECT lower('A'), count(*)":                 true,
	"VALUES (1); SELECT 2":                        true,
	"BEGIN; SELECT 1; COMMIT":                     true,
	"COPY (SELECT 1) TO STDOUT":                   true,
	"EXPLAIN SELECT 1":                            true,
	"PREPARE s AS SELECT 1":                       true,
	"DECLARE c CURSOR FOR SELECT 1":               true,
	"FETCH 1 FROM c":                              true,
	"SHOW timezone":                               true,
	"SET timezone = 'UTC'":                        false,
	"SELECT 1; SET LOCAL timezone = 'UTC'":        false,
	"RESET ALL":                                   false,
	"SELECT set_config('timezone', 'UTC', false)": false,
	"SELECT set_config('search_path', 'a', true)": false,
	"SELECT setseed(0.5)":                         false,
	"SELECT x FROM (SELECT random() AS x) s":      false,
	"EXPLAIN SELECT random()":                     false,
	"SELECT a.sort(1)":                            false,
	"CREATE TEMP TABLE x (a int)":                 false,
	"CREATE TEMP TABLE x AS SELECT 1":             false,
	"SELECT 1 INTO TEMP x UNION SELECT 2":         false,
	"SELECT 1 INTO TEMP x":                        false,
	"DISCARD ALL":                                 false,
	"PREPARE s AS SELECT setseed(1)":              false,
	"SELECT 1 WHERE EXISTS (SELECT random())":     false,
	"SELECT 1; SELECT 2; SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY": false,
}

func TestTraceless(t *testing.T) {
	t.Parallel()
	r := New(Options{TemporaryTables: true})
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{Functions: []catalog.Name{{Schema: "a", Relation: "sort"}}}, nil, nil))
	for sql, want := range tracelessTexts {
		for range 3 { // then from a template, and from the cache
			got, err := r.Rewrite(sql, nil)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if got.Traceless != want {
				t.Errorf("leavesNothing is %v of %s", got.Traceless, sql)
			}
		}
	}
}

// TestTracelessLeavesNothing runs what is called leavesNothing on a real server and looks
// whether DISCARD ALL brings it back to what a session is after login.
func TestTracelessLeavesNothing(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), map[string]string{"statement_timeout": "100ms"})
	// The time limit is for the texts of the corpus; on a busy machine it may end others.
	exec := func(sql string) []*pgconn.Result {
		for {
			results, err := conn.Exec(context.Background(), sql).ReadAll()
			if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "57014" {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			return results
		}
	}
	state := func() string {
		const rest = "SELECT pg_my_temp_schema(), current_user, session_user, (SELECT count(*) FROM pg_prepared_statements), " +
			"(SELECT count(*) FROM pg_cursors), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')"
		results := exec("SHOW ALL; " + rest)
		return fmt.Sprintf("%q %q", results[0].Rows, results[1].Rows)
	}
	exec("SET transaction_isolation = 'read committed'")
	before := state()
	r := New(Options{})
	ran := 0
	for _, sql := range corpus(t) {
		got, err := r.Rewrite(sql, nil)
		if err != nil || !got.Traceless {
			continue
		}
		ran++
		// Tables that are not there are no matter, nor are rows.
		results := conn.Exec(context.Background(), got.SQL)
		for results.NextResult() {
			_, _ = results.ResultReader().Close()
		}
		_ = results.Close()
		exec("ROLLBACK")
		exec("DISCARD ALL")
		if after := state(); after != before {
			t.Fatalf("%s leaves something:\n%s\nbefore:\n%s", sql, after, before)
		}
	}
	if t.Logf("%d texts", ran); ran < 50 {
		t.Errorf("%d texts are leavesNothing", ran)
	}
}
