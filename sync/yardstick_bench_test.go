package sync

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// Two yardsticks in one run: PostgreSQL's own subscription, which applies the same recorded
// stream to a plain copy, and pg_recvlogical, which only receives it, so that it is what
// decoding and sending alone allow. Each round measures all three and the bytes that they
// write into the write-ahead log.
//
//	go test ./sync -run xxx -bench Yardstick -benchtime 1x -count 3

var (
	yardstickRows    = flag.Int("yardstick.rows", 100_000, "records of the table beside the yardsticks")
	yardstickSeconds = flag.Int("yardstick.seconds", 8, "seconds that lag is measured for, of each side")
)

func BenchmarkYardstick(b *testing.B) {
	rows := *yardstickRows
	for _, shape := range []struct{ changes, transaction int }{{rows / 3, 1}, {rows, 1000}} {
		b.Run(fmt.Sprintf("rows=%d/transaction=%d", rows, shape.transaction), func(b *testing.B) {
			a := newApplyBench(b, rows)
			a.receivable(b)
			sources, copies, stores := 0.0, 0.0, 0.0 // bytes
			var received, subscription, syncer time.Duration
			b.ResetTimer()
			for b.Loop() {
				var end pglogrepl.LSN
				sources += a.logged(func() { end = a.record(shape.changes, shape.transaction) })
				received += a.receive(b, end)
				copies += a.logged(func() { subscription += a.drainSubscription(end) })
				stores += a.logged(func() { syncer += a.drain(end) })
				a.check()
			}
			changes := float64(b.N * shape.changes)
			for unit, took := range map[string]time.Duration{"recvlogical/s": received, "subscription/s": subscription, "kproxy/s": syncer} {
				b.ReportMetric(changes/took.Seconds(), unit)
			}
			for unit, spent := range map[string]time.Duration{"subscription-us/change": a.theirs, "session-us/change": a.ours, "kproxy-us/change": a.process} {
				b.ReportMetric(float64(spent.Microseconds())/changes, unit)
			}
			for unit, bytes := range map[string]float64{"source-WAL-B/change": sources, "subscription-WAL-B/change": copies, "kproxy-WAL-B/change": stores} {
				b.ReportMetric(bytes/changes, unit)
			}
		})
	}
}

// logged is how many bytes the cluster's log grows by while do runs.
func (a *applyBench) logged(do func()) float64 {
	a.b.Helper()
	const position = "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8"
	var before, after float64
	a.ask(a.source, position, &before)
	do()
	a.ask(a.source, position, &after)
	return after - before
}

// receivable makes the slot of pg_recvlogical, or skips where that is not installed.
func (a *applyBench) receivable(b *testing.B) {
	b.Helper()
	if _, err := exec.LookPath("pg_recvlogical"); err != nil {
		b.Skip("pg_recvlogical is not installed: install postgresql-client")
	}
	var slot string
	a.ask(a.source, "SELECT slot_name FROM pg_create_logical_replication_slot('received_' || current_database(), 'pgoutput')", &slot)
}

// receive has pg_recvlogical read what was recorded, and throw it away.
func (a *applyBench) receive(b *testing.B, end pglogrepl.LSN) time.Duration {
	b.Helper()
	var slot string
	a.ask(a.source, "SELECT 'received_' || current_database()", &slot)
	cmd := exec.CommandContext(b.Context(), "pg_recvlogical", "--dbname", a.source.Config().ConnString(), "--slot", slot, "--start",
		"--file", "/dev/null", "--endpos", end.String(), "--option", "proto_version=1", "--option", "publication_names=kproxy")
	began := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("pg_recvlogical: %v: %s", err, output)
	}
	return time.Since(began)
}

// BenchmarkYardstickLag commits single-row changes at a fixed rate, and measures for
// markers among them how long after its commit the subscription has applied one, and how
// long until kproxy shows it. They take turns, each alone.
func BenchmarkYardstickLag(b *testing.B) {
	const rate = 2000
	lasts := time.Duration(*yardstickSeconds) * time.Second
	b.Run(fmt.Sprintf("rows=%d/rate=%d", *yardstickRows, rate), func(b *testing.B) {
		a := newApplyBench(b, *yardstickRows)
		var theirs, ours []time.Duration
		for b.Loop() {
			a.exec(a.copy, "ALTER SUBSCRIPTION yardstick ENABLE")
			theirs = append(theirs, a.lagOf(rate, lasts, a.copy, "SELECT coalesce(max(remote_lsn), '0/0') >= '%s'::pg_lsn FROM pg_replication_origin_status")...)
			a.stopSubscription()
			_, stop := a.run()
			ours = append(ours, a.lagOf(rate, lasts, a.source, "SELECT coalesce(max(lsn), '0/0') >= '%s'::pg_lsn FROM kproxy_store.position")...)
			stop()
		}
		for name, lags := range map[string][]time.Duration{"subscription": theirs, "kproxy": ours} {
			if len(lags) == 0 {
				b.Fatalf("%s has applied no marker", name)
			}
			for p, share := range map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99} {
				b.ReportMetric(percentile(lags, share).Seconds()*1000, name+"-"+p+"-ms")
			}
		}
	})
}

// lagOf are the times until markers have passed: until a query in a database, given the
// position behind a marker's commit, says true.
func (a *applyBench) lagOf(rate int, lasts time.Duration, database *pgx.Conn, passed string) (lags []time.Duration) {
	a.b.Helper()
	ctx, cancel := context.WithCancel(a.b.Context())
	go func() {
		defer cancel()
		a.commitAt(rate, lasts)
	}()
	writer, reader := a.connect(a.source.Config().ConnString()), a.connect(database.Config().ConnString())
	for ctx.Err() == nil {
		a.exec(writer, "UPDATE people SET cost = cost WHERE id = 1")
		began := time.Now()
		var at string
		a.ask(writer, "SELECT pg_current_wal_insert_lsn()::text", &at)
		query := strings.Replace(passed, "%s", at, 1)
		for shown := false; !shown && ctx.Err() == nil; time.Sleep(500 * time.Microsecond) {
			a.ask(reader, query, &shown)
			if shown {
				lags = append(lags, time.Since(began))
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return lags
}
