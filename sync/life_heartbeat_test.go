package sync

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestIdleTableLetsGo writes heavily to other tables of the database, and to another
// database, while the protected tables are idle: the slot moves on all the same.
func TestIdleTableLetsGo(t *testing.T) {
	t.Parallel()
	server := ownServer(t, pgserver.Options{})
	b := newWard(t, server)
	b.config.Heartbeat = 100 * time.Millisecond
	l := b.start()
	l.inStep()
	other, err := pgx.Connect(t.Context(), pgtest.Database(t, server))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	for name, conn := range map[string]*pgx.Conn{"another table": b.source, "another database": other} {
		if _, err := conn.Exec(t.Context(), "CREATE TABLE heavy (x text)"); err != nil {
			t.Fatal(err)
		}
		for range 12 { // 48 MB of rows
			if _, err := conn.Exec(t.Context(), "INSERT INTO heavy SELECT repeat('x', 1000) FROM generate_series(1, 4000)"); err != nil {
				t.Fatal(err)
			}
		}
		written := scanned[string](b, "SELECT pg_current_wal_lsn()::text")
		l.eventually("the slot moves over what was written to "+name, func() bool {
			b.script("CHECKPOINT") // which also logs the running transactions, from which a slot can restart
			return scanned[bool](b, "SELECT confirmed_flush_lsn >= $2::text::pg_lsn AND restart_lsn >= $2::text::pg_lsn FROM pg_replication_slots WHERE slot_name = $1",
				b.config.Slot, written)
		})
		l.eventually("the status tells of little WAL", func() bool { return l.Status().Slot.Retained < 16<<20 && l.Status().Slot.WALStatus == "reserved" })
	}
	b.alter()
	l.inStep()
}

// TestAcknowledgedIsStored looks all the time whether what the server may forget is in
// the store, during publications, rewinds, comparisons, restarts and cut connections.
func TestAcknowledgedIsStored(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	alter := func() {
		b.alter()
		b.exec("UPDATE third SET age = (age + 1) % 80")
	}
	looking, stopLooking := context.WithCancel(t.Context())
	ended := make(chan struct{})
	defer func() { // before the connection is closed
		stopLooking()
		<-ended
	}()
	looks := 0
	go func(conn *pgx.Conn) {
		defer close(ended)
		for looking.Err() == nil {
			// The slot first: the position may move on meanwhile, and it never moves back behind
			// what was acknowledged.
			var confirmed *string
			err := conn.QueryRow(t.Context(), "SELECT max(confirmed_flush_lsn)::text FROM pg_replication_slots WHERE slot_name = $1", b.config.Slot).Scan(&confirmed)
			if err != nil || confirmed == nil {
				time.Sleep(time.Millisecond)
				continue
			}
			var ahead bool
			var position *string
			err = conn.QueryRow(t.Context(), "SELECT coalesce(max(lsn) < $2::text::pg_lsn, false), max(lsn)::text FROM kproxy_store.position WHERE slot = $1", b.config.Slot, confirmed).
				Scan(&ahead, &position)
			if err == nil && ahead {
				t.Errorf("%s is acknowledged, and the store is at %s", *confirmed, *position)
				return
			}
			if position != nil {
				looks++
			}
		}
	}(b.connect())

	l := b.start()
	l.inStep()
	for range 3 {
		alter()
		l.Reload(all[:2])
		b.config.Tables = all
		l.Reload(all) // the third joins, and the stream goes back to where it does
		for range 5 {
			alter()
		}
		l.inStep()
		if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
			t.Fatal(err)
		}
		alter()
		b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", b.config.Owner.User)
		b.alter()
		l.inStep()
		l.stop()
		b.alter()
		b.config.Tables = all[:2]
		l = b.start()
		l.inStep()
	}
	l.stop()
	time.Sleep(statusInterval) // what is on its way
	stopLooking()
	<-ended
	if looks < 100 && !t.Failed() {
		t.Errorf("only %d looks", looks)
	}
}
