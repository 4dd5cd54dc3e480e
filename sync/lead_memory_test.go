package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// TestFollowing has another process apply: this one looks twice a second whether it may, tells
// what the store says meanwhile, and takes over once it can.
func TestFollowing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, m, log := besideSession(t, of, answer{words: "pg_try_advisory_lock", rows: [][]any{{"f"}}}, answer{words: "SELECT count(pg_catalog.pg_terminate_backend", rows: [][]any{{0}}})
		m.begin(-1)
		ended := make(chan error, 1)
		go func() { ended <- s.awaitLock(t.Context()) }()
		time.Sleep(10*followInterval + 1)
		synctest.Wait()
		for words, want := range map[string]int{"pg_try_advisory_lock": 11, "SELECT table_schema, table_name, generation": 11, "SELECT pg_catalog.pg_terminate_backend(a.pid)": 11, "set_config('application_name'": 0} {
			if got := strings.Count(m.log(), words); got != want {
				t.Errorf("%s is said %d times", words, got)
			}
		}
		if s.syncer.Status().State != Following || log.have("following it") != 1 || s.syncer.applies {
			t.Errorf("the status is %+v", s.syncer.Status())
		}
		m.answersNow(answer{words: "pg_try_advisory_lock", rows: [][]any{{"t"}}})
		if err := <-ended; err != nil || !s.syncer.applies || strings.Count(m.log(), "set_config('application_name'") != 2 {
			t.Errorf("it ends with %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := besideSession(t, boundTable(t), answer{words: "pg_try_advisory_lock", rows: [][]any{{"f"}}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*followInterval+1, cancel)
		if err := s.awaitLock(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestPredecessorsAreEnded waits for the sessions of a predecessor to end, for as long as its
// lease, and tells where another policy was accepted meanwhile.
func TestPredecessorsAreEnded(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			left := answer{words: "SELECT count(pg_catalog.pg_terminate_backend", rows: [][]any{{2}}}
			s, m, _ := besideSession(t, boundTable(t), left)
			if ends {
				time.AfterFunc(lease-time.Second, func() { m.answersNow(answer{words: left.words, rows: [][]any{{0}}}) })
			}
			began := time.Now()
			err := s.becomeApplier(t.Context())
			took := time.Since(began)
			if server := (*pgconn.PgError)(nil); ends != (err == nil) || ends != s.syncer.applies || !ends && (!errors.As(err, &server) || server.Code != "55006" || !transient(err)) {
				t.Errorf("it ends with %v", err)
			}
			if most := lease + 100*time.Millisecond; took > most || took < lease-time.Second || !ends && took <= lease {
				t.Errorf("it takes %v", took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := besideSession(t, boundTable(t), answer{words: "SELECT count(pg_catalog.pg_terminate_backend", rows: [][]any{{2}}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := s.becomeApplier(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestSlotInUse waits for a slot whose reader is still dying, for a while.
func TestSlotInUse(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			drop := answer{words: "pg_drop_replication_slot", state: "55006"}
			s, m, _ := besideSession(t, boundTable(t), drop)
			if ends {
				time.AfterFunc(4900*time.Millisecond, m.noMore)
			}
			m.begin(-1)
			err := s.store.dropSlot(t.Context())
			stop := (*StopError)(nil)
			if ends != (err == nil) || !ends && !errors.As(err, &stop) {
				t.Errorf("it ends with %v", err)
			}
			if tries := strings.Count(m.log(), "pg_drop_replication_slot"); ends && tries != 26 || !ends && tries != 50 {
				t.Errorf("%d attempts", tries)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := besideSession(t, boundTable(t), answer{words: "pg_drop_replication_slot", state: "55006"})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := s.store.dropSlot(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestAnswersAreWaitedFor asks for new classes and waits: how far they are is told four times a
// second, and now and then whether there is still somebody who makes them.
func TestAnswersAreWaitedFor(t *testing.T) {
	t.Parallel()
	table := catalog.Name{Schema: "public", Relation: "visits"}
	done := func(ended ...bool) answer {
		a := answer{words: "FROM kproxy_store.renewal WHERE id"}
		for i, e := range ended {
			a.rows = append(a.rows, []any{"public", fmt.Sprint("t", i), 9, e, 0.5, 0.25, true, ""})
		}
		return a
	}
	usual := []answer{{words: "pg_try_advisory_xact_lock", rows: [][]any{{false}}}, {words: "INSERT INTO kproxy_store.renewal", rows: [][]any{{8}, {9}}}}
	for _, gone := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := newPipedServer(t, slices.Concat([]answer{done(true, false)}, usual)...)
			time.AfterFunc(2*aliveChecks*answerInterval+answerInterval/2, func() {
				if gone {
					m.answersNow(answer{words: "pg_try_advisory_xact_lock", rows: [][]any{{true}}})
				} else {
					m.answersNow(done(true, true))
				}
			})
			told := 0
			began := time.Now()
			results, err := Reanonymize(t.Context(), m.owner, nil, "slot", []catalog.Name{table, table}, true, func(some []Renewed) {
				if told++; len(some) != 2 || some[1].Ended || some[0] != (Renewed{Table: catalog.Name{Schema: "public", Relation: "t0"}, Done: 9, Ended: true, Before: 0.5, Afresh: 0.25, Adopted: true}) {
					t.Errorf("%+v is told", some)
				}
			})
			looks, asked := 2*aliveChecks+1, 3
			if gone {
				looks, asked = 3*aliveChecks, 4
			}
			stop := (*StopError)(nil)
			if len(results) != 2 || gone != (err != nil) || gone && !errors.As(err, &stop) || results[1].Ended == gone {
				t.Errorf("%+v, %v", results, err)
			}
			if got := strings.Count(m.log(), "pg_try_advisory_xact_lock"); got != asked || told != looks {
				t.Errorf("told %d times, asked %d times", told, got)
			}
			if took := time.Since(began); took < 2*aliveChecks*answerInterval {
				t.Errorf("it takes %v", took)
			}
			time.Sleep(time.Minute)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m := newPipedServer(t, slices.Concat([]answer{done(false)}, usual)...)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(answerInterval/2, cancel)
		if results, err := Reanonymize(ctx, m.owner, nil, "slot", []catalog.Name{table}, true, func([]Renewed) {}); !errors.Is(err, context.Canceled) || len(results) != 1 {
			t.Errorf("%+v, %v", results, err)
		}
		time.Sleep(time.Minute)
	})
}
