package sync

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// The yardstick of the initial publication is COPY out and COPY in of the same table,
// with its primary key, by psql's way: text through the client.
//
//	go test ./sync -run xxx -bench InitialPublication/rows=1000000 -benchtime 1x -count 3

const publicationTable = `CREATE TABLE people (id bigint PRIMARY KEY, born date, admitted date, sex text, zip text, marital text, job text,
	ward text, diagnosis text, cost numeric(10,2))`

const publicationRows = `INSERT INTO people SELECT i, date '1940-01-01' + abs(hashint8(i) %% 25000), date '2024-01-01' + abs(hashint8(i + 1) %% 700),
	(ARRAY['F', 'M'])[1 + abs(hashint8(i + 2) %% 2)], (10000 + abs(hashint8(i + 3) %% 900))::text,
	'status ' || abs(hashint8(i + 4) %% 5), 'job ' || abs(hashint8(i + 5) %% 40),
	'ward ' || i %% 13, 'I' || i %% 61, (i %% 9973)::numeric(10,2) FROM generate_series(1, %d) i`

func BenchmarkInitialPublication(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			source, config := publicationSource(b, publicationServer(b), rows)
			b.ResetTimer()
			var yardstick, publication time.Duration
			for b.Loop() {
				yardstick += copyOutAndIn(b, source)
				publication += publishOnce(b, source, config)
			}
			seconds := func(d time.Duration) float64 { return d.Seconds() / float64(b.N) }
			b.ReportMetric(seconds(yardstick), "copy-s")
			b.ReportMetric(seconds(publication), "publication-s")
			b.ReportMetric(seconds(publication)/seconds(yardstick), "ratio")
			b.ReportMetric(float64(peakMemory(b))/float64(rows), "peak-B/row")
		})
	}
}

// publicationServer is a server with some memory.
func publicationServer(b *testing.B) *pgserver.Server {
	b.Helper()
	server, err := pgserver.Start(b.Context(), pgserver.Options{
		Settings: map[string]string{"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop() })
	return server
}

// publicationSource is a database with one protected table, whose policy can be altered.
func publicationSource(b *testing.B, server *pgserver.Server, rows int, alter ...func(*catalog.TablePolicy)) (*pgx.Conn, Config) {
	b.Helper()
	source, err := pgx.Connect(b.Context(), pgtest.Database(b, server))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = source.Close(context.Background()) })
	for _, sql := range []string{publicationTable, fmt.Sprintf(publicationRows, rows), "VACUUM ANALYZE people"} {
		if _, err := source.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	policy := catalog.TablePolicy{
		Table: catalog.Name{Schema: "public", Relation: "people"}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 10}},
	}
	for name, kind := range map[string]hierarchy.Kind{
		"born": hierarchy.Date, "admitted": hierarchy.Date, "sex": hierarchy.Categorical,
		"zip": hierarchy.Prefix, "marital": hierarchy.Categorical, "job": hierarchy.Categorical,
	} {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}})
	}
	for _, name := range []string{"ward", "diagnosis", "cost"} {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive})
	}
	for _, change := range alter {
		change(&policy)
	}
	input := provision.Input{
		Policy: catalog.Policy{Tables: []catalog.TablePolicy{policy}}, Publication: "kproxy",
		Owner: provision.Login{Name: "bench_owner", Password: "owner"}, Reader: provision.Login{Name: "bench_reader", Password: "reader"},
	}
	for _, a := range policy.Audiences {
		input.Policy.Audiences = append(input.Policy.Audiences, catalog.Audience{Name: a.Audience, Roles: []string{a.Role}})
		input.Readers = append(input.Readers, provision.Login{Name: a.Role, Password: "reader"})
	}
	if err := provision.Apply(b.Context(), source, input); err != nil {
		b.Fatal(err)
	}
	relations, err := inspect.Relations(b.Context(), source, "bench_reader")
	if err != nil {
		b.Fatal(err)
	}
	owner := source.Config().Copy()
	owner.User, owner.Password = "bench_owner", "owner"
	config := Config{Owner: owner, Reader: "bench_reader", Publication: "kproxy", Slot: "bench", Seed: 1, Logger: slog.New(slog.DiscardHandler)} // a log would break the lines of benchmarks
	for _, r := range relations {
		if r.Name == policy.Table {
			p, problems := catalog.Publish(policy, r)
			if len(problems) > 0 {
				b.Fatal(problems)
			}
			config.Tables = append(config.Tables, p)
		}
	}
	return source, config
}

