package pgserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// identity is the system identifier and the timeline of a server.
func identity(t *testing.T, s *Server) (system, timeline string) {
	t.Helper()
	return query(t, s, "SELECT system_identifier::text FROM pg_control_system()"),
		query(t, s, "SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)")
}

// stopAtEnd stops a server that did not come from start.
func stopAtEnd(t *testing.T, s *Server, err error) *Server {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStandbyFollowsAndIsPromoted(t *testing.T) {
	t.Parallel()
	primary := start(t, Options{Superuser: "chief", Password: `a 'quoted' \ word`})
	execute(t, primary, "CREATE TABLE t AS SELECT 1 AS n")
	execute(t, primary, "SELECT pg_create_logical_replication_slot('logical', 'pgoutput')")
	s, err := primary.Standby(t.Context(), StandbyOptions{Slot: "standby"})
	standby := stopAtEnd(t, s, err)

	execute(t, primary, "INSERT INTO t VALUES (2)")
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, standby, "SELECT count(*)::text || pg_is_in_recovery() FROM t"); got != "2true" {
		t.Errorf("rows and recovery of the standby: %s", got)
	}
	if got := query(t, primary, "SELECT active::text FROM pg_replication_slots WHERE slot_name = 'standby'"); got != "true" {
		t.Errorf("the standby's slot is active: %s", got)
	}
	if got := query(t, standby, "SELECT count(*)::text FROM pg_replication_slots"); got != "0" {
		t.Errorf("the standby has %s slots", got)
	}
	backup, err := standby.Backup(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	system, timeline := identity(t, primary)
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, standby, "INSERT INTO t VALUES (3)")
	newSystem, newTimeline := identity(t, standby)
	if newSystem != system || newTimeline <= timeline {
		t.Errorf("system %s on timeline %s became %s on %s", system, timeline, newSystem, newTimeline)
	}
	restored := start(t, Options{Backup: backup})
	if got := query(t, restored, "SELECT count(*)::text || pg_is_in_recovery() FROM t"); got != "2false" {
		t.Errorf("rows and recovery of a server that began as a standby's backup: %s", got)
	}
	if err := standby.Promote(t.Context()); err == nil {
		t.Error("a primary was promoted")
	}
	if err := primary.CatchUp(t.Context()); err == nil {
		t.Error("a primary caught up")
	}
}

func TestStandbyKeepsCopiesOfSlots(t *testing.T) {
	t.Parallel()
	primary := start(t, Options{})
	options := StandbyOptions{Slot: "standby", SyncSlots: true}
	if primary.Version().Major < syncSlotsSince {
		if _, err := primary.Standby(t.Context(), options); err == nil {
			t.Errorf("PostgreSQL %s copied slots", primary.Version())
		}
		return
	}
	s, err := primary.Standby(t.Context(), options)
	standby := stopAtEnd(t, s, err)
	execute(t, primary, "CREATE TABLE t (n int)")
	execute(t, primary, "CREATE PUBLICATION p FOR TABLE t")
	execute(t, primary, "SELECT pg_create_logical_replication_slot('copied', 'pgoutput', failover => true)")
	execute(t, primary, "SELECT pg_create_logical_replication_slot('left', 'pgoutput')")
	eventually(t, "the slot is copied", func() bool {
		// The copy lasts once the slot has moved beyond what the standby kept.
		execute(t, primary, "SELECT pg_log_standby_snapshot()")
		execute(t, primary, "SELECT pg_replication_slot_advance('copied', pg_current_wal_insert_lsn())")
		return query(t, standby, "SELECT count(*)::text FROM pg_replication_slots WHERE synced AND NOT temporary") == "1"
	})
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, standby, "SELECT string_agg(slot_name, ' ') FROM pg_replication_slots"); got != "copied" {
		t.Errorf("slots after the failover: %s", got)
	}
	execute(t, standby, "INSERT INTO t VALUES (1)")
	const changes = "SELECT count(*)::text FROM pg_logical_slot_peek_binary_changes('copied', NULL, NULL, 'proto_version', '1', 'publication_names', 'p')"
	if got := query(t, standby, changes); got == "0" {
		t.Error("the copied slot has no changes")
	}
}

func TestStandbyNeedsASlotToCopySlots(t *testing.T) {
	t.Parallel()
	s := &Server{binaries: Binaries{Version: Version{Major: syncSlotsSince}}}
	if _, err := s.Standby(t.Context(), StandbyOptions{SyncSlots: true}); err == nil {
		t.Error("slots are copied without one of the standby's own")
	}
}

