package sync

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// mirroredTables are tables that are not protected: one of which the key is not listed, one without a
// key, whose rows repeat, and a partitioned one.
const mirroredTables = sourceTables + `
CREATE TABLE wards (code text, floor int, name text, chief text, note text, mood mood, kept json, PRIMARY KEY (code, floor));
ALTER TABLE wards ALTER note SET STORAGE EXTERNAL;
CREATE TABLE codes (code text, meaning text);
ALTER TABLE codes REPLICA IDENTITY FULL;
CREATE TABLE rooms (room int PRIMARY KEY, floor int) PARTITION BY RANGE (room);
CREATE TABLE rooms_low PARTITION OF rooms FOR VALUES FROM (MINVALUE) TO (50);
CREATE TABLE rooms_high PARTITION OF rooms FOR VALUES FROM (50) TO (MAXVALUE);`

func mirroringPolicy() catalog.Policy {
	policy := testPolicy()
	policy.Tables = append(policy.Tables,
		catalog.MirrorTable(publicTable("wards"), []string{"name", "floor", "note", "mood", "kept"}),
		catalog.MirrorTable(publicTable("codes"), []string{"code", "meaning"}),
		catalog.MirrorTable(publicTable("rooms"), []string{"room", "floor"}))
	return policy
}

// mirroredBench has the store on another server.
func mirroredBench(t *testing.T, policy catalog.Policy) *bench {
	t.Helper()
	b := newApartBench(t, pgtest.Shared(t), pgtest.Shared(t), mirroredTables, policy)
	b.fill(60)
	b.exec(`INSERT INTO wards SELECT 'w' || i, i % 9, 'name ' || i, 'canary', repeat('n', i % 20 * 500), 'calm', '{"a": 1}' FROM generate_series(1, 200) i`)
	b.exec("INSERT INTO codes SELECT 'c' || i % 7, 'meaning ' || i % 3 FROM generate_series(1, 90) i")
	b.exec("INSERT INTO rooms SELECT i, i % 5 FROM generate_series(1, 100) i")
	return b
}

// changeMirrored makes one random change of the tables that are not protected.
func (b *bench) changeMirrored(r *rand.Rand) {
	b.t.Helper()
	code, other := fmt.Sprintf("w%d", r.IntN(250)), fmt.Sprintf("w%d", r.IntN(250))
	switch r.IntN(12) {
	case 0, 1:
		b.exec("INSERT INTO wards VALUES ($1, $2, 'new', 'canary', $3, NULL, '{}') ON CONFLICT DO NOTHING", code, r.IntN(9), strings.Repeat("q", r.IntN(6000)))
	case 2:
		b.exec("UPDATE wards SET name = name || '!' WHERE code = $1", code) // leaves the TOASTed note out of the stream
	case 3:
		b.exec("UPDATE wards SET note = $2, kept = 'null' WHERE code = $1", code, strings.Repeat("r", r.IntN(6000)))
	case 4:
		b.exec("UPDATE wards SET code = $2 WHERE code = $1 AND NOT EXISTS (SELECT FROM wards WHERE code = $2)", code, other)
	case 5:
		b.exec("DELETE FROM wards WHERE code = $1", code)
	case 6:
		b.exec("DELETE FROM wards WHERE floor = $1; INSERT INTO wards SELECT 'w' || i, 3, 'back', 'canary' FROM generate_series(1, 5) i ON CONFLICT DO NOTHING", pgx.QueryExecModeSimpleProtocol, r.IntN(9))
	case 7:
		b.exec("INSERT INTO codes VALUES ($1, 'meaning 1')", fmt.Sprintf("c%d", r.IntN(7)))
	case 8:
		b.exec("DELETE FROM codes WHERE ctid = (SELECT min(ctid) FROM codes)")
	case 9:
		b.exec("UPDATE codes SET meaning = 'meaning ' || $1::int WHERE code = $2", r.IntN(3), fmt.Sprintf("c%d", r.IntN(7)))
	case 10:
		b.exec("UPDATE rooms SET room = 101 - room WHERE room = $1 AND NOT EXISTS (SELECT FROM rooms WHERE room = 101 - $1)", r.IntN(120))
	case 11:
		b.exec("DELETE FROM rooms WHERE room = $1", r.IntN(120))
	}
}

