package sync

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// The ways to read packed rows that DESIGN.md weighs: members unnested in FROM, or where a query selects; and sums that
// packed rows have beside their members, or that lie in a table of their own.

// unpackedRecords are those of the measured release, in classes of five.
const unpackedRecords = 500_000

// createUnpacked makes one release as rows, packed, and packed with sums.
func createUnpacked(ctx context.Context, b *testing.B, conn *pgx.Conn) {
	b.Helper()
	const generalized = "g0, g1, g2, g3, g4, g5, g6, g7"
	for _, sql := range []string{
		`CREATE TABLE records AS SELECT m / 5 AS class, '1940-01-01'::date + (m / 5) % 25000 AS g0, daterange('1940-01-01'::date + (m / 5) % 25000 - 200, '1940-01-01'::date + (m / 5) % 25000 + 200) AS g1,
			'2024-01-01'::date + (m / 5) % 700 AS g2, daterange('2024-01-01'::date + (m / 5) % 700 - 30, '2024-01-01'::date + (m / 5) % 700 + 30) AS g3,
			(ARRAY['F', 'M', '*'])[1 + (m / 5) % 3] AS g4, (10000 + (m / 5) % 900)::text || '*' AS g5, (ARRAY['single', 'married', 'widowed', 'alone', '*'])[1 + (m / 5) % 5] AS g6,
			(ARRAY['nurse', 'teacher', 'care and teaching', 'retired', 'not working', '*'])[1 + (m / 5) % 6] AS g7,
			m::bigint AS record, 'ward ' || m % 13 AS ward, 'I' || m % 61 AS diagnosis, (m % 9973)::numeric(10,2) AS cost FROM generate_series(0, ` + fmt.Sprint(unpackedRecords-1) + `) m`,
		"CREATE TABLE copied AS SELECT record, ward, diagnosis, cost FROM records WITH NO DATA",
		"CREATE TABLE packed WITH (fillfactor = 85, toast_tuple_target = 8160) AS SELECT class, " + generalized + ", array_agg(ROW(record, ward, diagnosis, cost)::copied) AS members FROM records GROUP BY class, " + generalized + " ORDER BY random()",
		"CREATE TABLE summed WITH (fillfactor = 85, toast_tuple_target = 8160) AS SELECT class, " + generalized + ", cardinality(members) AS n, (SELECT sum(cost) FROM unnest(members) m) AS total, members FROM packed",
		"CREATE TABLE narrow WITH (fillfactor = 85) AS SELECT class, " + generalized + ", n, total FROM summed",
		"CREATE VIEW lateral_members AS SELECT " + generalized + ", m.ward, m.diagnosis, m.cost FROM packed AS p, LATERAL unnest(p.members) AS m",
		"CREATE VIEW selected_members AS SELECT " + generalized + ", (p.m).ward, (p.m).diagnosis, (p.m).cost FROM (SELECT " + generalized + ", unnest(members) AS m FROM packed) AS p",
		"VACUUM ANALYZE records", "VACUUM ANALYZE packed", "VACUUM ANALYZE summed", "VACUUM ANALYZE narrow",
		"SET max_parallel_workers_per_gather = 0", // so that one process does it all
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnpacking has each question asked in each way in turn, and reports the median of the processor time of the server's
// process, and of its quotients by that for rows.
func BenchmarkUnpacking(b *testing.B) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Database(b, pgtest.Shared(b)))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	createUnpacked(ctx, b, conn)
	views := map[string]string{"rows": "records", "from": "lateral_members", "selected": "selected_members"}
	for _, question := range []struct {
		name, sql string
		others    map[string]string // of sums
	}{
		{"sum", "SELECT g4, sum(cost), avg(cost) FROM %s GROUP BY 1", map[string]string{
			"beside": "SELECT g4, sum(total), sum(total) / sum(n) FROM summed GROUP BY 1", "narrow": "SELECT g4, sum(total), sum(total) / sum(n) FROM narrow GROUP BY 1",
		}},
		{"count", "SELECT g4, g6, count(*) FROM %s GROUP BY 1, 2", map[string]string{
			"header": "SELECT g4, g6, sum(cardinality(members)) FROM packed GROUP BY 1, 2", "beside": "SELECT g4, g6, sum(n) FROM summed GROUP BY 1, 2", "narrow": "SELECT g4, g6, sum(n) FROM narrow GROUP BY 1, 2",
		}},
		{"sensitive", "SELECT diagnosis, count(*) FROM %s GROUP BY 1", nil},
		{"filter", "SELECT count(*) FROM %s WHERE diagnosis = 'I25' AND cost > 5000", nil},
		{"generalized-filter", "SELECT count(*), avg(cost) FROM %s WHERE g4 = 'F' AND g5 = '10115*'", nil},
		{"all", "SELECT count(r) FROM (SELECT * FROM %s OFFSET 0) AS r", nil},
	} {
		b.Run(question.name, func(b *testing.B) {
			ways := map[string]string{}
			for name, view := range views {
				ways[name] = fmt.Sprintf(question.sql, view)
			}
			for name, sql := range question.others {
				ways[name] = sql
			}
			took := make(map[string][]time.Duration)
			for b.Loop() {
				for name, sql := range ways {
					before := ranOn(b, conn)
					if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
						b.Fatal(err)
					}
					took[name] = append(took[name], ranOn(b, conn)-before)
				}
			}
			for name, times := range took {
				quotients := make([]float64, len(times))
				for i := range times {
					quotients[i] = times[i].Seconds() / took["rows"][i].Seconds()
				}
				slices.Sort(times)
				slices.Sort(quotients)
				b.ReportMetric(times[len(times)/2].Seconds()*1000, name+"-ms")
				b.ReportMetric(quotients[len(quotients)/2], name+"/rows")
			}
		})
	}
}

// ranOn is how long the server's process of a connection has had a processor.
func ranOn(b *testing.B, conn *pgx.Conn) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", conn.PgConn().PID()))
	if err != nil {
		b.Skip(err)
	}
	var ran int64
	if _, err := fmt.Sscan(string(text), &ran); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ran)
}
