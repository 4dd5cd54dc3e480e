package sync

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// The two layouts that DESIGN.md weighs: generalized values in every row, or
// once for each class and joined in by the published view.

// layoutRows is the size of the measured release.
const layoutRows = 1_000_000

// generalizedTypes are the columns of a release of the hospital's size and
// kinds: representative and range of two dates, four labels.
var generalizedTypes = []string{"date", "daterange", "date", "daterange", "text", "text", "text", "text"}

// createLayouts makes both layouts of one release with classes of k rows.
func createLayouts(ctx context.Context, tb testing.TB, conn *pgx.Conn, k int) {
	tb.Helper()
	names := func(prefix string) string {
		list := make([]string, len(generalizedTypes))
		for i := range list {
			list[i] = fmt.Sprintf("%sg%d", prefix, i)
		}
		return strings.Join(list, ", ")
	}
	statements := []string{
		fmt.Sprintf(`CREATE TABLE class AS SELECT c AS kproxy_class,
			'1940-01-01'::date + c %% 25000 AS g0, daterange('1940-01-01'::date + c %% 25000 - 200, '1940-01-01'::date + c %% 25000 + 200) AS g1,
			'2024-01-01'::date + c %% 700 AS g2, daterange('2024-01-01'::date + c %% 700 - 30, '2024-01-01'::date + c %% 700 + 30) AS g3,
			(ARRAY['F', 'M', '*'])[1 + c %% 3] AS g4, (10000 + c %% 900)::text || '*' AS g5,
			(ARRAY['single', 'married', 'widowed', 'alone', '*'])[1 + c %% 5] AS g6,
			(ARRAY['nurse', 'teacher', 'care and teaching', 'retired', 'not working', '*'])[1 + c %% 6] AS g7
			FROM generate_series(1, %d) c`, layoutRows/k),
		fmt.Sprintf(`CREATE TABLE member AS SELECT 1 + m %% %d AS kproxy_class, 'ward ' || m %% 13 AS ward, 'I' || m %% 61 AS diagnosis,
			(m %% 9973)::numeric(10,2) AS cost FROM generate_series(0, %d) m ORDER BY 1, random()`, layoutRows/k, layoutRows-1),
		"CREATE TABLE release AS SELECT kproxy_class, " + names("c.") + ", ward, diagnosis, cost FROM class c JOIN member USING (kproxy_class) ORDER BY 1, random()",
		"ALTER TABLE class ADD PRIMARY KEY (kproxy_class)",
		"CREATE INDEX ON member (kproxy_class)",
		"CREATE INDEX ON release (kproxy_class)",
		"CREATE INDEX ON class (g0)",
		"CREATE INDEX ON release (g0)",
		"CREATE VIEW layout_rows AS SELECT " + names("") + ", ward, diagnosis, cost FROM release",
		"CREATE VIEW layout_classes AS SELECT " + names("") + ", ward, diagnosis, cost FROM member JOIN class USING (kproxy_class)",
		"VACUUM ANALYZE class", "VACUUM ANALYZE member", "VACUUM ANALYZE release",
	}
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			tb.Fatal(err)
		}
	}
}

// layoutReads are what analysts ask of a release.
var layoutReads = []struct{ name, sql string }{
	{"scan=by-quasi-identifiers", "SELECT g4, g6, count(*), avg(cost) FROM %s GROUP BY 1, 2"},
	{"scan=by-sensitive", "SELECT diagnosis, count(*), avg(cost) FROM %s GROUP BY 1"},
	{"scan=by-both", "SELECT g7, diagnosis, count(*) FROM %s GROUP BY 1, 2"},
	{"filter=unindexed", "SELECT count(*), avg(cost) FROM %s WHERE g4 = 'F' AND g5 = '10115*'"},
	{"filter=indexed", "SELECT count(*), avg(cost) FROM %s WHERE g0 = '1960-05-05'"},
	{"plan=three-way-join", "EXPLAIN SELECT count(*) FROM %[1]s a JOIN %[1]s b USING (g0, g4) JOIN %[1]s c USING (g0, g4)"},
	{"plan=point", "EXPLAIN SELECT count(*) FROM %s WHERE g0 = '1960-05-05'"},
}

// layoutWrites bring one class to a wider box and one member more. Each takes
// the class ($1).
var layoutWrites = []struct {
	name       string
	statements []string
}{
	{"rows", []string{
		`WITH gone AS (DELETE FROM release WHERE kproxy_class = $1 RETURNING *)
		INSERT INTO release SELECT kproxy_class, g0 + 1, g1, g2, g3, g4, g5, g6, g7, ward, diagnosis, cost FROM gone UNION ALL
			(SELECT kproxy_class, g0 + 1, g1, g2, g3, g4, g5, g6, g7, 'ward 0', 'I1', 1 FROM gone LIMIT 1)`,
	}},
	{"classes-appended", []string{
		"UPDATE class SET g0 = g0 + 1 WHERE kproxy_class = $1",
		"INSERT INTO member VALUES ($1, 'ward 0', 'I1', 1)",
	}},
	{"classes-shuffled", []string{
		"UPDATE class SET g0 = g0 + 1 WHERE kproxy_class = $1",
		`WITH gone AS (DELETE FROM member WHERE kproxy_class = $1 RETURNING *)
		INSERT INTO member SELECT * FROM gone UNION ALL SELECT $1, 'ward 0', 'I1', 1`,
	}},
}

func BenchmarkLayout(b *testing.B) {
	for _, k := range []int{10, 50} {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, pgtest.Database(b, pgtest.Shared(b)))
		if err != nil {
			b.Fatal(err)
		}
		createLayouts(ctx, b, conn, k)
		size := fmt.Sprintf("rows=%d/k=%d", layoutRows, k)
		for _, read := range layoutReads {
			for _, layout := range []string{"layout_rows", "layout_classes"} {
				sql := fmt.Sprintf(read.sql, layout)
				b.Run(size+"/"+read.name+"/"+layout, func(b *testing.B) {
					for b.Loop() {
						if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
		for _, write := range layoutWrites {
			b.Run(size+"/write/"+write.name, func(b *testing.B) { benchmarkWrite(ctx, b, conn, write.statements, layoutRows/k) })
		}
		if err := conn.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkWrite reports time and WAL for each widened class.
func benchmarkWrite(ctx context.Context, b *testing.B, conn *pgx.Conn, statements []string, classes int) {
	position := func() (n int64) {
		if err := conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn() - '0/0'").Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	class, before := 0, position()
	for b.Loop() {
		class = class*7919%classes + 1
		tx, err := conn.Begin(ctx)
		if err != nil {
			b.Fatal(err)
		}
		for _, sql := range statements {
			var arguments []any
			if strings.Contains(sql, "$1") {
				arguments = []any{class}
			}
			if _, err := tx.Exec(ctx, sql, arguments...); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(position()-before)/float64(b.N), "WAL-bytes/op")
}
