package sync

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"strconv"
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
			for unit, spent := range map[string]time.Duration{"subscription-us/change": a.theirs, "session-us/change": a.ours, "process-us/change": a.process, "kproxy-us/change": a.process + a.ours} {
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
	cmd := a.receiver(b.Context(), "--file", "/dev/null", "--endpos", end.String())
	began := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("pg_recvlogical: %v: %s", err, output)
	}
	return time.Since(began)
}

// receiver is pg_recvlogical at its slot.
func (a *applyBench) receiver(ctx context.Context, more ...string) *exec.Cmd {
	a.b.Helper()
	var slot string
	a.ask(a.source, "SELECT 'received_' || current_database()", &slot)
	arguments := []string{"--dbname", a.source.Config().ConnString(), "--slot", slot, "--start", "--option", "proto_version=1", "--option", "publication_names=kproxy"}
	return exec.CommandContext(ctx, "pg_recvlogical", append(arguments, more...)...)
}

// BenchmarkYardstickLag commits single-row changes at a fixed rate, and measures for
// marks among them how long after its commit pg_recvlogical has written one, the
// subscription has applied it, and kproxy shows it. They take turns, each alone.
func BenchmarkYardstickLag(b *testing.B) {
	const rate = 2000
	lasts := time.Duration(*yardstickSeconds) * time.Second
	b.Run(fmt.Sprintf("rows=%d/rate=%d", *yardstickRows, rate), func(b *testing.B) {
		a := newApplyBench(b, *yardstickRows)
		a.receivable(b)
		var received, theirs, ours []time.Duration
		for b.Loop() {
			received = append(received, a.lagOfReceiver(rate, lasts)...)
			a.exec(a.copy, "ALTER SUBSCRIPTION yardstick ENABLE")
			theirs = append(theirs, a.lagOf(rate, lasts, a.copy, "SELECT coalesce(max(remote_lsn), '0/0')::text FROM pg_replication_origin_status")...)
			a.stopSubscription()
			_, stop := a.run()
			ours = append(ours, a.lagOf(rate, lasts, a.source, "SELECT coalesce(max(lsn), '0/0')::text FROM kproxy_store.position")...)
			stop()
		}
		for name, lags := range map[string][]time.Duration{"recvlogical": received, "subscription": theirs, "kproxy": ours} {
			if len(lags) == 0 {
				b.Fatalf("%s has seen no mark", name)
			}
			for p, share := range map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99} {
				b.ReportMetric(percentile(lags, share).Seconds()*1000, name+"-"+p+"-ms")
			}
		}
	})
}

// lagOf are the times until marks have passed: until the position that a query in a database
// gives is behind their commits. They count from the first one on that has.
func (a *applyBench) lagOf(rate int, lasts time.Duration, database *pgx.Conn, position string) []time.Duration {
	a.b.Helper()
	ctx, cancel := context.WithCancel(a.b.Context())
	go func() {
		defer cancel()
		a.commitAt(rate, lasts)
	}()
	writer, reader := a.connect(a.source.Config().ConnString()), a.connect(database.Config().ConnString())
	m, abreast := marks{every: markEvery}, false
	// Where the machine is too busy for a single one, those count that pass afterwards.
	for ; ctx.Err() == nil || len(m.lags) == 0; time.Sleep(500 * time.Microsecond) {
		m.set(func() (mark committed) {
			a.exec(writer, "UPDATE people SET cost = cost WHERE id = 1")
			mark.from = time.Now()
			a.ask(writer, "SELECT pg_current_wal_insert_lsn()::text", &mark.at)
			return mark
		})
		var now pglogrepl.LSN
		a.ask(reader, position, &now)
		m.passed(now)
		if !abreast && len(m.lags) > 0 { // of what was committed before it began, nothing is left
			m, abreast = marks{every: markEvery}, true
		}
	}
	return m.lags
}

// markEvery is the time between two marks.
const markEvery = 20 * time.Millisecond

// lagOfReceiver is lagOf for pg_recvlogical: until it has written a mark, which is a message
// in the log (from PostgreSQL 14 on pgoutput sends them), from the first one on that it has.
func (a *applyBench) lagOfReceiver(rate int, lasts time.Duration) (lags []time.Duration) {
	a.b.Helper()
	ctx, cancel := context.WithCancel(a.b.Context())
	defer cancel()
	cmd := a.receiver(ctx, "--file", "-", "--option", "messages=true")
	output, err := cmd.StdoutPipe()
	if err != nil {
		a.b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.b.Fatal(err)
	}
	arrived := make(chan arrival, 1<<16)
	go readMarks(output, arrived)
	made := make(chan struct{})
	go func() {
		defer close(made)
		a.commitAt(rate, lasts)
	}()
	writer := a.connect(a.source.Config().ConnString())
	var committed []time.Time
	first := -1
	tick := time.NewTicker(markEvery)
	defer tick.Stop()
	for running := true; running || len(lags) == 0; {
		select {
		case <-made:
			running, made = false, nil
		case <-tick.C:
			a.exec(writer, fmt.Sprintf("SELECT pg_logical_emit_message(true, 'bench', '%s%08d')", markText, len(committed)))
			committed = append(committed, time.Now())
		case mark := <-arrived:
			if first < 0 {
				first = len(committed) // those before waited for the process to start
			}
			if mark.number >= first && mark.number < len(committed) {
				lags = append(lags, max(0, mark.at.Sub(committed[mark.number])))
			}
		}
	}
	cancel()
	_ = cmd.Wait() // it was ended
	return lags
}

// arrival is a mark's, by its number.
type arrival struct {
	number int
	at     time.Time
}

const markText, markDigits = "kproxy mark ", 8

// readMarks tells when marks come in what pg_recvlogical writes.
func readMarks(output io.Reader, arrived chan<- arrival) {
	piece, rest := make([]byte, 1<<16), []byte(nil)
	for {
		n, err := output.Read(piece)
		if err != nil {
			return
		}
		now := time.Now()
		rest = append(rest, piece[:n]...)
		for {
			at := bytes.Index(rest, []byte(markText))
			if at < 0 || len(rest) < at+len(markText)+markDigits {
				break
			}
			digits := rest[at+len(markText):][:markDigits]
			if number, err := strconv.Atoi(string(digits)); err == nil {
				arrived <- arrival{number, now}
			}
			rest = rest[at+len(markText)+markDigits:]
		}
		if keep := len(markText) + markDigits; len(rest) > keep { // one may be cut
			rest = append(rest[:0], rest[len(rest)-keep:]...)
		}
	}
}