// TestMirrored follows tables that are not protected through every kind of change, restarts and lost
// sessions: the store, and what readers see, are the source's rows.
func TestMirrored(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			b := mirroredBench(t, mirroringPolicy())
			r := rand.New(rand.NewPCG(seed, 0))
			s, stop := b.run()
			b.checkStore(s)
			for round := range 6 {
				for range 30 {
					b.transactionWith(r, func() { b.changeMirrored(r) })
				}
				if round == 2 {
					b.exec("TRUNCATE wards, rooms_low")
					b.exec("INSERT INTO wards SELECT 'w' || i, 1, 'again', 'canary' FROM generate_series(1, 40) i")
				}
				if round%2 == 0 { // what is in memory is lost in the middle of it
					_, err := b.store().Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND datname = current_database()", b.config.Owner.User)
					if err != nil {
						t.Fatal(err)
					}
				}
				b.caughtUp(s)
				b.checkStore(s)
				if round%2 == 1 {
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					b.changeMirrored(r)
					s, stop = b.run()
				}
			}
			rows := scanned[int](b, "SELECT count(*) FROM wards")
			if status := s.Status().Tables[publicTable("wards")]; status.Records != rows || status.Classes != 0 || status.State != Published {
				t.Errorf("%d rows, and the status is %+v", rows, status)
			}
		})
	}
}

// transactionWith makes one change, or several at once, some of them rolled back.
func (b *bench) transactionWith(r *rand.Rand, change func()) {
	b.t.Helper()
	if r.IntN(3) > 0 {
		change()
		return
	}
	b.exec("BEGIN")
	for range r.IntN(6) {
		change()
		if r.IntN(4) == 0 {
			b.exec("SAVEPOINT s")
			change()
			b.exec("ROLLBACK TO s")
		}
	}
	b.exec([]string{"COMMIT", "COMMIT", "ROLLBACK"}[r.IntN(3)])
}

// TestJoinsAreOfOneCommit has a writer change a protected and a mirrored table in one transaction, and
// a reader join them: both are of the same commit, whatever else is being written.
func TestJoinsAreOfOneCommit(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	b.exec("UPDATE people SET ward = '0'")
	b.exec("UPDATE wards SET floor = 0, code = 'one' WHERE code = 'w9'")
	b.exec("DELETE FROM wards WHERE code <> 'one'")
	s, _ := b.run()
	config := b.store().Config().Copy()
	config.User, config.Password = b.config.Reader, "reader"
	reader, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(context.Background())
	var ended atomic.Bool
	seen := make(chan string, 1)
	go func() {
		versions := map[string]bool{}
		for !ended.Load() {
			var wards, people string
			err := reader.QueryRow(t.Context(), `SELECT (SELECT string_agg(floor::text, ',') FROM kproxy_release_public.wards),
				(SELECT string_agg(DISTINCT ward, ',') FROM kproxy_release_public.people)`).Scan(&wards, &people)
			if err != nil || wards != people {
				seen <- fmt.Sprintf("a reader sees ward %q of people and %q of wards: %v", people, wards, err)
				return
			}
			versions[wards] = true
		}
		seen <- map[bool]string{true: "", false: fmt.Sprintf("only %d versions were seen", len(versions))}[len(versions) > 5]
	}()
	for i := range 150 {
		b.exec(fmt.Sprintf("BEGIN; UPDATE wards SET floor = %[1]d; UPDATE people SET ward = '%[1]d'; COMMIT", i+1), pgx.QueryExecModeSimpleProtocol)
		if i%10 == 0 {
			b.caughtUp(s)
		}
	}
	b.caughtUp(s)
	ended.Store(true)
	if wrong := <-seen; wrong != "" {
		t.Error(wrong)
	}
	b.checkStore(s)
}

