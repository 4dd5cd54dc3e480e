package sync

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestEpochRises has every process that begins to apply raise the epoch, so that none which
// applied before it can write: neither the one that is stopped, nor one that only believes it
// applies.
func TestEpochRises(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(40)
	epoch := func() int64 {
		return scanned[int64](b, "SELECT epoch FROM kproxy_store.position")
	}
	last := int64(0)
	for range 3 {
		s, stop := b.run()
		b.caughtUp(s)
		now := epoch()
		if applied, is := s.Applied(); now <= last || !is || applied.Epoch != now {
			t.Errorf("the epoch is %d, and was %d; the process applies in %+v, %t", now, last, applied, is)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		// One that applied before, at the very position of the store.
		ses := &session{syncer: s, store: store{slot: s.config.Slot, epoch: last}}
		conn, err := pgx.ConnectConfig(t.Context(), b.config.Owner)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		ses.store.conn, ses.store.source = conn, conn
		stored, known, err := ses.store.storedPosition(t.Context())
		if err != nil || !known || stored.epoch != now {
			t.Fatalf("the store is in epoch %d, known %t: %v", stored.epoch, known, err)
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := ses.store.movePosition(t.Context(), tx, stored.lsn, stored.lsn+1); !errors.Is(err, errFenced) {
			t.Errorf("a process of epoch %d moves the position of epoch %d: %v", last, now, err)
		}
		if err := ses.store.takeOver(t.Context()); !errors.Is(err, errFenced) {
			t.Errorf("a process of epoch %d takes over from epoch %d: %v", last, now, err)
		}
		ses.store.epoch = now
		if err := ses.store.movePosition(t.Context(), tx, stored.lsn+1, stored.lsn+2); !errors.Is(err, errFenced) {
			t.Errorf("a position is moved from where it is not: %v", err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if epoch() != now {
			t.Errorf("the epoch is %d, not %d", epoch(), now)
		}
		last = now
	}
}
