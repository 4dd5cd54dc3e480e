package sync

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// The yardstick of applying is PostgreSQL's own subscription: it applies the same
// recorded stream to a plain copy of the table, in another database of the cluster.
//
//	go test ./sync -run xxx -bench Apply -benchtime 1x -count 3

// applyK is the least size of the classes.
const applyK = 10

// applyServerSettings are those of a server with some memory. Both sides share it.
var applyServerSettings = map[string]string{"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}

const applyTable = `CREATE TABLE people (id bigint PRIMARY KEY, born date, admitted date, sex text, zip text, marital text, job text,
	ward text, diagnosis text, cost numeric(10,2))`

// applyPerson are the columns of person i, functions of the number alone so that two
// databases hold the same.
const applyPerson = `i, date '1940-01-01' + abs(hashint8(i) %% 25000), date '2024-01-01' + abs(hashint8(i + 1) %% 700),
	(ARRAY['F', 'M'])[1 + abs(hashint8(i + 2) %% 2)], (10000 + abs(hashint8(i + 3) %% 900))::text,
	'status ' || abs(hashint8(i + 4) %% 5), 'job ' || abs(hashint8(i + 5) %% 40),
	'ward ' || i %% 13, 'I' || i %% 61, (i %% 9973)::numeric(10,2)`

// applyWorkload makes changes (%[3]d of them, in transactions of %[4]d) of a table that
// had %[1]d rows, after %[2]d changes before: three inserts of new persons, one update, of
// a quasi-identifier every other time, and one delete of those that were there. Even persons
// are deleted, odd ones updated, so that every statement hits one row.
const applyWorkload = `DO $$
DECLARE rows bigint := %[1]d; victim bigint;
BEGIN
	FOR c IN %[2]d .. %[2]d + %[3]d - 1 LOOP
		victim := 2 * (1 + (c / 5 * 7919) %% (rows / 2 - 1));
		CASE c %% 5
			WHEN 3 THEN
				IF c %% 2 = 0 THEN UPDATE people SET cost = cost + 1 WHERE id = victim + 1;
				ELSE UPDATE people SET admitted = date '2024-01-01' + abs(hashint8(c) %% 700), cost = cost + 1 WHERE id = victim + 1; END IF;
			WHEN 4 THEN DELETE FROM people WHERE id = victim;
			ELSE INSERT INTO people SELECT ` + applyPerson + ` FROM (VALUES (rows + c + 1)) v(i);
		END CASE;
		IF c %% %[4]d = %[4]d - 1 THEN COMMIT; END IF;
	END LOOP;
END $$`

// applyBench is a table with both subscribers, stopped.
type applyBench struct {
	b            *testing.B
	rows         int
	changes      int           // so far
	theirs, ours time.Duration // processor time of the subscription's worker, of kproxy's session
	process      time.Duration // of kproxy itself
	source, copy *pgx.Conn     // superuser, in the table's database and in that of the subscription
	store        *pgx.Conn     // superuser, in the database of store and release
	config       Config
}

// newApplyBench makes the table, its copy with a subscription, and its release.
func newApplyBench(b *testing.B, rows int) *applyBench {
	b.Helper()
	return newApplyBenchOf(b, rows, protectedPeople(), false)
}

// newApplyBenchOf is newApplyBench for a policy, with the store in the source's database or apart.
func newApplyBenchOf(b *testing.B, rows int, policy catalog.TablePolicy, apart bool) *applyBench {
	b.Helper()
	server := startApplyServer(b)
	a := &applyBench{b: b, rows: rows}
	source, copied := pgtest.Database(b, server), pgtest.Database(b, server)
	a.source, a.copy = a.connect(source), a.connect(copied)
	if a.store = a.source; apart {
		a.store = a.connect(pgtest.Database(b, server))
	}
	for _, conn := range []*pgx.Conn{a.source, a.copy} {
		a.exec(conn, applyTable)
		a.exec(conn, fmt.Sprintf("INSERT INTO people SELECT "+applyPerson+" FROM generate_series(1, %[1]d) i", rows))
		a.exec(conn, "VACUUM ANALYZE people")
	}
	a.provide(policy)
	a.subscribe(source)
	_, stop := a.run()
	stop()
	return a
}

func startApplyServer(b *testing.B) *pgserver.Server {
	b.Helper()
	server, err := pgserver.Start(context.Background(), pgserver.Options{Settings: applyServerSettings})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	return server
}

func (a *applyBench) connect(dsn string) *pgx.Conn {
	a.b.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		a.b.Fatal(err)
	}
	a.b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (a *applyBench) exec(conn *pgx.Conn, sql string) {
	a.b.Helper()
	if _, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		a.b.Fatalf("%s: %v", sql, err)
	}
}

