package sync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// binaries are those of a major version, or the test is skipped.
func binaries(t *testing.T, major string) string {
	t.Helper()
	t.Setenv(pgserver.BinDirVariable, "")
	t.Setenv(pgserver.MajorVariable, major)
	found, err := pgserver.Find(t.Context(), "")
	if errors.Is(err, pgserver.ErrNotFound) {
		t.Skipf("there is no PostgreSQL %s: %v", major, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.Dir
}

// searchedLog is a log that can be searched while it is written.
type searchedLog struct {
	mu   gosync.Mutex
	text bytes.Buffer
}

func (l *searchedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *searchedLog) has(words string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), words)
}

// beside is a ward whose store is elsewhere, and whose source is a standby. What the test does there, it does at the
// primary.
type beside struct {
	*bench
	primary, standby *pgserver.Server
	log              *searchedLog
}

// newBeside makes one, of servers of a major version. Settings are those of the standby.
func newBeside(t *testing.T, major string, settings map[string]string) *beside {
	t.Helper()
	other := pgtest.Shared(t) // before the version is chosen
	folder := binaries(t, major)
	primary := ownServer(t, pgserver.Options{BinDir: folder})
	setup := "SELECT setseed(0.3);"
	for _, table := range wardPolicy().Tables {
		name := table.Table.Relation
		setup += strings.ReplaceAll(visits, "%s", name) + "INSERT INTO " + name + " SELECT " + visit("i") + " FROM generate_series(1, 100) i;"
	}
	b := &bench{t: t, dsn: pgtest.Database(t, primary)}
	b.source, b.apart = b.connect(), connectTo(t, pgtest.Database(t, other))
	b.script(setup)
	b.script("CREATE ROLE reader_" + b.source.Config().Database) // for whom the bench looks there
	b.provide(primary, wardPolicy())
	options := pgserver.Options{BinDir: folder, Settings: settings}
	standby, err := primary.Standby(t.Context(), pgserver.StandbyOptions{Options: options, Slot: "standby"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	of := &beside{bench: b, primary: primary, standby: standby, log: &searchedLog{}}
	if standby.Version().Major >= 16 {
		b.script("GRANT EXECUTE ON FUNCTION pg_log_standby_snapshot() TO " + b.config.Source.User)
	}
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.config.Primary, b.config.Source = b.config.Source, b.config.Source.Copy()
	b.config.Source.Port = uint16(standby.Port()) //nolint:gosec // a port
	b.config.Heartbeat = 100 * time.Millisecond
	b.config.Logger = slog.New(slog.NewTextHandler(of.log, nil))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(of.log.text.String())
		}
	})
	return of
}

