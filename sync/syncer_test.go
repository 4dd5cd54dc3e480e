package sync

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/catalog/provision/provisiontest"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

const testK = 4

// bench is a source database with protected tables, ready for a Syncer.
type bench struct {
	t      *testing.T
	dsn    string
	source *pgx.Conn // superuser
	apart  *pgx.Conn // likewise, in the database of the store; nil where that is the source's
	config Config
	// distributed says that the store's database is the coordinator of Citus.
	distributed bool
}

// sourceTables cover the column types whose text form, NULLs or size need care.
const sourceTables = userTypes + sourcePeople + `;
ALTER TABLE people ALTER note SET STORAGE EXTERNAL;
CREATE TABLE "Odd ""Names" (a int, b text, "the age" int, "the ""illness" text, PRIMARY KEY (b, a));
ALTER TABLE "Odd ""Names" REPLICA IDENTITY FULL;`

const userTypes = `
CREATE TYPE mood AS ENUM ('calm', 'worried');
CREATE DOMAIN ward AS text CHECK (value <> '');
`

const sourcePeople = `CREATE TABLE people (
	id bigint PRIMARY KEY, name text, age int, weight numeric, born date, seen timestamptz,
	zip text, job text, mood mood, ward ward, tags text[], note text, illness text NOT NULL)`

func testPolicy() catalog.Policy {
	qi := func(name string, kind hierarchy.Kind) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
	}
	as := func(role catalog.Role, names ...string) (columns []catalog.ColumnPolicy) {
		for _, name := range names {
			columns = append(columns, catalog.ColumnPolicy{Name: name, Role: role})
		}
		return columns
	}
	people := append([]catalog.ColumnPolicy{
		qi("age", hierarchy.Numeric), qi("weight", hierarchy.Numeric), qi("born", hierarchy.Date), qi("seen", hierarchy.Date),
		qi("zip", hierarchy.Prefix), qi("job", hierarchy.Categorical),
	}, append(as(catalog.Sensitive, "illness"), as(catalog.Insensitive, "mood", "ward", "tags", "note")...)...)
	return catalog.Policy{Tables: []catalog.TablePolicy{
		{
			Table: catalog.Name{Schema: "public", Relation: "people"}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Columns: people,
			Constraints: []privacy.Spec{{Model: privacy.K, K: testK}, {Model: privacy.DistinctL, L: 2, Of: "illness"}},
		},
		{
			Table: catalog.Name{Schema: "public", Relation: `Odd "Names`}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
			Columns:     append(as(catalog.Sensitive, `the "illness`), qi("the age", hierarchy.Numeric)),
			Constraints: []privacy.Spec{{Model: privacy.K, K: testK}},
		},
	}}
}

func newBench(t *testing.T, server *pgserver.Server, setup string) *bench {
	t.Helper()
	return newBenchOf(t, server, setup, testPolicy())
}

func newBenchOf(t *testing.T, server *pgserver.Server, setup string, policy catalog.Policy) *bench {
	t.Helper()
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.exec(setup)
	return b.provide(server, policy)
}

// newApartBench is newBench with the store in a database of its own, on a server that may be another
// one. Types are made there as the operator would.
func newApartBench(t *testing.T, server, other *pgserver.Server, setup string, policy catalog.Policy) *bench {
	t.Helper()
	return (&bench{t: t, dsn: pgtest.Database(t, server)}).beside(server, pgtest.Database(t, other), setup, policy)
}

// beside prepares a bench whose store is in another database.
func (b *bench) beside(server *pgserver.Server, release, setup string, policy catalog.Policy) *bench {
	b.t.Helper()
	b.source, b.apart = b.connect(), connectTo(b.t, release)
	b.exec(setup)
	if _, err := b.store().Exec(b.t.Context(), userTypes); err != nil {
		b.t.Fatal(err)
	}
	return b.provide(server, policy)
}

// store is a superuser's connection to the database of the store.
func (b *bench) store() *pgx.Conn {
	if b.apart != nil {
		return b.apart
	}
	return b.source
}