// TestMirroredColumnsLeaveTheSource reads what the source's server sends of a mirrored table: the
// columns that are not listed are not in it, nor in the store.
func TestMirroredColumnsLeaveTheSource(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	if scanned[int](b, "SELECT current_setting('server_version_num')::int") < 150000 {
		t.Skip("lists of columns came with PostgreSQL 15")
	}
	s, stop := b.run()
	b.exec("SELECT pg_create_logical_replication_slot('mirror_' || current_database(), 'pgoutput')")
	b.exec("INSERT INTO wards SELECT 'x' || i, i, 'seen', 'canary' FROM generate_series(1, 10) i; UPDATE wards SET chief = 'canary ' || code, floor = 77; DELETE FROM wards WHERE code LIKE 'x%'", pgx.QueryExecModeSimpleProtocol)
	b.caughtUp(s)
	b.checkStore(s)
	rows, err := b.source.Query(t.Context(), `SELECT data FROM pg_logical_slot_peek_binary_changes('mirror_' || current_database(), NULL, NULL,
		'proto_version', '1', 'publication_names', 'kproxy')`)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Join(messages, nil)
	if !bytes.Contains(all, []byte("seen")) || bytes.Contains(all, []byte("canary")) {
		t.Error("a listed column was not sent, or one that is not was")
	}
	var shown string
	if err := b.store().QueryRow(t.Context(), "SELECT string_agg(attname::text, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'kproxy_release_public.wards'::regclass").Scan(&shown); err != nil {
		t.Fatal(err)
	}
	if shown != "floor name note mood kept" {
		t.Errorf("readers see the columns %s", shown)
	}
	// Rows are found by a key that is listed; plans would tell the names of another one.
	var indexes string
	if err := b.store().QueryRow(t.Context(), "SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes WHERE schemaname = 'kproxy_store' AND tablename IN ('records_3', 'records_4', 'records_5')").Scan(&indexes); err != nil {
		t.Fatal(err)
	}
	if indexes != "records_3_pkey records_4_pkey records_5_pkey records_5_room_idx" {
		t.Errorf("there are the indexes %s", indexes)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.exec("SELECT pg_drop_replication_slot('mirror_' || current_database())")
}

// TestMirroredComesAndGoes adds a mirrored table by a reload, gives it another list of columns, alters
// it so that it is halted, and takes it out: its rows are there while it is listed and as was accepted,
// and other tables go on.
func TestMirroredComesAndGoes(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	all := b.config.Tables
	wards := publicTable("wards")
	b.config.Tables = all[:2]
	s, _ := b.run()
	reload := func(tables []catalog.Publication) {
		t.Helper()
		b.config.Tables = tables
		s.Reload(tables)
		b.exec("UPDATE people SET age = (age + 1) % 80")
		b.calm(s)
		b.checkStore(s)
	}
	reload(all)
	fewer := mirroringPolicy()
	fewer.Tables[2] = catalog.MirrorTable(wards, []string{"name"})
	reload(b.publications(fewer, b.config.Reader))
	var columns int
	if err := b.store().QueryRow(t.Context(), "SELECT count(*) FROM pg_attribute WHERE attrelid = 'kproxy_release_public.wards'::regclass").Scan(&columns); err != nil || columns != 1 {
		t.Errorf("%d columns are shown, and one is listed: %v", columns, err)
	}
	reload(all)

	// Another column has the name of a listed one: readers are refused, whatever it has.
	b.exec("ALTER TABLE wards RENAME name TO was; ALTER TABLE wards RENAME chief TO name", pgx.QueryExecModeSimpleProtocol)
	b.exec("UPDATE wards SET floor = floor")
	await(t, "the mirrored table is halted", func() bool { return s.Status().Tables[wards].State == Halted }, s)
	await(t, "readers may not read what was not accepted", func() (refused bool) {
		if err := b.store().QueryRow(t.Context(), "SELECT NOT has_table_privilege($1, 'kproxy_release_public.wards', 'SELECT')", b.config.Reader).Scan(&refused); err != nil {
			t.Fatal(err)
		}
		return refused
	}, s)
	b.exec("ALTER TABLE wards RENAME name TO chief; ALTER TABLE wards RENAME was TO name", pgx.QueryExecModeSimpleProtocol)
	reload(all)
	reload(all[:2])
	await(t, "the release is dropped", func() bool {
		var there bool
		if err := b.store().QueryRow(t.Context(), "SELECT to_regclass('kproxy_release_public.wards') IS NOT NULL OR count(*) > 2 FROM kproxy_store.generation").Scan(&there); err != nil {
			t.Fatal(err)
		}
		return !there
	}, s)
}

// TestMirroredMarksMove compares the marks by which kept answers are known: that of a mirrored table
// moves with its rows and with nothing else.
func TestMirroredMarksMove(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	s, _ := b.run()
	mark := func() (mark string) {
		b.caughtUp(s)
		if err := b.store().QueryRow(t.Context(), "SELECT mark::text FROM kproxy_catalog.mark WHERE table_name = 'wards'").Scan(&mark); err != nil {
			t.Fatal(err)
		}
		return mark
	}
	before := mark()
	b.exec("DELETE FROM codes")
	if mark() != before {
		t.Error("the mark moved with another table")
	}
	for _, change := range []string{"UPDATE wards SET name = 'other' WHERE code = 'w1'", "DELETE FROM wards WHERE code = 'w2'", "INSERT INTO wards (code, floor) VALUES ('w1', 99)", "TRUNCATE wards"} {
		b.exec(change)
		if now := mark(); now == before {
			t.Errorf("the mark stays the same after %s", change)
		} else {
			before = now
		}
	}
}

// TestMirroredBecomesProtected protects a table that was mirrored, and mirrors it again: neither release
// stands in for the other while that is made, whatever the operator lets stand.
func TestMirroredBecomesProtected(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	mirroring := b.config.Tables
	policy := mirroringPolicy()
	policy.Tables[2] = catalog.TablePolicy{
		Table: publicTable("wards"), Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{Model: privacy.K, K: testK}},
		Columns: []catalog.ColumnPolicy{{Name: "floor", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}, {Name: "name", Role: catalog.Insensitive}},
	}
	protecting := b.publications(policy, b.config.Reader)
	one, _ := mayStand(mirroring[2], protecting[2], KeepAny)
	if other, _ := mayStand(protecting[2], mirroring[2], KeepAny); one || other {
		t.Error("a mirrored table's rows may stand in for a protected one's, or the other way")
	}
	b.config.Superseded = KeepAny
	s, _ := b.run()
	for _, tables := range [][]catalog.Publication{protecting, mirroring} {
		b.config.Tables = tables
		s.Reload(tables)
		if status := s.Status().Tables[publicTable("wards")]; status.State == Published {
			t.Errorf("the release before is shown: %+v", status)
		}
		b.calm(s)
		b.checkStore(s)
		if classes := s.Status().Tables[publicTable("wards")].Classes; classes > 0 != !tables[2].Policy.IsMirrored() {
			t.Errorf("mirrored: %v, and there are %d classes", tables[2].Policy.IsMirrored(), classes)
		}
	}
}

