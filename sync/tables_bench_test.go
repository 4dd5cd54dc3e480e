package sync

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
)

// rowsOfMany is how many rows each of many protected tables has.
const rowsOfMany = 1000

// BenchmarkTables has one process follow many protected tables: what it takes to publish
// them, to take them over from the store, to do nothing for some seconds, and to apply
// single-row changes that go around the tables.
//
//	go test ./sync -run xxx -bench Tables -benchtime 1x
func BenchmarkTables(b *testing.B) {
	for _, tables := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("tables=%d", tables), func(b *testing.B) {
			for b.Loop() {
				followTables(b, tables)
			}
		})
	}
}

func followTables(b *testing.B, tables int) {
	b.Helper()
	server := publicationServer(b)
	s := &scaled{b: b, rows: rowsOfMany, server: server}
	s.source, s.config = publicationSource(b, server, rowsOfMany)
	s.protectMany(tables)
	before := heap()
	began, processor := time.Now(), userTime()
	syncer, stop := publishing(b, s.config)
	s.awaitAll(syncer)
	b.ReportMetric(time.Since(began).Seconds()*1000/float64(tables), "publish-ms/table")
	b.ReportMetric((userTime()-processor).Seconds()*1000/float64(tables), "publish-CPU-ms/table")
	stop()

	began = time.Now()
	syncer, stop = publishing(b, s.config)
	defer func() { stop() }()
	s.awaitAll(syncer)
	b.ReportMetric(time.Since(began).Seconds()*1000/float64(tables), "restart-ms/table")
	b.ReportMetric(float64(heap()-before)/1e3/float64(tables), "heap-kB/table")

	const idle = 10 * time.Second
	time.Sleep(time.Second)
	processor, served := userTime(), s.serverTime()
	time.Sleep(idle)
	b.ReportMetric((userTime()-processor).Seconds()*1000/idle.Seconds(), "idle-kproxy-CPU-ms/s")
	b.ReportMetric((s.serverTime()-served).Seconds()*1000/idle.Seconds(), "idle-server-CPU-ms/s")
	s.goAround(syncer, tables)
}

// protectMany makes copies of people, and protects them instead.
func (s *scaled) protectMany(tables int) {
	s.b.Helper()
	var policy catalog.Policy
	var sql strings.Builder
	for i := range tables {
		table := s.config.Tables[0].Policy
		table.Table.Relation = fmt.Sprintf("people_%d", i)
		policy.Tables = append(policy.Tables, table)
		fmt.Fprintf(&sql, "CREATE TABLE %[1]s (LIKE people INCLUDING ALL); INSERT INTO %[1]s SELECT * FROM people;", table.Table.Relation)
	}
	if _, err := s.source.Exec(s.b.Context(), sql.String(), pgx.QueryExecModeSimpleProtocol); err != nil {
		s.b.Fatal(err)
	}
	err := provision.Apply(s.b.Context(), s.source, provision.Input{
		Policy: policy, Publication: "kproxy",
		Owner: provision.Login{Name: "bench_owner", Password: "owner"}, Reader: provision.Login{Name: "bench_reader", Password: "reader"},
	})
	if err != nil {
		s.b.Fatal(err)
	}
	relations, err := inspect.Relations(s.b.Context(), s.source, "bench_reader")
	if err != nil {
		s.b.Fatal(err)
	}
	s.config.Tables = nil
	for _, table := range policy.Tables {
		for _, r := range relations {
			if r.Name != table.Table {
				continue
			}
			p, problems := catalog.Publish(table, r)
			if len(problems) > 0 {
				s.b.Fatal(problems)
			}
			s.config.Tables = append(s.config.Tables, p)
		}
	}
}

// awaitAll waits until every table is published and applied.
func (s *scaled) awaitAll(syncer *Syncer) {
	for ready := 0; ready < len(s.config.Tables); time.Sleep(time.Millisecond) {
		ready = 0
		for _, status := range syncer.Status().Tables {
			if status.State == Published && !status.Preparing {
				ready++
			}
		}
	}
}

// goAround changes a row of each table in turn, and measures the rate at which that is
// applied.
func (s *scaled) goAround(syncer *Syncer, tables int) {
	s.b.Helper()
	const changes = 10_000
	conn, err := pgx.ConnectConfig(s.b.Context(), s.source.Config())
	if err != nil {
		s.b.Fatal(err)
	}
	defer conn.Close(context.Background())
	var sql strings.Builder
	for i := range changes {
		fmt.Fprintf(&sql, "UPDATE people_%d SET zip = ((zip::int + 1) %% 100000)::text WHERE id = %d;", i%tables, 1+i/tables%rowsOfMany)
		if i%100 == 99 {
			sql.WriteString("COMMIT; BEGIN;")
		}
	}
	began, processor, served := time.Now(), userTime(), s.serverTime()
	if _, err := conn.Exec(s.b.Context(), "BEGIN;"+sql.String()+"COMMIT", pgx.QueryExecModeSimpleProtocol); err != nil {
		s.b.Fatal(err)
	}
	var at string
	s.ask("SELECT pg_current_wal_insert_lsn()::text", &at)
	end, err := pglogrepl.ParseLSN(at)
	if err != nil {
		s.b.Fatal(err)
	}
	for s.exec("UPDATE people_0 SET cost = cost WHERE id = 1"); syncer.Status().Position < end; {
		time.Sleep(time.Millisecond)
	}
	s.b.ReportMetric(changes/time.Since(began).Seconds(), "changes/s")
	s.b.ReportMetric(float64((userTime()-processor).Microseconds())/changes, "kproxy-CPU-µs/change")
	s.b.ReportMetric(float64((s.serverTime()-served).Microseconds())/changes, "server-CPU-µs/change")
}

// serverTime is the processor time that the server's present sessions have taken.
func (s *scaled) serverTime() (total time.Duration) {
	rows, err := s.source.Query(s.b.Context(), "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return 0
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := bytes.Cut(text, []byte(") "))
		if fields := bytes.Fields(rest); len(fields) > 12 {
			user, _ := strconv.Atoi(string(fields[11]))
			system, _ := strconv.Atoi(string(fields[12]))
			total += time.Duration(user+system) * tick
		}
	}
	return total
}
