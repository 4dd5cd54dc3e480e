package status

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/answers"
	ksync "github.com/kproxy/kproxy/sync"
)

var storedPolicy = catalog.Policy{Tables: []catalog.TablePolicy{
	{Table: catalog.Name{Schema: "public", Relation: "stays"}, Updates: catalog.Updates{Mode: catalog.Guarded}},
	{Table: catalog.Name{Schema: "public", Relation: "trips"}},
	{Table: catalog.Name{Schema: "public", Relation: "later"}, Updates: catalog.Updates{Mode: catalog.Guarded}},
}}

// storedStore is what two published tables leave in the private store: a guarded one,
// and an immediate one with two parts.
const storedStore = `
INSERT INTO kproxy_store.position (slot, epoch, lsn, system_identifier, updated_at) VALUES ('status_test', 1, '0/1', '', now() - interval '90 seconds');
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record, updates, waiting, oldest_waiting, stale, oldest_stale, ghosts, untold, expired, lsn, halted, halted_fix, asked) VALUES
  ('public', 'stays', 7, '', 1, 1, 'guarded', 2, now() - interval '3 hours', 1, now() - interval '2 days', 3, 2, 1, '0/1', NULL, NULL, 'resync'),
  ('public', 'trips', 8, '', 1, 1, NULL, 0, NULL, 0, NULL, 0, 0, 0, '0/2', 'a column is gone', 'bring it back', NULL);
CREATE TABLE kproxy_store.records_7 AS SELECT n AS kproxy_record, CASE WHEN n <= 10 THEN n / 6 + 1 END AS kproxy_class, CASE WHEN n <= 10 THEN n END AS kproxy_row FROM generate_series(1, 13) n;
CREATE TABLE kproxy_store.release_7 AS SELECT n / 7 + 1 AS kproxy_class, 'a'::text AS kproxy_class_note FROM generate_series(1, 13) n;
CREATE TABLE kproxy_store.records_8 AS SELECT n AS kproxy_record, n AS kproxy_class, n / 2 AS kproxy_class_2 FROM generate_series(1, 9) n;
CREATE TABLE kproxy_store.release_8 AS SELECT kproxy_class, kproxy_class_2 FROM kproxy_store.records_8`