func (a *applyBench) ask(conn *pgx.Conn, sql string, result any) {
	a.b.Helper()
	if err := conn.QueryRow(context.Background(), sql).Scan(result); err != nil {
		a.b.Fatalf("%s: %v", sql, err)
	}
}

// protectedPeople is a policy of six quasi-identifiers.
func protectedPeople() catalog.TablePolicy {
	policy := catalog.TablePolicy{
		Table: publicTable("people"), Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
		Constraints: []privacy.Spec{{Model: privacy.K, K: applyK}},
	}
	for _, c := range []struct {
		name string
		kind hierarchy.Kind
	}{
		{"born", hierarchy.Date},
		{"admitted", hierarchy.Date},
		{"sex", hierarchy.Categorical},
		{"zip", hierarchy.Prefix},
		{"marital", hierarchy.Categorical},
		{"job", hierarchy.Categorical},
	} {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: c.name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: c.kind}})
	}
	for _, name := range []string{"ward", "diagnosis", "cost"} {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive})
	}
	return policy
}

// provide makes roles, store and publication.
func (a *applyBench) provide(policy catalog.TablePolicy) {
	a.b.Helper()
	var database string
	a.ask(a.source, "SELECT current_database()", &database)
	owner, reader := "apply_owner_"+database, "apply_reader_"+database
	input := provision.Input{
		Policy: catalog.Policy{Tables: []catalog.TablePolicy{policy}}, Publication: "kproxy",
		Owner: provision.Login{Name: owner, Password: "owner"}, Reader: provision.Login{Name: reader, Password: "reader"},
	}
	a.config = Config{Reader: reader, Publication: "kproxy", Slot: "slot_" + database, Seed: 1, Logger: slog.New(slog.DiscardHandler)}
	if policy.Sealed {
		a.config.Seal = ringOf(a.b, 1)
	}
	if a.store != a.source {
		input.Side = provision.ReleaseSide
		source := input
		source.Side, source.Owner.Name = provision.SourceSide, "apply_source_"+database
		a.apply(a.source, source)
		a.config.Source = as(a.source, source.Owner.Name)
	}
	a.apply(a.store, input)
	a.config.Owner = as(a.store, owner)
	relations, err := inspect.Relations(context.Background(), a.source, reader)
	if err != nil {
		a.b.Fatal(err)
	}
	for _, r := range relations {
		if r.Name == policy.Table {
			p, problems := catalog.Publish(policy, r)
			if len(problems) > 0 {
				a.b.Fatal(problems)
			}
			a.config.Tables = append(a.config.Tables, p)
		}
	}
}

// apply prepares a database.
func (a *applyBench) apply(conn *pgx.Conn, input provision.Input) {
	a.b.Helper()
	if err := provision.Apply(context.Background(), conn, input); err != nil {
		a.b.Fatal(err)
	}
}

// as connects to the same database by another role.
func as(conn *pgx.Conn, role string) *pgx.ConnConfig {
	config := conn.Config().Copy()
	config.User, config.Password = role, "owner"
	return config
}

// subscribe makes a subscription, stopped. Its slot is made by hand: within one
// cluster CREATE SUBSCRIPTION would wait for itself.
func (a *applyBench) subscribe(source string) {
	var slot string
	a.ask(a.source, "SELECT slot_name FROM pg_create_logical_replication_slot('copy_' || current_database(), 'pgoutput')", &slot)
	u, err := url.Parse(source)
	if err != nil {
		a.b.Fatal(err)
	}
	password, _ := u.User.Password()
	connection := fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=%s", u.Hostname(), u.Port(), u.User.Username(), password, strings.TrimPrefix(u.Path, "/"))
	a.exec(a.copy, fmt.Sprintf("CREATE SUBSCRIPTION yardstick CONNECTION '%s' PUBLICATION kproxy WITH (create_slot = false, slot_name = '%s', copy_data = false, enabled = false)",
		connection, slot))
	a.b.Cleanup(func() {
		a.exec(a.copy, "ALTER SUBSCRIPTION yardstick DISABLE")
		a.exec(a.copy, "ALTER SUBSCRIPTION yardstick SET (slot_name = NONE)")
		a.exec(a.copy, "DROP SUBSCRIPTION yardstick")
	})
}

