package integration

import (
	"cmp"
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/hospital"
)

var (
	timesClasses   = flag.Bool("classes.time", false, "TestTimeOfClasses measures")
	classesRecords = flag.Int("classes.records", 1_000_000, "patients of TestTimeOfClasses")
	classesRounds  = flag.Int("classes.rounds", 7, "rounds of TestTimeOfClasses")
)

// dashboardSQL are questions of dashboards about groups of patients.
var dashboardSQL = []string{
	"SELECT count(*) FROM patients",
	"SELECT sex, marital_status, count(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2",
	"SELECT occupation, count(*) AS n FROM patients GROUP BY 1 ORDER BY n DESC, 1 LIMIT 10",
	"SELECT extract(year FROM birth_date)::int / 10 AS decade, sex, count(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2",
	"SELECT left(postcode, 1), count(*) FILTER (WHERE sex = 'F') AS women, count(*) AS all FROM patients GROUP BY 1 ORDER BY 1",
	"SELECT marital_status, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM patients GROUP BY 1 ORDER BY 1",
	"SELECT count(*) FROM patients WHERE sex = 'F' AND birth_date BETWEEN '1950-01-01' AND '1969-12-31'",
	"SELECT min(birth_date), max(birth_date), count(DISTINCT occupation) FROM patients WHERE sex = 'M'",
	"SELECT sex, sum(cost), avg(cost) FROM patients GROUP BY 1 ORDER BY 1",
	"SELECT occupation, count(*), avg(cost), max(cost) FROM patients WHERE birth_date < '1960-01-01' GROUP BY 1 ORDER BY 1",
	"SELECT date_trunc('year', birth_date), sum(cost) FROM patients WHERE sex = 'F' GROUP BY 1 ORDER BY 1",
	"SELECT marital_status, min(cost), max(cost), count(cost) FROM patients GROUP BY 1 ORDER BY 1",
}

// TestTimeOfClasses logs what questions take at the source, and by kproxy of the release and of the summary
// of its classes: the medians, and their quotients.
func TestTimeOfClasses(t *testing.T) {
	if !*timesClasses {
		t.Skip("it measures, and asserts nothing; run it with -classes.time")
	}
	o := hospitalSite()
	o.load = func(ctx context.Context, conn *pgx.Conn) error { return hospital.Load(ctx, conn, *classesRecords, 1) }
	from, to := strings.Index(o.tables, "    updates:"), strings.Index(o.tables, "    columns:")
	o.tables = o.tables[:from] + "    updates: immediate\n" + o.tables[to:]
	s := ready(t, o)
	admin, client := connect(t, s.admin), connect(t, s.url())
	eventually(t, "it is published", func() bool {
		return scalar[int](t, admin, "SELECT count(*) FROM kproxy_store.generation WHERE shows IS NULL") > 0
	})
	execute(t, admin, "VACUUM ANALYZE")
	for _, size := range []string{"patients", "kproxy_store.packed_1"} {
		t.Logf("%s: %s", size, scalar[string](t, admin, "SELECT pg_size_pretty(pg_relation_size('"+size+"')) || ', ' || (SELECT reltuples FROM pg_class WHERE oid = '"+size+"'::regclass)::bigint || ' rows'"))
	}
	var released, summed []float64
	for _, sql := range dashboardSQL {
		ways := []struct {
			conn *pgx.Conn
			sql  string
		}{{admin, sql}, {client, strings.Replace(sql, "FROM patients", "FROM (SELECT * FROM patients) AS patients", 1)}, {client, sql}}
		took := make([][]time.Duration, len(ways))
		for round := range *classesRounds + 1 {
			for i, way := range ways {
				begin := time.Now()
				rows, err := way.conn.Query(t.Context(), way.sql)
				if err != nil {
					t.Fatal(err)
				}
				for rows.Next() {
				}
				if rows.Err() != nil {
					t.Fatalf("%s: %v", way.sql, rows.Err())
				}
				if round > 0 { // the first warms up
					took[i] = append(took[i], time.Since(begin))
				}
			}
		}
		source, release, summary := median(took[0]), median(took[1]), median(took[2])
		released, summed = append(released, release.Seconds()/source.Seconds()), append(summed, summary.Seconds()/source.Seconds())
		t.Logf("source %6.1f ms, release %6.1f ms (%.2f), summary %6.1f ms (%.3f): %s", ms(source), ms(release), released[len(released)-1], ms(summary), summed[len(summed)-1], sql)
	}
	t.Logf("median of %d questions: release %.2f, summary %.3f", len(dashboardSQL), median(released), median(summed))
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

func median[T cmp.Ordered](of []T) T {
	of = slices.Clone(of)
	slices.Sort(of)
	return of[len(of)/2]
}