func connectTo(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// provide makes roles, store and publication for a policy.
func (b *bench) provide(server *pgserver.Server, policy catalog.Policy) *bench {
	t, ctx := b.t, b.t.Context()
	t.Helper()
	var database string
	if err := b.source.QueryRow(ctx, "SELECT current_database()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	owner, reader := "owner_"+database, "reader_"+database
	input := provision.Input{
		Policy: policy, Publication: "kproxy",
		Owner: provision.Login{Name: owner, Password: "owner"}, Reader: provision.Login{Name: reader, Password: "reader"},
	}
	for _, a := range policy.Audiences {
		for _, role := range a.Roles {
			input.Readers = append(input.Readers, provision.Login{Name: role, Password: "reader"})
		}
	}
	var sourceConfig *pgx.ConnConfig
	if b.apart != nil {
		input.Side = provision.ReleaseSide
		source := input
		input.Distribute = b.distributed
		source.Side, source.Owner.Name = provision.SourceSide, "source_"+database
		if err := provisiontest.Apply(ctx, b.source, source); err != nil {
			t.Fatal(err)
		}
		sourceConfig = b.source.Config().Copy()
		sourceConfig.User, sourceConfig.Password = source.Owner.Name, "owner"
	}
	if err := provisiontest.Apply(ctx, b.store(), input); err != nil {
		t.Fatal(err)
	}
	if b.apart != nil { // on a server of its own, too, it is asked about at the source
		b.exec("DO $$ BEGIN CREATE ROLE " + reader + "; EXCEPTION WHEN duplicate_object THEN END $$")
	}
	ownerConfig := b.store().Config().Copy()
	ownerConfig.User, ownerConfig.Password = owner, "owner"
	b.config = Config{
		Owner: ownerConfig, Source: sourceConfig, Reader: reader, Publication: "kproxy", Slot: "slot_" + database, Seed: 1, Distribute: b.distributed,
		Tables: b.publications(policy, reader), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	t.Cleanup(func() { b.dropSlot(server, database) })
	return b
}

func (b *bench) dropSlot(server *pgserver.Server, database string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.DSN("postgres"))
	if err != nil {
		b.t.Error(err)
		return
	}
	defer conn.Close(ctx)
	for range 50 {
		if _, err = conn.Exec(ctx, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = $1`, database); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Error(err)
}

func (b *bench) connect() *pgx.Conn {
	b.t.Helper()
	return connectTo(b.t, b.dsn)
}

func (b *bench) publications(policy catalog.Policy, reader string) []catalog.Publication {
	b.t.Helper()
	relations, err := inspect.Relations(b.t.Context(), b.connect(), reader)
	if err != nil {
		b.t.Fatal(err)
	}
	var publications []catalog.Publication
	for _, table := range policy.Tables {
		for _, r := range relations {
			if r.Name == table.Table {
				p, problems := catalog.Publish(table, r)
				if len(problems) > 0 {
					b.t.Fatal(problems)
				}
				publications = append(publications, p)
			}
		}
	}
	return publications
}

func (b *bench) exec(sql string, arguments ...any) {
	b.t.Helper()
	if _, err := b.source.Exec(b.t.Context(), sql, arguments...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// run starts a Syncer and returns it with a function that stops it.
func (b *bench) run() (s *Syncer, stop func() error) {
	b.t.Helper()
	s, err := New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var ended error
	stopped := false
	stop = func() error {
		if !stopped {
			stopped = true
			cancel()
			ended = <-done
		}
		return ended
	}
	b.t.Cleanup(func() { _ = stop() })
	b.awaitPublished(s, done)
	await(b.t, "every table is ready", func() bool {
		for _, table := range s.Status().Tables {
			if table.Preparing && table.State != Halted {
				return false
			}
		}
		return true
	})
	return s, stop
}

// awaitPublished waits until every table is published, each of which may take long.
func (b *bench) awaitPublished(s *Syncer, done <-chan error) {
	b.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for before, began := -1, time.Now(); ; {
		select {
		case <-s.Published():
			return
		case err := <-done:
			b.t.Fatalf("the syncer ended: %v", err)
		case <-tick.C:
		}
		ready := 0
		for _, table := range s.Status().Tables {
			if !table.Preparing {
				ready++
			}
		}
		if ready != before {
			before, began = ready, time.Now()
		}
		if time.Since(began) > patience {
			b.t.Fatalf("%d tables were published, and none since", ready)
		}
	}
}

// caughtUp waits until the release shows everything committed so far.
func (b *bench) caughtUp(s *Syncer) {
	b.t.Helper()
	var target pglogrepl.LSN
	if err := b.source.QueryRow(b.t.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&target); err != nil {
		b.t.Fatal(err)
	}
	// One transaction more, without effect, makes a commit beyond it.
	table := b.config.Tables[0].Relation.Name.SQL()
	if _, err := b.source.Exec(b.t.Context(), fmt.Sprintf(`INSERT INTO %[1]s (id, illness) VALUES (-1, 'none'); DELETE FROM %[1]s WHERE id = -1`, table),
		pgx.QueryExecModeSimpleProtocol); err != nil {
		b.t.Fatal(err)
	}
	for start := time.Now(); s.Status().Position < target; time.Sleep(2 * time.Millisecond) {
		if s.Status().State == Stopped {
			b.t.Fatalf("the syncer stopped: %s", s.Status().Reason)
		}
		if time.Since(start) > patience {
			b.t.Fatalf("the release is at %s for long, the source at %s: %+v", s.Status().Position, target, s.Status())
		}
	}
}

// checkStore is the oracle: the private store holds exactly the source's rows,
// and the verifier's own code agrees with the release.
func (b *bench) checkStore(s *Syncer) {
	b.t.Helper()
	ctx := b.t.Context()
	for _, p := range b.config.Tables {
		table, err := newTable(p)
		if err != nil {
			b.t.Fatal(err)
		}
		err = b.store().QueryRow(ctx, "SELECT generation FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2",
			table.layout.name().Schema, table.layout.name().Relation).Scan(&table.release.generation)
		if err != nil {
			b.t.Fatal(err)
		}
		missing, surplus := 0, 0
		rows := func(conn *pgx.Conn, from string) map[string]int {
			found, err := conn.Query(ctx, "SELECT ROW("+table.layout.columns.list("")+")::text, count(*) FROM "+from+" GROUP BY 1")
			if err != nil {
				b.t.Fatal(err)
			}
			counts, row, count := make(map[string]int), "", 0
			if _, err := pgx.ForEachRow(found, []any{&row, &count}, func() error { counts[row] = count; return nil }); err != nil {
				b.t.Fatal(err)
			}
			return counts
		}
		source, stored := rows(b.source, table.layout.name().SQL()), rows(b.store(), table.recordsTable())
		for row, count := range source {
			missing += max(0, count-stored[row])
		}
		for row, count := range stored {
			surplus += max(0, count-source[row])
		}
		if missing+surplus > 0 {
			b.t.Errorf("%s: the store lacks %d rows of the source and has %d others", table.layout.name(), missing, surplus)
		}
	}
	b.checkRelease()
	if b.t.Failed() {
		b.t.Logf("status: %+v", s.Status())
		b.t.FailNow()
	}
}

// checkRelease has the verifier prove what is published.
func (b *bench) checkRelease() {
	b.t.Helper()
	report, err := verify.Run(b.t.Context(), connectTo(b.t, b.store().Config().ConnString()), b.config.Tables, verify.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	if !report.Passed() {
		var text strings.Builder
		_ = report.WriteText(&text)
		b.t.Errorf("the verifier refuses:\n%s", text.String())
	}
}

// change makes one random change of the source.
func (b *bench) change(r *rand.Rand, rows int) {
	b.t.Helper()
	id, other := r.IntN(rows), r.IntN(rows)
	text := func(values ...string) any {
		if v := values[r.IntN(len(values))]; v != "NULL" {
			return v
		}
		return nil
	}
	illness := text("flu", "asthma", "gout", "mumps", "")
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		b.exec(`INSERT INTO people VALUES ($1, 'canary', $2, $3::text::numeric, $4::text::date, $5::text::timestamptz, $6, $7, $8::text::mood, 'A', $9::text::text[], $10, $11)
			ON CONFLICT (id) DO UPDATE SET age = excluded.age, illness = excluded.illness`,
			id, r.IntN(90), text("70.5", "80", "NaN", "NULL", "123456789012345678901.5"), text("1950-02-03", "1999-12-31", "infinity", "0044-03-15 BC", "NULL"),
			text("2024-05-06 07:08:09.123+02", "2024-05-07 00:00:00+00", "NULL"), text("10115", "10117", "1", "", "*", "NULL"),
			text("nurse", "farmer", "a\tb\\n", "", "NULL"), text("calm", "worried", "NULL"),
			text("{}", `{"a,b",NULL}`, "NULL"), text(strings.Repeat("x", 9000), "short", "NULL"), illness)
	case 4:
		b.exec(`UPDATE people SET age = age + 1 WHERE id = $1`, id) // leaves the TOASTed note out of the stream
	case 5:
		b.exec(`UPDATE people SET note = $2, tags = '{new}' WHERE id = $1`, id, strings.Repeat("y", r.IntN(9000)))
	case 6:
		b.exec(`UPDATE people SET illness = $2, job = $3 WHERE id = $1`, id, illness, text("nurse", "clerk", "NULL"))
	case 7:
		b.exec(`UPDATE people SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM people WHERE id = $2)`, id, other)
	case 8:
		b.exec(`DELETE FROM people WHERE id = $1`, id)
	case 9:
		b.exec(`DELETE FROM people WHERE id BETWEEN $1 AND $1 + $2`, id, r.IntN(20))
	case 10:
		b.exec(`INSERT INTO "Odd ""Names" VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, r.IntN(20), text("a", "a:1", "1:a", ""), r.IntN(50), illness)
	case 11:
		b.exec(`UPDATE "Odd ""Names" SET "the age" = $2 WHERE a = $1`, r.IntN(20), r.IntN(50))
	}
}

func (b *bench) fill(rows int) {
	b.t.Helper()
	b.exec(`INSERT INTO people SELECT i, 'name ' || i, i % 90, i % 100 + 0.5, date '1930-01-01' + i % 30000, timestamptz '2024-01-01' + i * interval '1 minute',
		(10000 + i % 700)::text, 'job ' || i % 9, 'calm', 'A', '{}', repeat('z', i % 50 * 200), 'illness ' || i % 7 FROM generate_series(1, $1::int) i`, rows)
}

func TestRandomChanges(t *testing.T) {
	t.Parallel()
	const rows, rounds, changes = 300, 6, 60
	for seed, apart := range map[uint64]bool{1: false, 2: false, 3: false, 4: true, 5: true} {
		t.Run(fmt.Sprintf("seed=%d,apart=%v", seed, apart), func(t *testing.T) {
			b := newBench(t, pgtest.Shared(t), sourceTables)
			if apart {
				b = newApartBench(t, pgtest.Shared(t), pgtest.Shared(t), sourceTables, testPolicy())
			}
			b.fill(rows)
			r := rand.New(rand.NewPCG(seed, 0))
			s, stop := b.run()
			b.checkStore(s)
			for round := range rounds {
				for range changes {
					b.transaction(r, rows)
				}
				b.caughtUp(s)
				b.checkStore(s)
				if round%2 == 1 {
					// A restart loads the store into memory and goes on.
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					b.change(r, rows)
					s, stop = b.run()
				}
			}
		})
	}
}

// transaction makes one change, or several at once, some of them rolled back.
func (b *bench) transaction(r *rand.Rand, rows int) {
	b.t.Helper()
	if r.IntN(4) > 0 {
		b.change(r, rows)
		return
	}
	b.exec("BEGIN")
	for range r.IntN(8) {
		b.change(r, rows)
		if r.IntN(4) == 0 {
			b.exec("SAVEPOINT s")
			b.change(r, rows)
			b.exec("ROLLBACK TO s")
		}
	}
	switch r.IntN(12) {
	case 0:
		b.exec("ROLLBACK")
	case 1:
		b.exec(`TRUNCATE people, "Odd ""Names"`)
		b.fill(r.IntN(rows))
		b.exec("COMMIT")
	default:
		b.exec("COMMIT")
	}
}