// run starts a Syncer, waits until it streams, and returns it with a function that
// stops it.
func (a *applyBench) run() (s *Syncer, stop func()) {
	a.b.Helper()
	s, err := New(a.config)
	if err != nil {
		a.b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	select {
	case <-s.Published():
	case err := <-done:
		a.b.Fatalf("the syncer ended: %v", err)
	}
	for _, t := range s.Status().Tables {
		if t.State != Published {
			a.b.Fatalf("the table is %v: %s", t.State, t.Problem)
		}
	}
	return s, func() {
		cancel()
		if err := <-done; err != nil {
			a.b.Error(err)
		}
	}
}

// record makes changes that neither side applies yet, and returns the position
// behind them.
func (a *applyBench) record(changes, transaction int) (end pglogrepl.LSN) {
	a.b.Helper()
	a.exec(a.source, fmt.Sprintf(applyWorkload, a.rows, a.changes, changes, transaction))
	a.changes += changes
	a.ask(a.source, "SELECT pg_current_wal_insert_lsn()::text", &end)
	// One transaction more makes a commit behind the position.
	a.exec(a.source, "UPDATE people SET cost = cost WHERE id = 1")
	a.exec(a.source, "CHECKPOINT")
	return end
}

// drainSubscription applies what was recorded, from the beginning of the stream to
// the commit of the last change.
func (a *applyBench) drainSubscription(end pglogrepl.LSN) time.Duration {
	a.b.Helper()
	a.exec(a.copy, "ALTER SUBSCRIPTION yardstick ENABLE")
	defer a.stopSubscription()
	for streaming := false; !streaming; {
		a.ask(a.source, "SELECT active FROM pg_replication_slots WHERE slot_name = 'copy_' || current_database()", &streaming)
	}
	began := time.Now()
	for ; ; time.Sleep(2 * time.Millisecond) {
		var applied string
		a.ask(a.copy, "SELECT coalesce(max(remote_lsn), '0/0')::text FROM pg_replication_origin_status", &applied)
		if at, err := pglogrepl.ParseLSN(applied); err != nil || at >= end {
			a.theirs += a.processorTime(a.copy, "backend_type = 'logical replication worker'")
			return time.Since(began)
		}
	}
}

// check compares both sides' figures with the table's.
func (a *applyBench) check() {
	a.b.Helper()
	var records string
	a.ask(a.store, "SELECT 'kproxy_store.records_' || max(generation) FROM kproxy_store.generation", &records)
	var want, copied, stored string
	figures := "SELECT (count(*), sum(id), sum(cost), sum(admitted - date '2000-01-01'))::text FROM "
	a.ask(a.source, figures+"people", &want)
	a.ask(a.copy, figures+"people", &copied)
	a.ask(a.store, figures+records, &stored)
	if copied != want || stored != want {
		a.b.Errorf("the table has %s, the subscription %s, the store %s", want, copied, stored)
	}
}

func (a *applyBench) stopSubscription() {
	a.exec(a.copy, "ALTER SUBSCRIPTION yardstick DISABLE")
	for running := 1; running > 0; time.Sleep(5 * time.Millisecond) {
		a.ask(a.copy, "SELECT count(pid) FROM pg_stat_subscription WHERE subname = 'yardstick'", &running)
	}
}

// drain applies what was recorded, from the beginning of the stream to the commit
// of the last change.
func (a *applyBench) drain(end pglogrepl.LSN) time.Duration {
	a.b.Helper()
	s, stop := a.run()
	defer stop()
	const backend = "application_name LIKE 'kproxy apply%' AND backend_type = 'client backend'"
	began, before := time.Now(), a.processorTime(a.store, backend)
	cpuBefore := userTime()
	for s.Status().Position < end {
		time.Sleep(2 * time.Millisecond)
	}
	took := time.Since(began)
	a.ours += a.processorTime(a.store, backend) - before
	a.process += userTime() - cpuBefore
	return took
}

func BenchmarkApply(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000} {
		a := (*applyBench)(nil)
		for _, shape := range []struct{ changes, transaction int }{{180_000, 1}, {150_000, 1000}} {
			b.Run(fmt.Sprintf("rows=%d/transaction=%d", rows, shape.transaction), func(b *testing.B) {
				a = newApplyBench(b, rows)
				b.ResetTimer()
				var subscription, syncer time.Duration
				for b.Loop() {
					end := a.record(shape.changes, shape.transaction)
					subscription += a.drainSubscription(end)
					syncer += a.drain(end)
					a.check()
				}
				rate := func(d time.Duration) float64 { return float64(b.N*shape.changes) / d.Seconds() }
				b.ReportMetric(rate(subscription), "subscription/s")
				b.ReportMetric(rate(syncer), "kproxy/s")
				b.ReportMetric(rate(syncer)/rate(subscription), "ratio")
				each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*shape.changes) }
				b.ReportMetric(each(a.theirs), "worker-µs/change")
				b.ReportMetric(each(a.ours), "session-µs/change")
				b.ReportMetric(each(a.process), "process-µs/change")
			})
		}
	}
}

