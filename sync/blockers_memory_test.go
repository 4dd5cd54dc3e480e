package sync

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlotIsNotAwaitedForGood has a transaction keep a slot from beginning: who it is of is told
// again and again, and after an hour the attempt ends with that.
func TestSlotIsNotAwaitedForGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s, _, log := besideSession(t, boundTable(t), answer{words: "pg_blocking_pids", rows: [][]any{
			{7, "ann", "psql", "10.0.0.1", "idle in transaction", begun, ""}, {0, "", "", "", "", nil, "left"},
		}})
		if found, err := s.syncer.findWriters(t.Context(), 5); err != nil || found == nil {
			t.Fatalf("found are %v, %v", found, err)
		}
		var told int
		wait, cancel := s.syncer.awaitWriters(t.Context(), 5, func(*BlockedError) { told++ })
		defer cancel()
		<-wait.Done()
		took := time.Since(begun)
		err := blockedBy(wait, context.Canceled)
		var blocked *BlockedError
		if !errors.As(err, &blocked) || took < slotPatience || took > slotPatience+2*slowSlot || told < 100 {
			t.Fatalf("after %v and %d times, %v", took, told, err)
		}
		for _, want := range []string{`prepared transaction "left"`, `server process 7 of user "ann", application "psql", from 10.0.0.1, idle in transaction, in a transaction since 2000-01-01T00:00:00Z`} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, without %s", err, want)
			}
		}
		if fix := fixTransient(err); !transient(err) || !strings.Contains(fix, "ROLLBACK PREPARED 'left'") || !strings.Contains(fix, "SELECT pg_terminate_backend(7)") {
			t.Errorf("the fix is %s", fix)
		}
		if lines := log.have("WARN a replication slot waits"); lines != 1 {
			t.Errorf("the log has %d lines at level warn", lines)
		}
	})
}