func TestStoredIsReadFromTheDatabase(t *testing.T) {
	t.Parallel()
	settings, err := pgx.ParseConfig(pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	connect := func() *pgx.Conn {
		t.Helper()
		conn, err := pgx.ConnectConfig(t.Context(), settings)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	conn := connect()
	execute := func(sql string) {
		t.Helper()
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	refused := func(slot, words string) {
		t.Helper()
		if _, err := readStored(t.Context(), upstream.Databases{Owner: conn, Source: conn}, slot, storedPolicy, "kproxy_reader", countAll); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want an error with %q", err, words)
		}
	}
	refused("status_test", "run 'kproxy setup', and then")
	execute("CREATE TABLE stays (id int PRIMARY KEY); CREATE TABLE trips (id int PRIMARY KEY); CREATE TABLE later (id int PRIMARY KEY)")
	owner := provision.Login{Name: settings.Database + "_owner", Password: "owner"}
	in := provision.Input{Policy: storedPolicy, Owner: owner, Reader: provision.Login{Name: settings.Database + "_reader"}}
	if err := provision.Apply(t.Context(), conn, in); err != nil {
		t.Fatal(err)
	}
	settings.User, settings.Password = owner.Name, owner.Password
	conn = connect() // which need not be a superuser for the rest
	refused("status_test", "start 'kproxy serve'")
	execute(storedStore)
	refused("another", `fed by replication slot "status_test"`)

	s, err := readStored(t.Context(), upstream.Databases{Owner: conn, Source: conn}, "status_test", storedPolicy, "kproxy_reader", countAll)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Replication; r.Exists || r.Active || r.Applier != nil || r.Processes != 0 || r.Position != "0/1" || r.Behind < 1 || s.At.Sub(r.Since) < 90*time.Second {
		t.Errorf("replication is %+v", r)
	}
	compareTables(t, s)

	nothingIsKept(t, conn)
	compareKept(t, conn, execute)
	compareRepublished(t, settings.Copy(), execute)
	execute("SELECT pg_create_logical_replication_slot('status_test', 'pgoutput')")
	t.Cleanup(func() {
		_, _ = conn.Exec(context.Background(), "SELECT pg_drop_replication_slot('status_test')")
	})
	if s, err = readStored(t.Context(), upstream.Databases{Owner: conn, Source: conn}, "status_test", storedPolicy, "kproxy_reader", countAll); err != nil {
		t.Fatal(err)
	}
	if r := s.Replication; !r.Exists || r.Active || r.Confirmed == "" || r.Retained < 0 {
		t.Errorf("replication is %+v", r)
	}
	execute("DELETE FROM kproxy_store.release_7")
	if s, err = readStored(t.Context(), upstream.Databases{Owner: conn, Source: conn}, "status_test", storedPolicy, "kproxy_reader", countAll); err != nil || s.Tables[0].Withheld != 13 {
		t.Errorf("where nothing is published, %+v, %v", s.Tables[0], err)
	}
	execute("DROP TABLE kproxy_store.release_7")
	refused("status_test", "public.stays: it is being published afresh")
	execute("ALTER TABLE kproxy_store.generation DROP waiting")
	refused("status_test", "made by an earlier version")
}

// compareTables compares the tables with those of storedStore.
func compareTables(t *testing.T, s Status) {
	t.Helper()
	waits, stale := s.At.Add(-3*time.Hour), s.At.Add(-48*time.Hour)
	want := []Table{
		{
			Table: state.Table{
				Name: "public.stays", State: "published", Asked: "resync", Position: "0/1", Updates: "guarded",
				Figures: &state.Figures{Generation: 7, Records: 13, Rows: 13, Classes: 2, Withheld: 3, Waiting: 2, Stale: 1, Ghosts: 3, Untold: 2, Expired: 1},
			},
			Shown: 7,
		},
		{
			Table: state.Table{
				Name: "public.trips", State: "halted", Problem: "a column is gone", Fix: "bring it back", Position: "0/2",
				Updates: "immediate", Figures: &state.Figures{Generation: 8, Records: 9, Rows: 9, Classes: 9 + 5},
			},
			Shown: 8,
		},
		{Table: state.Table{Name: "public.later", State: "unpublished", Updates: "guarded", Figures: &state.Figures{}}},
	}
	for i, got := range s.Tables {
		if i == 0 && (got.OldestWaiting.After(waits) || got.OldestStale.After(stale)) {
			t.Errorf("the oldest wait since %v and %v", got.OldestWaiting, got.OldestStale)
		}
		got.OldestWaiting, got.OldestStale, got.created = nil, nil, time.Time{}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("got %+v %+v, want %+v %+v", got, got.Figures, want[i], want[i].Figures)
		}
	}
}

// compareKept: figures that are kept of the release that readers see take the place of counting, and others do
// not.
func compareKept(t *testing.T, conn *pgx.Conn, execute func(string)) {
	t.Helper()
	execute("CREATE TABLE kproxy_store.figures (table_schema text, table_name text, figures jsonb)")
	defer execute("DROP TABLE kproxy_store.figures")
	for set, rows := range map[string]int64{
		`'{"Generation": 7, "At": "3000-01-01T00:00:00Z", "Rows": 99, "Records": 98, "Classes": 7, "Withheld": 5}'`: 99,
		`'{"Generation": 6, "At": "3000-01-01T00:00:00Z", "Rows": 99}'`:                                             0,
		`'{"Generation": 7, "At": "2000-01-01T00:00:00Z", "Rows": 99}'`:                                             0,
	} {
		execute("TRUNCATE kproxy_store.figures; INSERT INTO kproxy_store.figures VALUES ('public', 'stays', " + set + ")")
		s, err := readStored(t.Context(), upstream.Databases{Owner: conn, Source: conn}, "status_test", storedPolicy, "kproxy_reader", countNone)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Tables[0]; got.Rows != rows || (got.Kept != nil) != (rows > 0) || rows > 0 && (got.Records != 98 || got.Classes != 7 || got.Withheld != 5) || got.Waiting != 2 {
			t.Errorf("%s: %+v, %+v", set, got, got.Figures)
		}
	}
}

// nothingIsKept: where nobody has proved or measured anything, there is not even a place for it.
func nothingIsKept(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	if proofs, err := history.LastProofs(t.Context(), conn); err != nil || len(proofs) != 0 {
		t.Errorf("proofs are %v, %v", proofs, err)
	}
	if history, err := history.LossHistory(t.Context(), conn, storedPolicy.Tables[0].Table); err != nil || len(history) != 0 {
		t.Errorf("losses are %v, %v", history, err)
	}
}

func storedExample() Status {
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	waits, stale := at.Add(-12*time.Minute-5*time.Second), at.Add(-(3*24+2)*time.Hour)
	safe := int64(1 << 30)
	return Status{
		At: at,
		Replication: state.Replication{
			Slot: "kproxy", Position: "0/1A2B3C", Since: at.Add(-time.Second), Behind: 1536, Exists: true, Active: true, Confirmed: "0/1A2B00", Retained: 3 << 20,
			WALStatus: "reserved", Safe: &safe, Applier: &state.Applier{PID: 7, Address: "10.0.0.7", Since: at.Add(-time.Hour)}, Processes: 2,
		},
		Tables: []Table{
			{Table: state.Table{
				Name: "public.patients", State: "published", Asked: "rebuild", Updates: "guarded",
				Figures: &state.Figures{
					Generation: 3, Records: 1000, Rows: 995, Classes: 61, Withheld: 9,
					Waiting: 7, OldestWaiting: &waits, Stale: 1, OldestStale: &stale, Ghosts: 4, Untold: 3, Returned: 5, Expired: 2,
				},
				Proof: &state.Proof{At: at.Add(-time.Hour), Passed: true, Generation: 3},
			}},
			{Table: state.Table{
				Name: "public.visits", State: "halted", Problem: "a column is gone", Fix: "bring it back", Updates: "immediate", GivesAway: "whoever polls learns",
				Figures: &state.Figures{Generation: 3, Records: 20, Rows: 20, Classes: 4},
			}},
			{Table: state.Table{Name: "public.later", State: "unpublished", Updates: "guarded", Figures: &state.Figures{}}},
		},
		Clients: []processes.Clients{{Counts: proxy.Counts{Connections: 9, Sessions: 7}}, {Counts: proxy.Counts{Connections: 1, Sessions: 1}, Answers: answers.Stats{Answers: 3, Bytes: 4096, Limit: 64 << 20, Hits: 40, Misses: 10}}},
		Needs:   []state.Need{},
	}
}

func TestStoredAsText(t *testing.T) {
	t.Parallel()
	s := storedExample()
	s.Needs = s.needs(config.Replication{Alarm: config.Alarm{Retained: 2 << 20}})
	const want = `replication slot kproxy is read by a kproxy at 10.0.0.7, connected for 1h00m
shown is the source at 0/1A2B3C, reached 1s ago, 1.5 KiB of write-ahead log behind the server
confirmed is 0/1A2B00; the server keeps 3.0 MiB of its log for the slot (reserved, 1.0 GiB until it is in danger)
kproxy serves in 2 processes: 8 sessions, 10 connections
it keeps 3 answers to questions (4.0 KiB of 64.0 MiB), which have answered 40 of 50

TABLE            STATE               UPDATES    GENERATION  RECORDS  ROWS  CLASSES  WITHHELD  WAITING        STALE         GHOSTS  UNTOLD  RETURNED  EXPIRED  PROOF
public.patients  published, rebuild  guarded    3           1000     995   61       9         7, for 12m05s  1, for 3d02h  4       3       5         2        holds, 1h00m ago
public.visits    halted              immediate  3           20       20    4        0         0              0             0       0       0         0        none
public.later     unpublished         guarded

immediate updates of public.visits: whoever polls learns (docs/attack.md)

2 records of public.patients are withheld for good: they waited until the deadline, or violated the constraints with all others of their batch;
those withheld are never tried again, changed or together with others, unless you run 'kproxy rebuild public.patients --new-lineage' (docs/concepts.md)

needs you: the server keeps 3.0 MiB of its log for replication slot kproxy
    fix: ` + FixBehind + `
needs you: table public.visits is halted: a column is gone
    fix: bring it back
`
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil || text.String() != want {
		t.Errorf("%v\n got:\n%s\nwant:\n%s", err, text.String(), want)
	}
}

// TestNeeds names what waits for the operator, and what does not.
func TestNeeds(t *testing.T) {
	t.Parallel()
	well := storedExample()
	well.Tables = nil
	for name, c := range map[string]struct {
		change func(*state.Replication)
		want   string
	}{
		"nothing":        {func(*state.Replication) {}, ""},
		"slot gone":      {func(r *state.Replication) { r.Exists = false }, "is gone"},
		"slot lost":      {func(r *state.Replication) { r.WALStatus = "lost" }, "has lost the log"},
		"slot in danger": {func(r *state.Replication) { r.WALStatus = "unreserved" }, "may lose the log"},
		"log kept":       {func(r *state.Replication) { r.Retained = 5 << 20 }, "keeps 5.0 MiB"},
		"nobody applies": {func(r *state.Replication) { r.Applier = nil }, "no kproxy applies"},
	} {
		s := well
		c.change(&s.Replication)
		needs := s.needs(config.Replication{Alarm: config.Alarm{Retained: 4 << 20}})
		if c.want == "" && len(needs) == 0 {
			continue
		}
		if len(needs) != 1 || !strings.Contains(needs[0].What, c.want) || needs[0].Fix == "" {
			t.Errorf("%s: %v", name, needs)
		}
	}
	alone := well
	alone.Replication.Applier, alone.Replication.Processes = nil, 1
	for _, c := range []struct {
		holder    *ksync.Holder
		clients   []processes.Clients
		what, fix string
	}{
		{nil, nil, "no kproxy applies changes, though one runs", "see its log"},
		{&ksync.Holder{PID: 7, User: "ann", Application: "psql"}, nil, `server process 7 of user "ann", application "psql"`, "SELECT pg_terminate_backend(7)"},
		{nil, []processes.Clients{{Problem: "the disk is full", Fix: "make room"}}, "says: the disk is full", "make room"},
		{&ksync.Holder{PID: 7, Applies: true}, []processes.Clients{{Problem: "the disk is full", Fix: "make room"}}, "says: the disk is full", "make room"},
	} {
		alone.holder, alone.Clients = c.holder, c.clients
		if needs := alone.needs(config.Replication{}); len(needs) != 1 || !strings.Contains(needs[0].What, c.what) || !strings.Contains(needs[0].Fix, c.fix) {
			t.Errorf("nobody applies, %+v: %v", c, needs)
		}
	}
	if needs := well.needs(config.Replication{}); len(needs) != 0 {
		t.Errorf("without an alarm: %v", needs)
	}
}

func TestStoredAsJSON(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := storedExample().WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Replication struct {
			Behind int64 `json:"behind_bytes"`
		}
		Tables []map[string]any
	}
	if err := json.Unmarshal(text.Bytes(), &decoded); err != nil || decoded.Replication.Behind != 1536 || len(decoded.Tables) != 3 {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if first := decoded.Tables[0]; first["oldest_waiting"] != "2024-05-01T11:47:55Z" || first["ghosts"] != 4.0 || decoded.Tables[1]["oldest_stale"] != nil {
		t.Errorf("%s", text.String())
	}
}
