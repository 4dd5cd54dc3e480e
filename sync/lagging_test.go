package sync

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgproto3"
)

// sentAt are data of the stream that the server has sent at a time, in microseconds since its epoch.
func sentAt(micros uint64, data []byte) *pgproto3.CopyData {
	text := append([]byte{pglogrepl.XLogDataByteID}, make([]byte, 16)...)
	return &pgproto3.CopyData{Data: append(binary.BigEndian.AppendUint64(text, micros), data...)}
}

// TestLagIsTold sends transactions some time after their commits: the message that begins one tells how long
// that was, whatever our clock says, and no other message does.
func TestLagIsTold(t *testing.T) {
	t.Parallel()
	const sent = 850_000_000_000_000
	begin := func(committed uint64) []byte {
		text := binary.BigEndian.AppendUint64([]byte("B"), 900)
		return append(binary.BigEndian.AppendUint64(text, committed), 0, 0, 0, 7)
	}
	for name, test := range map[string]struct {
		data []byte
		want time.Duration
	}{
		"at once":       {begin(sent), 0},
		"later":         {begin(sent - 3_000_001), 3*time.Second + time.Microsecond},
		"clocks differ": {begin(sent + 5), -5 * time.Microsecond},
		"short":         {begin(sent - 3_000_000)[:16], 0},
		"another one":   {append([]byte("C"), begin(sent - 3_000_000)[1:]...), 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHeardStream(t)
			h.say <- sentAt(sent, test.data)
			if got := (<-h.messages)[0]; got.lag != test.want || string(got.data) != string(test.data) {
				t.Errorf("%s: %v passed between commit and sending, not %v", name, test.want, got.lag)
			}
		})
	}
}

// TestLaggingGroupsGrow has transactions come one at a time from a server that sends them long after their
// commits: they are written together. Where nothing else comes, nor will, they are written all the same.
func TestLaggingGroupsGrow(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{groupTime - 1, groupTime} {
		of := partsTable(t)
		a, store := storedApplier(t, of)
		w := &wal{}
		for i := range 3 {
			messages := w.transaction(of, pglogrepl.LSN(1000+100*i), 2)
			messages[0].lag = lag
			if err := a.take(t.Context(), messages); err != nil {
				t.Fatal(err)
			}
			if err := a.writer.awaitAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i == 0 && (store.position == 900) != (lag == groupTime) {
				t.Errorf("sent after %v, the position is %s", lag, store.position)
			}
			a.writer.spilled = &storeTx{on: store}
		}
		a.group.began = time.Now().Add(-groupTime)
		if err := a.flushIfDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.writer.awaitAll(t.Context()); err != nil || store.position != 1208 {
			t.Errorf("sent after %v, all is written up to %s: %v", lag, store.position, err)
		}
	}
}

// TestLaggingGroupsDepartUnasked has a transaction come long after its commit, and nothing behind it.
func TestLaggingGroupsDepartUnasked(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	a, store := storedApplier(t, of)
	var comes chan<- []message
	a.session.syncer.config.Failpoint = func(name string) {
		if name == FailAfterCommit {
			close(comes)
		}
	}
	late := time.AfterFunc(time.Minute, func() { close(comes) })
	err := running(t, a, func(_ *applier, messages chan<- []message) {
		comes = messages
		sent := (&wal{}).transaction(of, 1000, 2)
		sent[0].lag = groupTime
		messages <- sent
	})
	if !late.Stop() || err != nil || store.position != 1008 {
		t.Errorf("it is written up to %s: %v", store.position, err)
	}
}
