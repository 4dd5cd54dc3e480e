package sync

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// away ends the session that uses the slot and takes the slot before kproxy is back.
const away = `DO $$
BEGIN
	FOR i IN 1..2000 LOOP
		BEGIN
			PERFORM pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '%[1]s' AND active;
			PERFORM %[2]s;
			RETURN;
		EXCEPTION WHEN object_in_use THEN
			PERFORM pg_sleep(0.002);
		END;
	END LOOP;
	RAISE 'the slot stays in use';
END $$`

// TestSlotIsTakenWhileApplying loses the slot's place under a Syncer that applies, with
// changes on the way.
func TestSlotIsTakenWhileApplying(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]string{
		"dropped":  "pg_drop_replication_slot('%s')",
		"advanced": "pg_replication_slot_advance('%s', pg_current_wal_lsn())",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			l := b.start()
			l.inStep()
			ward, guarded := b.generationOf("ward"), b.generationOf("visits")
			before := b.shownRows("visits")
			for range 3 {
				b.alter()
			}
			b.script(fmt.Sprintf(away, b.config.Slot, fmt.Sprintf(take, b.config.Slot)))
			b.alter()
			l.told(Reconnecting, "")
			l.inStep()
			b.compareVersions("visits", ofSize.K, before, b.shownRows("visits"))
			if b.generationOf("ward") != ward || b.generationOf("visits") != guarded {
				t.Error("a table was published afresh")
			}
		})
	}
}

// TestSlotMovesBeforeTheStream moves the slot after it was looked at, and before the stream
// starts from it: what lies between is not left out.
func TestSlotMovesBeforeTheStream(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	l := b.start()
	l.inStep()
	l.stop()
	h := b.holdAt(FailBeforeStream)
	b.alter()
	l = b.start()
	b.awaitHeld(h)
	b.exec("SELECT pg_replication_slot_advance($1, pg_current_wal_lsn())", b.config.Slot)
	h.free()
	l.told(Reconnecting, "was moved to")
	l.inStep()
}

// TestSlotIsInvalidated writes more than max_slot_wal_keep_size while kproxy is down, and
// while it applies but cannot commit.
func TestSlotIsInvalidated(t *testing.T) {
	t.Parallel()
	server := ownServer(t, pgserver.Options{Settings: map[string]string{
		"max_slot_wal_keep_size": "1MB", "max_wal_size": "32MB", "min_wal_size": "32MB",
	}})
	b := newWard(t, server)
	b.script("CREATE TABLE other (x text)")
	outgrow := func() {
		t.Helper()
		for range 30 {
			b.script("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 4000); SELECT pg_switch_wal(); CHECKPOINT")
			if scanned[string](b, "SELECT wal_status FROM pg_replication_slots WHERE slot_name = $1", b.config.Slot) == "lost" {
				return
			}
		}
		t.Fatal("the slot was not invalidated")
	}
	l := b.start()
	l.inStep()
	generations := [2]int{b.generationOf("ward"), b.generationOf("visits")}
	l.stop()
	b.alter()
	b.ownerGone()
	outgrow()

	l = b.start()
	l.inStep()
	l.stop()

	h := b.holdAt(FailBeforeCommit)
	l = b.start()
	l.settled()
	b.alter()
	b.awaitHeld(h)
	outgrow()
	b.alter()
	h.free()
	l.inStep()
	if generations != [2]int{b.generationOf("ward"), b.generationOf("visits")} {
		t.Error("a table was published afresh")
	}
	l.stop()

	// The operator wants to be asked.
	b.alter()
	b.ownerGone()
	outgrow()
	b.config.Recovery = StopOnLoss
	l = b.start()
	l.stopsWith("max_slot_wal_keep_size")
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		t.Fatal(err)
	}
	b.start().inStep()
}

// TestSlotIsMadeBeforehand starts with a slot of the administrator's, with changes of
// the tables behind it and without.
func TestSlotIsMadeBeforehand(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]int{"idle": 0, "with changes": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			const sql = "SELECT pg_create_logical_replication_slot($1, 'pgoutput')"
			b.exec(sql, b.config.Slot)
			for range changes {
				b.alter()
			}
			l := b.start()
			l.inStep()
			b.alter()
			l.inStep()
		})
	}
}

// TestSlotOfSomethingElse finds the slot's name taken.
func TestSlotOfSomethingElse(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"plugin":   "SELECT pg_create_logical_replication_slot($1, 'test_decoding')",
		"database": "SELECT pg_create_logical_replication_slot($1, 'pgoutput')",
		"physical": "SELECT pg_create_physical_replication_slot($1)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			other := b.source
			if name == "database" {
				conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(t.Context())
				other = conn
			}
			_, err := other.Exec(t.Context(), sql, b.config.Slot)
			if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "58P01" {
				t.Skip("this server has no other plugin")
			}
			if err != nil {
				t.Fatal(err)
			}
			b.start().stopsWith("belongs to something else")
			if !scanned[bool](b, "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)", b.config.Slot) {
				t.Error("the other's slot is gone")
			}
			if _, err := other.Exec(t.Context(), "SELECT pg_drop_replication_slot($1)", b.config.Slot); err != nil {
				t.Fatal(err)
			}
			b.start().inStep()
		})
	}
}

// TestServerIsUsedUp leaves kproxy no slot for a snapshot, or no WAL sender; it says so
// and goes on once there is one.
func TestServerIsUsedUp(t *testing.T) {
	t.Parallel()
	server := ownServer(t, pgserver.Options{Settings: map[string]string{"max_replication_slots": "2", "max_wal_senders": "2"}})
	b := newWard(t, server)
	b.quiet()
	b.exec("SELECT pg_create_physical_replication_slot('standby')")
	l := b.start()
	l.eventually("it tells that replication slots are used up, and what to do", func() bool {
		status := l.Status()
		text := fmt.Sprintf("%s %s %+v", status.Reason, status.Fix, status.Tables)
		return strings.Contains(text, "max_replication_slots")
	})
	b.exec("SELECT pg_drop_replication_slot('standby')")
	l.inStep()
	l.stop()
	b.ownerGone()

	var standbys []*pgconn.PgConn
	for range 2 {
		config := b.source.Config().Config.Copy()
		config.RuntimeParams["replication"] = "true"
		conn, err := pgconn.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		standbys = append(standbys, conn)
	}
	l = b.start()
	if status := l.told(Reconnecting, "max_wal_senders"); !strings.Contains(status.Fix, "max_wal_senders") {
		t.Errorf("the fix does not name the setting: %s", status.Fix)
	}
	for _, conn := range standbys {
		_ = conn.Close(t.Context())
	}
	l.inStep()
}