// TestVerifierFindsWhatIsNotMirrored has the release show other rows, or other values, than the store
// has: the verifier says so.
func TestVerifierFindsWhatIsNotMirrored(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	_, stop := b.run()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ shows, check string }{
		{"SELECT floor, name, note, mood, kept FROM kproxy_store.records_3 WHERE floor < 5", "every row of the private store is shown as it is"},
		{"SELECT floor + 1 AS floor, name, note, mood, kept FROM kproxy_store.records_3", "every row of the private store is shown as it is"},
		{"SELECT floor, name, note, mood, kept FROM kproxy_store.records_3, (SELECT FROM kproxy_store.records_5 LIMIT 1) r", "the published relation reads its release alone"},
		{"SELECT floor, name, note, mood, kept FROM kproxy_store.records_3", ""},
	} {
		if _, err := b.store().Exec(t.Context(), "CREATE OR REPLACE VIEW kproxy_store.release_3 AS "+test.shows); err != nil {
			t.Fatal(err)
		}
		report, err := verify.Run(t.Context(), connectTo(t, b.store().Config().ConnString()), b.config.Tables, verify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		failed := ""
		for _, check := range report[2].Checks {
			if !check.Passed {
				failed = check.Name
			}
		}
		if failed != test.check {
			t.Errorf("%s: the check that fails is %q", test.shows, failed)
		}
	}
}
