package sync

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestWhatLeavesTheSource reads what the source's server sends where the store is in another
// database: the columns of people that the policy does not name, or names as identifying, are not in
// it. The other table is identified by whole rows, of which PostgreSQL sends all.
func TestWhatLeavesTheSource(t *testing.T) {
	t.Parallel()
	b := newApartBench(t, pgtest.Shared(t), pgtest.Shared(t), sourceTables, testPolicy())
	var version int
	if err := b.source.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		t.Fatal(err)
	}
	b.fill(50)
	s, stop := b.run()
	b.exec("SELECT pg_create_logical_replication_slot('peek_' || current_database(), 'pgoutput')")
	r := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		b.change(r, 300)
	}
	b.exec("UPDATE people SET name = 'canary', age = 33")
	b.caughtUp(s)
	b.checkStore(s)
	rows, err := b.source.Query(t.Context(), `SELECT data FROM pg_logical_slot_peek_binary_changes('peek_' || current_database(), NULL, NULL,
		'proto_version', '1', 'publication_names', 'kproxy')`)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Join(messages, nil)
	if !bytes.Contains(all, []byte("asthma")) {
		t.Error("nothing of the changes was sent")
	}
	if listed := version >= 150000; bytes.Contains(all, []byte("canary")) == listed {
		t.Errorf("lists of columns are possible: %t, and names were sent: %t", listed, !listed)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.exec("SELECT pg_drop_replication_slot('peek_' || current_database())")
}

// TestAnotherListOfColumns changes what the publication sends of a table, to a list with the same
// columns and one more, to all columns, and to one that leaves a needed column out.
func TestAnotherListOfColumns(t *testing.T) {
	t.Parallel()
	b := newApartBench(t, pgtest.Shared(t), pgtest.Shared(t), sourceTables, testPolicy())
	if b.source.PgConn().ParameterStatus("server_version") < "15" {
		t.Skip("lists of columns came with PostgreSQL 15")
	}
	b.fill(50)
	s, _ := b.run()
	people := catalog.Name{Schema: "public", Relation: "people"}
	needed := "id, age, weight, born, seen, zip, job, mood, ward, tags, note, illness"
	for _, list := range []string{" (" + needed + ", name)", "", " (" + needed + ")"} {
		b.exec(`BEGIN; UPDATE people SET age = age + 1; ALTER PUBLICATION kproxy SET TABLE ONLY people`+list+`, ONLY "Odd ""Names"; UPDATE people SET age = age + 1; COMMIT`, pgx.QueryExecModeSimpleProtocol)
		b.exec("UPDATE people SET job = 'clerk' WHERE id < 20")
		await(t, "the table goes on", func() bool {
			return slices.Contains([]State{Streaming}, s.Status().State) && !s.Status().Tables[people].Preparing
		})
		b.caughtUp(s)
		await(t, "the table goes on", func() bool { return !s.Status().Tables[people].Preparing })
		b.caughtUp(s)
		b.checkStore(s)
	}
	b.exec(`ALTER PUBLICATION kproxy SET TABLE ONLY people (id, age), ONLY "Odd ""Names"`)
	await(t, "the table is halted", func() bool { return s.Status().Tables[people].State == Halted })
}