// processorTime is what the server's processes of a kind have taken since they began, in
// user and system mode: other work on the machine says less in it than in rates. Zero
// where the machine does not tell.
func (a *applyBench) processorTime(conn *pgx.Conn, sessions string) (total time.Duration) {
	rows, err := conn.Query(context.Background(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND "+sessions)
	if err != nil {
		a.b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		a.b.Fatal(err)
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			continue
		}
		var ran int64
		if _, err := fmt.Sscan(string(text), &ran); err == nil {
			total += time.Duration(ran)
		}
	}
	return total
}

// BenchmarkLatency commits single-row changes at a fixed rate and looks, through the
// position that commits with the release, for markers among them: how long after its commit a reader sees a change.
func BenchmarkLatency(b *testing.B) {
	const rate, lasts, markers = 2000, 20 * time.Second, 100 // changes and markers a second
	for _, rows := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d/rate=%d", rows, rate), func(b *testing.B) {
			a := newApplyBench(b, rows)
			var latencies []time.Duration
			committed, achieved := 0, time.Duration(0)
			for b.Loop() {
				_, stop := a.run()
				writing := make(chan struct{})
				began := time.Now()
				go func() {
					defer close(writing)
					committed += a.commitAt(rate, lasts)
					achieved += time.Since(began)
				}()
				latencies = append(latencies, a.lookForMarkers(writing, time.Second/markers)...)
				<-writing
				stop()
			}
			b.ReportMetric(float64(committed)/achieved.Seconds(), "changes/s")
			b.ReportMetric(percentile(latencies, 0.5).Seconds()*1000, "p50-ms")
			b.ReportMetric(percentile(latencies, 0.99).Seconds()*1000, "p99-ms")
			b.ReportMetric(float64(len(latencies)), "markers")
		})
	}
}

// commitAt makes single-row changes at a rate, in small blocks so that the client's round
// trips do not bound it, and returns how many.
func (a *applyBench) commitAt(rate int, lasts time.Duration) (done int) {
	conn := a.connect(a.source.Config().ConnString())
	const block = 20
	began := time.Now()
	for time.Since(began) < lasts {
		time.Sleep(time.Until(began.Add(time.Duration(done) * time.Second / time.Duration(rate))))
		a.exec(conn, fmt.Sprintf(applyWorkload, a.rows, a.changes, block, 1))
		a.changes += block
		done += block
	}
	return done
}

// lookForMarkers inserts a person again and again and waits until the position that commits
// with the release has passed it.
func (a *applyBench) lookForMarkers(until <-chan struct{}, pause time.Duration) (latencies []time.Duration) {
	writer, reader := a.connect(a.source.Config().ConnString()), a.connect(a.source.Config().ConnString())
	for i := 0; ; i++ {
		select {
		case <-until:
			return latencies
		default:
		}
		var at string
		// The position behind the marker's commit, which the store must reach.
		a.exec(writer, fmt.Sprintf("INSERT INTO people SELECT "+applyPerson+" FROM (VALUES (%d)) v(i)", 1_000_000_000+i))
		began := time.Now()
		a.ask(writer, "SELECT pg_current_wal_insert_lsn()::text", &at)
		for shown := false; !shown; time.Sleep(500 * time.Microsecond) {
			a.ask(reader, "SELECT max(lsn) >= '"+at+"'::pg_lsn FROM kproxy_store.position", &shown)
			select {
			case <-until:
				return latencies
			default:
			}
		}
		latencies = append(latencies, time.Since(began))
		time.Sleep(pause)
	}
}

// BenchmarkPublish makes the first release of a million rows, by the time of COPY out and
// COPY in of the same table.
func BenchmarkPublish(b *testing.B) {
	const rows = 1_000_000
	a := newApplyBench(b, rows)
	b.ResetTimer()
	var copied, published time.Duration
	for b.Loop() {
		began := time.Now()
		var text bytes.Buffer
		if _, err := a.source.PgConn().CopyTo(context.Background(), &text, "COPY people TO STDOUT"); err != nil {
			b.Fatal(err)
		}
		a.exec(a.copy, "CREATE TABLE copied (LIKE people INCLUDING ALL)")
		if _, err := a.copy.PgConn().CopyFrom(context.Background(), &text, "COPY copied FROM STDIN"); err != nil {
			b.Fatal(err)
		}
		copied += time.Since(began)
		a.exec(a.copy, "DROP TABLE copied")
		a.exec(a.source, "DELETE FROM kproxy_store.generation")
		began = time.Now()
		_, stop := a.run()
		published += time.Since(began)
		stop()
	}
	b.ReportMetric(copied.Seconds()/float64(b.N), "copy-s")
	b.ReportMetric(published.Seconds()/float64(b.N), "kproxy-s")
	b.ReportMetric(published.Seconds()/copied.Seconds(), "ratio")
}

// percentile of durations that are sorted in place.
func percentile(all []time.Duration, p float64) time.Duration {
	slices.Sort(all)
	return all[min(len(all)-1, int(p*float64(len(all))))]
}

// userTime is the processor time that this process has taken.
func userTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