func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	original := start(t, Options{Settings: map[string]string{"work_mem": "5MB"}})
	execute(t, original, "CREATE TABLE t AS SELECT 1 AS n")
	execute(t, original, "SELECT pg_create_logical_replication_slot('logical', 'pgoutput')")
	open, err := pgx.Connect(t.Context(), original.DSN("postgres")) // a transaction that never commits in the copy
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close(t.Context())
	if _, err := open.Exec(t.Context(), "BEGIN; INSERT INTO t VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	backup, err := original.Backup(t.Context(), filepath.Join(t.TempDir(), "backup"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Exec(t.Context(), "COMMIT"); err != nil {
		t.Errorf("a session did not survive the backup: %v", err)
	}
	system, timeline := identity(t, original)
	for _, c := range []struct {
		name         string
		sameTimeline bool
		slots        string
	}{
		{"restored", false, "0"},
		{"put back", true, "1"},
	} {
		restored := start(t, Options{Backup: backup, SameTimeline: c.sameTimeline, Settings: map[string]string{"random_page_cost": "2"}})
		if got := query(t, restored, "SELECT count(*)::text || current_setting('work_mem') || current_setting('random_page_cost') FROM t"); got != "15MB2" {
			t.Errorf("%s: rows and settings: %s", c.name, got)
		}
		newSystem, newTimeline := identity(t, restored)
		if newSystem != system || (newTimeline == timeline) != c.sameTimeline {
			t.Errorf("%s: system %s on timeline %s became %s on %s", c.name, system, timeline, newSystem, newTimeline)
		}
		if got := query(t, restored, "SELECT count(*)::text FROM pg_replication_slots"); got != c.slots {
			t.Errorf("%s: %s slots, want %s", c.name, got, c.slots)
		}
		execute(t, restored, "INSERT INTO t VALUES (3)")
		if err := restored.Restart(t.Context()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if got := query(t, original, "SELECT count(*)::text FROM t"); got != "2" {
		t.Errorf("the original has %s rows", got)
	}
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	dir := t.TempDir()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	backup, err := s.Backup(t.Context(), dir)
	if err != nil {
		t.Fatalf("a killed server: %v", err)
	}
	if _, err := s.Backup(t.Context(), dir); err == nil {
		t.Error("a backup into a folder with content")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{Backup: backup, DataDir: s.DataDir()}); err == nil || !strings.Contains(err.Error(), "there is a cluster") {
		t.Errorf("a backup over a cluster: %v", err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(s.DataDir(), tablespaces, "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "tablespaces") {
		t.Errorf("a backup of a cluster with tablespaces: %v", err)
	}
	query(t, s, "SELECT 'the server goes on after a refusal'")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), t.TempDir()); err == nil {
		t.Error("a backup of a server that was stopped for good")
	}
}

func TestConninfo(t *testing.T) {
	t.Parallel()
	if got, want := conninfo([2]string{"a", "b"}, [2]string{"c", `d' \`}), `a='b' c='d\' \\'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestStandbyMadeUnderLoad makes a standby while sessions write two tables
// alike, and fails over to it. Checkpoints would ruin a copy that is not of one
// moment.
func TestStandbyMadeUnderLoad(t *testing.T) {
	t.Parallel()
	primary := start(t, Options{})
	execute(t, primary, "CREATE TABLE a (n int PRIMARY KEY)")
	execute(t, primary, "CREATE TABLE b (n int PRIMARY KEY)")
	var acknowledged atomic.Int64
	var writers sync.WaitGroup
	writers.Go(func() {
		_ = primary.session(context.Background(), func(conn *pgx.Conn) (err error) {
			for err == nil {
				_, err = conn.Exec(context.Background(), "CHECKPOINT")
			}
			return err
		})
	})
	for w := range 4 {
		writers.Go(func() {
			_ = primary.session(context.Background(), func(conn *pgx.Conn) error {
				for n := w; ; n += 4 { // until the primary is killed
					sql := fmt.Sprintf("BEGIN; INSERT INTO a VALUES (%d); INSERT INTO b VALUES (%d); COMMIT", n, n)
					if _, err := conn.Exec(context.Background(), sql); err != nil {
						return err
					}
					acknowledged.Add(1)
				}
			})
		})
	}
	eventually(t, "the load runs", func() bool { return acknowledged.Load() > 100 })
	s, err := primary.Standby(t.Context(), StandbyOptions{})
	standby := stopAtEnd(t, s, err)
	least := acknowledged.Load()
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	writers.Wait()
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows, partnerless int64
	err = standby.session(t.Context(), func(conn *pgx.Conn) error {
		return conn.QueryRow(t.Context(), "SELECT count(*), count(*) FILTER (WHERE a.n IS NULL OR b.n IS NULL) FROM a FULL JOIN b USING (n)").Scan(&rows, &partnerless)
	})
	if err != nil || partnerless > 0 || rows < least {
		t.Errorf("%d rows of at least %d, %d without a partner (%v)", rows, least, partnerless, err)
	}
}