// promote has the standby take over, and the test work there from now on.
func (b *beside) promote() {
	b.t.Helper()
	if err := b.standby.CatchUp(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	if err := b.primary.Kill(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = b.primary.Restart(context.Background()) }) // for those who tidy up
	if err := b.standby.Promote(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	config, err := pgx.ParseConfig(b.dsn)
	if err != nil {
		b.t.Fatal(err)
	}
	b.dsn = b.standby.DSN(config.Database)
	b.source = b.connect()
}

// goesOn wants nothing to have been taken for lost, and no table to be published anew.
func (b *beside) goesOn(l *live, generation int) {
	b.t.Helper()
	b.alter()
	l.inStep()
	if b.log.has("changes may have been lost") {
		b.t.Error("changes were taken for lost")
	}
	if now := b.generationOf("ward"); now != generation {
		b.t.Errorf("generation %d is number %d now", generation, now)
	}
}

// onStandby reads one value at the standby.
func onStandby[T any](b *beside, sql string, arguments ...any) (value T) {
	b.t.Helper()
	conn, err := pgx.Connect(b.t.Context(), b.standby.DSN(b.config.Source.Database))
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(b.t.Context(), sql, arguments...).Scan(&value); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// TestSourceIsStandby has the slot, its decoding and the snapshots on a standby. It crashes; the primary is away;
// it is promoted under the stream, and kproxy started anew afterwards.
func TestSourceIsStandby(t *testing.T) {
	pgtest.Shared(t)
	for _, major := range []string{"16", "17", "18"} {
		t.Run(major, func(t *testing.T) {
			if testing.Short() && major == "17" {
				t.Skip("a version before and one after are tried")
			}
			b := newBeside(t, major, map[string]string{"hot_standby_feedback": "on"})
			l := b.start()
			l.inStep()
			generation := b.generationOf("ward")
			b.goesOn(l, generation)
			if n := scanned[int](b.bench, "SELECT count(*)::int FROM pg_replication_slots WHERE slot_type = 'logical'"); n != 0 {
				t.Errorf("the primary has %d logical slots", n)
			}
			if n := scanned[int](b.bench, "SELECT count(*)::int FROM pg_stat_replication WHERE usename = $1", b.config.Source.User); n != 0 {
				t.Errorf("the primary sends its log to %d sessions of kproxy", n)
			}
			if !onStandby[bool](b, "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active)", b.config.Slot) {
				t.Error("the standby has no slot that is in use")
			}

			// The standby crashes.
			if err := b.standby.Kill(); err != nil {
				t.Fatal(err)
			}
			b.alter()
			l.told(Reconnecting, "")
			if err := b.standby.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.goesOn(l, generation)

			// The primary crashes, and the standby is read on.
			if err := b.primary.Kill(); err != nil {
				t.Fatal(err)
			}
			if state := l.Status().State; state != Streaming {
				t.Errorf("the primary is away: %s", state)
			}
			if err := b.primary.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.source = b.connect()
			b.goesOn(l, generation)

			b.promote()
			b.goesOn(l, generation)
			l.eventually("the position is one of the new timeline", func() bool {
				var timeline int64
				err := b.apart.QueryRow(t.Context(), "SELECT timeline FROM kproxy_store.position").Scan(&timeline)
				if err != nil {
					t.Fatal(err)
				}
				return timeline == 2
			})
			b.goesOn(l, generation)
			l.stop()
			b.alter()
			b.goesOn(b.start(), generation)
		})
	}
}

// TestPromotedMeanwhile promotes the standby, and writes there, while no kproxy runs.
func TestPromotedMeanwhile(t *testing.T) {
	b := newBeside(t, "16", map[string]string{"hot_standby_feedback": "on"})
	l := b.start()
	l.inStep()
	generation := b.generationOf("ward")
	l.stop()
	b.alter()
	b.promote()
	b.alter()
	b.goesOn(b.start(), generation)
}

// TestSlotOfAnotherHistory ends kproxy after it has made its slot on a server that took over without the last changes, and before
// it has noted their loss: the slot is behind the position, and must not be read on from there.
func TestSlotOfAnotherHistory(t *testing.T) {
	b := newBeside(t, "16", nil)
	b.config.Source, b.config.Primary = b.config.Primary, nil
	l := b.start()
	l.inStep()
	if err := b.standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.standby.Kill(); err != nil {
		t.Fatal(err)
	}
	b.exec("SELECT count(pg_logical_emit_message(false, 'far', repeat('x', 100000))) FROM generate_series(1, 300)")
	b.alter() // is lost
	l.inStep()
	generation := b.generationOf("ward")
	l.stop()
	if err := b.primary.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.primary.Restart(context.Background()) }) // for those who tidy up
	if err := b.standby.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(b.dsn)
	if err != nil {
		t.Fatal(err)
	}
	b.dsn = b.standby.DSN(config.Database)
	b.source = b.connect()
	b.config.Source = b.config.Source.Copy()
	b.config.Source.Port = uint16(b.standby.Port()) //nolint:gosec // a port
	b.cancelPublicationAt(FailSlotCreated)
	b.alter()
	l = b.start()
	l.eventually("the guarded table waits for a word", func() bool { return l.Status().Tables[visitsTable].State == Halted })
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		t.Fatal(err)
	}
	l.inStep()
	b.alter()
	l.inStep()
	if now := b.generationOf("ward"); now != generation {
		t.Errorf("generation %d was compared, and is number %d now", generation, now)
	}
}

