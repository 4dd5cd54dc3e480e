package sync

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// holds is the answer to who holds the lock: a session that is called as one of a kproxy that applies.
func holds(s *session, pid int, heard any) answer {
	return answer{words: "l.locktype = 'advisory'", rows: [][]any{{pid, "kproxy_owner", ApplierName(s.store.slot), "10.0.0.9", time.Now(), true, heard}}}
}

// TestTellsOfItsOwnDeadSession has the server keep the last session of this process, which holds the
// lock: the status says so at once, and the log, once, when the server should have ended it.
func TestTellsOfItsOwnDeadSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m, log := besideSession(t, boundTable(t), answer{words: "pg_try_advisory_lock", rows: [][]any{{"f"}}})
		m.begin(-1)
		m.answersNow(holds(s, 77, nil))
		s.syncer.formerPID = 77
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = s.awaitLock(ctx) }()
		defer cancel()
		time.Sleep(followInterval / 2)
		synctest.Wait()
		got := s.syncer.Status()
		if got.State != Reconnecting || !strings.Contains(got.Reason, "own last session") || !strings.Contains(got.Reason, "server process 77") || !strings.Contains(got.Fix, "SELECT pg_terminate_backend(77)") {
			t.Errorf("the status is %+v", got)
		}
		if log.have("nobody applies") != 0 {
			t.Error("the log tells of a session that is about to end")
		}
		time.Sleep(2 * lease)
		synctest.Wait()
		if lines := log.have("ERROR nobody applies changes: the server has not ended this process's own last session"); lines != 1 {
			t.Errorf("the log has %d lines", lines)
		}
	})
}

// TestTellsOfADeadHolder follows a kproxy that holds the lock and no longer answers the server.
func TestTellsOfADeadHolder(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, m, log := besideSession(t, boundTable(t), answer{words: "pg_try_advisory_lock", rows: [][]any{{"f"}}})
			m.begin(-1)
			m.answersNow(holds(s, 5, time.Now()))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { _ = s.awaitLock(ctx) }()
			for range 10 {
				time.Sleep(holderInterval)
				if answers {
					m.answersNow(holds(s, 5, time.Now()))
				}
			}
			synctest.Wait()
			got := s.syncer.Status()
			told := strings.Contains(got.Reason, "what is left of a kproxy") && strings.Contains(got.Fix, "SELECT pg_terminate_backend(5)")
			if lines := log.have("ERROR nobody applies changes"); told == answers || lines != 0 == answers || lines > 1 || got.State != Following {
				t.Errorf("where it answers is %v, the log has %d lines and the status is %+v", answers, lines, got)
			}
		})
	}
}
