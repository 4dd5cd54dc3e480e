package rewrite

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// query2K is some 2 kB of an analyst's SQL.
func query2K() string {
	part := `SELECT p.ward, w.name, count(*) AS n, avg(p.cost) FILTER (WHERE p.age BETWEEN 20 AND 60) AS cost,
		CASE WHEN p.sex = 'f' THEN 'female' ELSE coalesce(p.sex, '?') END AS sex, date_trunc('month', p.admission) AS month
		FROM patients p JOIN wards w ON w.id = p.ward AND w.beds > 3
		WHERE p.diagnosis LIKE 'J%' AND p.age IN (1, 2, 3, 5, 8, 13, 21) AND EXISTS (SELECT 1 FROM hospital.visits v WHERE v.ward = w.id)
		GROUP BY p.ward, w.name, p.sex, date_trunc('month', p.admission) HAVING count(*) > 5`
	return part + " UNION ALL " + part + " UNION ALL " + part + " UNION ALL " + part + " ORDER BY n DESC LIMIT 100"
}

// BenchmarkHit2KB is a text that the cache knows.
func BenchmarkHit2KB(b *testing.B) {
	r, sql := clinicRewriter(), query2K()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Rewrite(sql, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHitParallel2KB is the same text asked for by all processors at once, the
// worst case for the lock of its part of the cache.
func BenchmarkHitParallel2KB(b *testing.B) {
	r, sql := clinicRewriter(), query2K()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := r.Rewrite(sql, nil); err != nil {
				b.Error(err)
			}
		}
	})
}

// threadTime is the processor time of the thread that the caller is locked to: the
// clock would measure what else the machine does.
func threadTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(1, &u); err != nil { // RUSAGE_THREAD, getrusage(2)
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMiss2KB is a text that the cache does not know. The ratio is to what
// parsing and deparsing it costs, measured in turn with it, each by the lower quartile:
// what else the machine does only adds.
func BenchmarkMiss2KB(b *testing.B) {
	r, sql := clinicRewriter(), query2K()
	snapshot := clinic()
	b.ReportAllocs()
	var miss, floor []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := r.rewrite(sql, nil, snapshot); err != nil {
			b.Fatal(err)
		}
		turn := time.Now()
		tree, err := pg.Parse(sql)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := pg.Deparse(tree); err != nil {
			b.Fatal(err)
		}
		miss, floor = append(miss, turn.Sub(began)), append(floor, time.Since(turn))
	}
	slices.Sort(miss)
	slices.Sort(floor)
	at := len(miss) / 4
	b.ReportMetric(float64(miss[at].Microseconds()), "us/miss")
	b.ReportMetric(float64(floor[at].Microseconds()), "us/floor")
	b.ReportMetric(float64(miss[at])/float64(floor[at]), "ratio")
}

// BenchmarkTemplate2KB is a text that the cache knows but for its literals.
func BenchmarkTemplate2KB(b *testing.B) {
	r, sql := clinicRewriter(), query2K()
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = strings.ReplaceAll(sql, "p.age BETWEEN 20 AND 60", fmt.Sprintf("p.age BETWEEN %d AND 60", i+100))
		if _, err := r.Rewrite(texts[i], nil); err != nil {
			b.Fatal(err)
		}
	}
	r.current.Load().cache.forget(wholeText)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		if s, err := r.Rewrite(texts[i%len(texts)], nil); err != nil || s.SQL == "" {
			b.Fatal(err)
		}
	}
}

// BenchmarkLiteralVariations10000Of20 is the traffic of an application that writes
// its values into its statements: 10,000 texts of 20 statements.
func BenchmarkLiteralVariations10000Of20(b *testing.B) {
	for _, templates := range []bool{true, false} {
		b.Run(fmt.Sprintf("templates=%v", templates), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var spent time.Duration
			hits, texts := 0, 0
			for b.Loop() {
				r := clinicRewriter()
				for i := range 10_000 {
					sql := variation(i)
					if templates && i%100 == 99 && fromTemplate(r, sql) {
						hits++
					}
					began := threadTime(b)
					if templates {
						_, err := r.Rewrite(sql, nil)
						if err != nil {
							b.Fatal(err)
						}
					} else if _, err := r.rewrite(sql, nil, r.current.Load().snapshot); err != nil {
						b.Fatal(err)
					}
					spent += threadTime(b) - began
					texts++
				}
			}
			b.ReportMetric(float64(spent.Nanoseconds())/1000/float64(texts), "cpu-us/text")
			if templates {
				b.ReportMetric(100*float64(hits)/float64(texts/100), "%hits")
			}
		})
	}
}

// variation is the i-th text of twenty statements with values that never come again.
func variation(i int) string {
	n := i % 20
	return fmt.Sprintf("SELECT ward, count(*) AS n%d, avg(cost) FROM patients p WHERE age BETWEEN %d AND %d AND diagnosis = 'J%d.%d' "+
		"AND cost > %d.5%s GROUP BY ward HAVING count(*) > %d ORDER BY 2 DESC LIMIT %d",
		n, i, i+10, i, n, i, strings.Repeat(fmt.Sprintf(" AND ward <> 'w%d'", i), n), i%7, i%50+1)
}

// BenchmarkRecallLookup is what an application asks again and again: one row by a number
// that never comes twice.
func BenchmarkRecallLookup(b *testing.B) {
	r := clinicRewriter()
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = fmt.Sprintf("SELECT sex, age, ward, diagnosis, cost FROM patients WHERE age = %d", 1_000_003*i+7)
	}
	for _, sql := range texts[:2] {
		if _, err := r.Rewrite(sql, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := 1
	for b.Loop() {
		if i++; i == len(texts) {
			i = 2
		}
		if s, known, err := r.Recall(texts[i], nil); err != nil || !known || s.SQL == "" {
			b.Fatalf("%v, %v", known, err)
		}
	}
}