// TestSlotOfStandbyIsInvalidated removes rows of catalogs at the primary that decoding on the standby needs, and has
// it log less than that needs.
func TestSlotOfStandbyIsInvalidated(t *testing.T) {
	b := newBeside(t, "17", nil)
	l := b.start()
	l.inStep()
	generation := b.generationOf("ward")
	l.eventually("the slot is invalidated", func() bool {
		for _, sql := range []string{"CREATE TABLE passing (x int)", "DROP TABLE passing", "VACUUM pg_class", "VACUUM pg_attribute"} {
			b.exec(sql)
		}
		return b.log.has("the primary removed rows of catalogs") && b.log.has("hot_standby_feedback = on")
	})
	b.alter()
	l.inStep()

	// The primary logs too little for decoding, and enough again.
	for _, level := range []string{"replica", "logical"} {
		b.exec("ALTER SYSTEM SET wal_level = " + level)
		if err := b.primary.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.source = b.connect()
		if level == "replica" {
			l.told(Reconnecting, "wal_level")
		}
	}
	if !b.log.has("wal_level of the primary is no longer logical") {
		t.Error("the log does not say why the slot was invalidated")
	}
	b.alter()
	l.inStep()
	if now := b.generationOf("ward"); now != generation {
		t.Errorf("generation %d was compared, and is number %d now", generation, now)
	}
}

// TestStandbyIsRefused: a standby that is not meant to be the source, and one of a version that does not decode.
func TestStandbyIsRefused(t *testing.T) {
	b := newBeside(t, "15", nil)
	b.start().stopsWith("before PostgreSQL 16")
	b.config.Primary = nil
	b.start().told(Reconnecting, "a standby that was not promoted")
}

// TestAnotherHistory: a source that goes on on another timeline has all that the store shows, or wrote in its place what
// was never read.
func TestAnotherHistory(t *testing.T) {
	t.Parallel()
	ends := []timelineEnd{{1, 500}}
	for _, test := range []struct {
		history        []timelineEnd
		lsn, confirmed pglogrepl.LSN
		exists         bool
		loss, goesOn   bool
	}{
		{ends, 500, 400, true, false, true},
		{ends, 501, 400, true, true, false},
		{ends, 700, 501, true, false, true},
		{ends, 500, 400, false, true, false},
		{nil, 500, 400, true, true, false},
	} {
		s := store{slot: "slot", system: "this", timeline: 2, history: test.history, conn: &pgx.Conn{}, source: &pgx.Conn{}}
		l := s.assess(slotState{exists: test.exists, confirmed: test.confirmed}, storedPosition{lsn: test.lsn, system: "this", timeline: 1}, true, false)
		if (l != nil) != test.loss || l != nil && (!l.moved || l.continuous != test.goesOn) {
			t.Errorf("%+v: %+v", test, l)
		}
	}
}

// TestPastOfTimeline compares positions with a server's history.
func TestPastOfTimeline(t *testing.T) {
	t.Parallel()
	ends, err := parseHistory("1\t0/64\tno recovery target specified\n\n# a comment\n2\t0/C8\tbefore 2026-11-30\n")
	if err != nil || fmt.Sprint(ends) != "[{1 100} {2 200}]" {
		t.Fatalf("%v, %v", ends, err)
	}
	for _, wrong := range []string{"1", "one\t0/64", "1\tfar"} {
		if _, err := parseHistory(wrong); err == nil {
			t.Errorf("%q is a history", wrong)
		}
	}
	for _, test := range []struct {
		timeline       int64
		lsn, confirmed pglogrepl.LSN
		past           bool
	}{
		{1, 100, 100, true},  // read up to where the timeline was left
		{1, 101, 100, false}, // what was read there is not in this history
		{1, 101, 101, false}, // nor where the slot has come along
		{1, 250, 200, false}, // the slot was left where the last timeline began
		{1, 250, 201, true},  // a stream outlived both changes
		{2, 200, 0, true},
		{2, 201, 200, false},
		{2, 250, 201, true},
		{4, 10, 10, false},    // a timeline of another history
		{-1, 250, 201, false}, // leaveTimeline: the slot was made there
	} {
		if past := isPast(ends, storedPosition{timeline: test.timeline, lsn: test.lsn}, test.confirmed); past != test.past {
			t.Errorf("%+v: %t", test, past)
		}
	}
	if isPast(nil, storedPosition{timeline: 1}, 0) {
		t.Error("a history that is not known has it")
	}
}