// TestRestoredReleases goes on with an older copy of the store's database: an immediate table is
// compared with its source, and a guarded one waits, since readers may have seen what the copy never had.
func TestRestoredReleases(t *testing.T) {
	t.Parallel()
	policy := testPolicy()
	policy.Tables[1].Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 2, Batch: 8, Within: time.Second}
	b := newApartBench(t, pgtest.Shared(t), pgtest.Shared(t), sourceTables, policy)
	b.fill(200)
	b.exec(`INSERT INTO "Odd ""Names" SELECT i, 'b' || i, i, 'flu' FROM generate_series(1, 40) i`)
	_, stop := b.run()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	// Nobody may be connected to a database that is copied.
	release, copied := b.config.Owner.Database, b.config.Owner.Database+"_copied"
	_ = b.apart.Close(t.Context())
	admin := connectTo(t, pgtest.Shared(t).DSN("postgres"))
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+copied+" TEMPLATE "+release); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = admin.Exec(context.Background(), "DROP DATABASE IF EXISTS "+copied+" WITH (FORCE)")
	})
	b.apart = connectTo(t, pgtest.Shared(t).DSN(release))
	s, stop := b.run()
	b.exec("UPDATE people SET age = age + 1 WHERE id % 2 = 0")
	b.exec("DELETE FROM people WHERE id % 7 = 0")
	b.exec("UPDATE people SET id = id + 1000 WHERE id % 11 = 0")
	b.exec(`DELETE FROM "Odd ""Names" WHERE a % 5 = 0`)
	b.exec(`INSERT INTO "Odd ""Names" SELECT i, 'b' || i, i, 'flu' FROM generate_series(41, 60) i`)
	b.caughtUp(s)
	await(t, "what is stored is acknowledged", func() bool {
		var at pglogrepl.LSN
		if err := b.source.QueryRow(t.Context(), "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = $1", b.config.Slot).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at >= s.Status().Position
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.config.Owner = b.config.Owner.Copy()
	b.config.Owner.Database, b.apart = copied, connectTo(t, pgtest.Shared(t).DSN(copied))
	odd := catalog.Name{Schema: "public", Relation: `Odd "Names`}
	s, _ = b.run()
	await(t, "the guarded table waits for the operator", func() bool { return s.Status().Tables[odd].State == Halted })
	if why := s.Status().Tables[odd].Problem; !strings.Contains(why, "restored backup") {
		t.Errorf("it is halted since %s", why)
	}
	b.caughtUp(s)
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{odd}); err != nil {
		t.Fatal(err)
	}
	await(t, "the guarded table goes on", func() bool {
		table := s.Status().Tables[odd]
		return table.State == Published && !table.Preparing
	})
	b.caughtUp(s)
	b.checkStore(s)
}

// TestStoreServersAreCompared: a store whose server went on on another timeline may lack what readers
// have seen, though the slot lacks nothing; one on another server was moved there.
func TestStoreServersAreCompared(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stored storeServer
		moved  bool
	}{
		{storeServer{"this", 2}, false},
		{storeServer{"this", 1}, true},
		{storeServer{"this", 3}, true},
		{storeServer{"other", 1}, false},
		{storeServer{}, false}, // by an earlier version, or from one database
	} {
		s := &store{slot: "slot", system: "source", timeline: 1, home: storeServer{"this", 2}}
		l := s.assess(slotState{exists: true, confirmed: 500}, storedPosition{lsn: 500, system: "source", timeline: 1, home: test.stored}, true, false)
		if (l != nil) != test.moved || l != nil && (!l.moved || !l.continuous || l.drop) {
			t.Errorf("%+v: %+v", test.stored, l)
		}
	}
}

// TestKeysAreCompared orders rows as the servers do: by the bytes of their keys in hexadecimal digits,
// then by the numbers of equal ones, those that are not there last.
func TestKeysAreCompared(t *testing.T) {
	t.Parallel()
	row := func(key, number string) []value { return []value{{text: key}, {text: number}, {text: "rest"}} }
	ordered := [][]value{row(`\x28`, "1"), row(`\x2831`, "1"), row(`\x2831`, "2"), row(`\x2831`, "10"), row(`\x2839`, "1"), row(`\x28c3a4`, "1"), nil}
	for i, source := range ordered {
		for j, stored := range ordered {
			if source == nil && stored == nil {
				continue
			}
			if got := compareKeys(source, stored); cmp.Compare(got, 0) != cmp.Compare(i, j) {
				t.Errorf("%v and %v: %d", source, stored, got)
			}
		}
	}
}
