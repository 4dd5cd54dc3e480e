package sync

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
)

// addedRows is how many rows a table has that is added to a running service.
const addedRows = 20_000

// BenchmarkAddTable adds a table of 20,000 rows to a process that applies a larger one, and takes it out
// again. Of the larger one a row changes all the time.
//
//	go test ./sync -run xxx -bench 'AddTable/rows=300000$' -benchtime 5x
func BenchmarkAddTable(b *testing.B) {
	for _, rows := range []int{300_000, 3_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) { addTable(b, rows) })
	}
}

func addTable(b *testing.B, rows int) {
	b.Helper()
	server := publicationServer(b)
	s := &scaled{b: b, rows: rows, server: server}
	s.source, s.config = publicationSource(b, server, rows)
	s.addSmall()
	both := s.config.Tables
	s.config.Tables = both[:1]
	syncer, stop := publishing(b, s.config)
	defer stop()
	added := both[1].Policy.Table
	var lag, adding, removing time.Duration
	for b.Loop() {
		s.passed()
		worst := s.lagging(syncer)
		began := time.Now()
		syncer.Reload(both)
		s.await(func() bool { t := syncer.Status().Tables[added]; return t.State == Published && !t.Preparing })
		adding += time.Since(began)
		lag = max(lag, worst())
		worst, began = s.lagging(syncer), time.Now()
		syncer.Reload(both[:1])
		gone := false
		s.await(func() bool {
			s.ask("SELECT to_regclass('kproxy_release_public.small') IS NULL", &gone)
			return gone && syncer.Status().State == Streaming
		})
		removing += time.Since(began)
		lag = max(lag, worst())
	}
	b.ReportMetric(adding.Seconds()/float64(b.N), "added-s")
	b.ReportMetric(removing.Seconds()/float64(b.N), "removed-s")
	b.ReportMetric(lag.Seconds(), "worst-lag-s")
}

// await waits for something.
func (s *scaled) await(is func() bool) {
	for !is() {
		time.Sleep(time.Millisecond)
	}
}

// lagging changes a row of people again and again, until the returned function is called, which tells
// how long such a change took at most to be applied.
func (s *scaled) lagging(syncer *Syncer) (worst func() time.Duration) {
	s.b.Helper()
	conn, err := pgx.ConnectConfig(s.b.Context(), s.source.Config())
	if err != nil {
		s.b.Fatal(err)
	}
	end, most := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		defer conn.Close(context.Background())
		longest := time.Duration(0)
		for ; ; time.Sleep(10 * time.Millisecond) {
			began, at := time.Now(), ""
			err := conn.QueryRow(s.b.Context(), "WITH w AS (UPDATE people SET cost = cost + 1 WHERE id = 1 RETURNING id) SELECT pg_current_wal_insert_lsn()::text FROM w").Scan(&at)
			lsn, wrong := pglogrepl.ParseLSN(at)
			if err != nil || wrong != nil {
				most <- longest
				return
			}
			for syncer.Status().Position < lsn {
				time.Sleep(time.Millisecond)
			}
			longest = max(longest, time.Since(began))
			select {
			case <-end:
				most <- longest
				return
			default:
			}
		}
	}()
	return func() time.Duration { close(end); return <-most }
}

// addSmall protects a further table.
func (s *scaled) addSmall() {
	s.b.Helper()
	s.exec("CREATE TABLE small (LIKE people INCLUDING ALL)")
	s.exec(fmt.Sprintf("INSERT INTO small SELECT * FROM people WHERE id <= %d", addedRows))
	table := s.config.Tables[0].Policy
	table.Table.Relation = "small"
	err := provision.Apply(s.b.Context(), s.source, provision.Input{
		Policy: catalog.Policy{Tables: []catalog.TablePolicy{s.config.Tables[0].Policy, table}}, Publication: "kproxy",
		Owner: provision.Login{Name: "bench_owner", Password: "owner"}, Reader: provision.Login{Name: "bench_reader", Password: "reader"},
	})
	if err != nil {
		s.b.Fatal(err)
	}
	relations, err := inspect.Relations(s.b.Context(), s.source, "bench_reader")
	if err != nil {
		s.b.Fatal(err)
	}
	for _, r := range relations {
		if r.Name == table.Table {
			p, problems := catalog.Publish(table, r)
			if len(problems) > 0 {
				s.b.Fatal(problems)
			}
			s.config.Tables = append(s.config.Tables, p)
		}
	}
}
