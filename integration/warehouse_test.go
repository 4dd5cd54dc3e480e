package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestWarehouse has another PostgreSQL import a release by postgres_fdw and by dblink, with the
// statements of docs/warehouse.md.
func TestWarehouse(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(operatedSchema, countedPolicy+visitsPolicy+"readable: [public.wards]\n"))
	warehouse := connect(t, pgtest.Database(t, s.server))
	rig.Need(t, "postgres_fdw and dblink (PostgreSQL's contrib modules)",
		scalar[int](t, warehouse, "SELECT count(*)::int FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'dblink')") == 2)
	host, port, _ := strings.Cut(s.address, ":")
	for _, sql := range guideStatements(t) {
		sql = strings.NewReplacer("'kproxy.example.org'", catalog.QuoteLiteral(host), "'6432'", catalog.QuoteLiteral(port), "'clinic'", catalog.QuoteLiteral(clientDatabase),
			"'analyst'", catalog.QuoteLiteral(clientUser), "'...'", catalog.QuoteLiteral(clientPassword), "patients", "people", "sslmode 'verify-full'", "sslmode 'disable'",
			"diagnosis text, cases bigint", "age int4range, cases bigint", "diagnosis", "age").Replace(sql)
		execute(t, warehouse, sql)
	}
	through := connect(t, s.url())
	const sums = "SELECT count(*), sum(n), min(lower(age)), max(upper(age)) FROM "
	want := sumsOf(t, through, sums+"people")
	for _, table := range []string{"release.people", "people_copy"} {
		if got := sumsOf(t, warehouse, sums+table); got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
	for _, sql := range []string{
		"SELECT count(*) FROM release.people p JOIN release.visits v ON p.age && v.age",
		"SELECT age, count(*) FROM release.people WHERE n >= 0 GROUP BY age ORDER BY age LIMIT 3",
		"SELECT count(*) FROM release.people WHERE age @> 3 OR n IN (1, 2, 3)",
	} {
		if got, want := sumsOf(t, warehouse, sql), sumsOf(t, through, strings.ReplaceAll(sql, "release.", "")); got != want {
			t.Errorf("%s: %s, through kproxy %s", sql, got, want)
		}
	}
	if plan := sumsOf(t, warehouse, "EXPLAIN (VERBOSE) SELECT age, count(*) FROM release.people GROUP BY age"); !strings.Contains(plan, "Remote SQL: SELECT age, count(*) FROM public.people GROUP BY 1") {
		t.Errorf("groups are not counted by kproxy's server:\n%s", plan)
	}
	execute(t, warehouse, "ANALYZE release.people")
	_, err := warehouse.Exec(t.Context(), "DELETE FROM release.people")
	if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("deleting through the foreign table: %v", err)
	}
	execute(t, connect(t, s.admin), "UPDATE people SET n = 1 WHERE age < 4")
	eventually(t, "a copy that is refreshed follows the source", func() bool {
		execute(t, warehouse, "REFRESH MATERIALIZED VIEW people_copy")
		return scalar[int](t, warehouse, "SELECT sum(n)::int FROM people_copy") > 0
	})
}

// guideStatements are those of the guide.
func guideStatements(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "warehouse.md"))
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for i, part := range strings.Split(string(text), "```") {
		if sql, is := strings.CutPrefix(part, "sql\n"); is && i%2 == 1 {
			statements = append(statements, sql)
		}
	}
	if len(statements) < 3 {
		t.Fatal("docs/warehouse.md has no statements")
	}
	return statements
}

// sumsOf is the answer to a query as a text.
func sumsOf(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) { return fmt.Sprintf("%s", row.RawValues()), nil })
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.Join(all, ";")
}