// copyOutAndIn copies the table through the client.
func copyOutAndIn(b *testing.B, source *pgx.Conn) time.Duration {
	b.Helper()
	if _, err := source.Exec(b.Context(), "CHECKPOINT; CREATE TABLE copied (LIKE people INCLUDING ALL)"); err != nil {
		b.Fatal(err)
	}
	text, err := os.Create(filepath.Join(b.TempDir(), "people"))
	if err != nil {
		b.Fatal(err)
	}
	defer text.Close()
	began := time.Now()
	if _, err := source.PgConn().CopyTo(b.Context(), text, "COPY people TO STDOUT"); err != nil {
		b.Fatal(err)
	}
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		b.Fatal(err)
	}
	if _, err := source.PgConn().CopyFrom(b.Context(), bufio.NewReader(text), "COPY copied FROM STDIN"); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	if _, err := source.Exec(b.Context(), "DROP TABLE copied; CHECKPOINT"); err != nil {
		b.Fatal(err)
	}
	return took
}

// publishOnce runs a Syncer until the table is shown, and has the next one begin anew.
func publishOnce(b *testing.B, source *pgx.Conn, config Config) time.Duration {
	b.Helper()
	runtime.GC()
	began := time.Now()
	_, stop := publishing(b, config)
	took := time.Since(began)
	stop()
	if _, err := source.Exec(b.Context(), "DELETE FROM kproxy_store.generation; CHECKPOINT"); err != nil {
		b.Fatal(err)
	}
	return took
}

// publishing runs a Syncer, until the table is shown and until stop.
func publishing(b *testing.B, config Config) (s *Syncer, stop func()) {
	b.Helper()
	s, err := New(config)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	table := config.Tables[0].Policy.Table
	for status := s.Status().Tables[table]; status.State != Published || status.Preparing; status = s.Status().Tables[table] {
		select {
		case err := <-done:
			b.Fatalf("the syncer ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return s, func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkResynchronization compares a table with its store, of which 100 rows differ.
//
//	go test ./sync -run xxx -bench Resynchronization/rows=1000000 -benchtime 1x
func BenchmarkResynchronization(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			source, config := publicationSource(b, publicationServer(b), rows)
			s, stop := publishing(b, config)
			defer stop()
			for b.Loop() {
				b.StopTimer()
				if _, err := source.Exec(b.Context(), "ALTER PUBLICATION kproxy SET (publish = 'insert')"); err != nil {
					b.Fatal(err)
				}
				if _, err := source.Exec(b.Context(), fmt.Sprintf("UPDATE people SET cost = cost + 1 WHERE id %% %d = 0", rows/100)); err != nil {
					b.Fatal(err)
				}
				if _, err := source.Exec(b.Context(), "ALTER PUBLICATION kproxy SET (publish = 'insert, update, delete, truncate')"); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := Resynchronize(b.Context(), config.Owner, config.Slot, nil); err != nil {
					b.Fatal(err)
				}
				for asked := true; asked; time.Sleep(5 * time.Millisecond) {
					if err := source.QueryRow(b.Context(), "SELECT bool_or(asked IS NOT NULL) FROM kproxy_store.generation").Scan(&asked); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.StopTimer()
			if s.Status().Tables[config.Tables[0].Policy.Table].State != Published {
				b.Errorf("%+v", s.Status())
			}
		})
	}
}

// peakMemory is the most that the process has held, in bytes.
func peakMemory(b *testing.B) int {
	b.Helper()
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer status.Close()
	text, _ := io.ReadAll(status)
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, _ := strconv.Atoi(strings.Fields(peak)[0])
	return kilobytes << 10
}
