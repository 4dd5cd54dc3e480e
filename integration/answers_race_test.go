package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// pacedSQL grows with each inserted row, as dearSQL does, and takes some milliseconds.
const pacedSQL = "SELECT count(*) FROM %[1]sfolk a, %[1]sfolk b WHERE b.cost BETWEEN -90 AND 90"

// TestKeptAnswersAreNeverOld has readers compare each answer with what the server says before and
// after it: a writer only inserts, so that the number never falls. What was visible before the
// question was asked is in its answer, and nothing that is not visible yet.
func TestKeptAnswersAreNeverOld(t *testing.T) {
	t.Parallel()
	for _, updates := range []string{"immediate", "guarded"} {
		t.Run(updates, func(t *testing.T) {
			t.Parallel()
			metrics := freeAddress(t)
			o := folkSite(siteOptions{settings: fmt.Sprintf("answers: {size: 64MB}\nmetrics: {listen: %s}\n", metrics)}, 12)
			if updates == "guarded" {
				o.tables = guardedTables(t, o.tables)
			}
			s := newSite(t, o)
			s.kproxy(t, "setup").must(t)
			s.serve(t)
			raceReaders(t, s)
			kept, shared := hits(t, metrics), sample(t, metrics, "kproxy_answers_shared_total")
			t.Logf("%v kept answers, %v waited for another", kept, shared)
			if kept < 20 {
				t.Errorf("only %v answers were kept ones", kept)
			}
		})
	}
}

// raceReaders has readers ask in every way while a writer inserts with pauses, until they have seen
// enough changes.
func raceReaders(t *testing.T, s *site) {
	const enough = 120
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	modes := []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe}
	var readers sync.WaitGroup
	var grown atomic.Int64
	for i := range 2 * len(modes) {
		client, direct := connect(t, s.url()), connect(t, s.readerURL())
		readers.Go(func() {
			last := int64(0)
			for ctx.Err() == nil {
				n, err := compareOnce(t, client, direct, modes[i%len(modes)])
				switch {
				case err != nil:
					t.Error(err)
					return
				case n < last:
					t.Errorf("%v: it was %d, and %d after that", modes[i%len(modes)], last, n)
					return
				case n > last && last > 0:
					grown.Add(1)
				}
				last = n
			}
		})
	}
	writing := connect(t, s.admin)
	w, rng := newWriter("", 3, 12, nil), rand.New(rand.NewPCG(12, 0))
	for ctx.Err() == nil && grown.Load() < enough && !t.Failed() {
		for range 1 + rng.IntN(4) {
			execute(t, writing, w.insert(1+rng.IntN(3)))
		}
		time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
	}
	stop()
	readers.Wait()
	if grown.Load() < enough {
		t.Errorf("readers have seen %d changes only", grown.Load())
	}
}

// compareOnce asks through kproxy, and the server before and after.
func compareOnce(t *testing.T, client, direct *pgx.Conn, mode pgx.QueryExecMode) (n int64, err error) {
	ask := func(of *pgx.Conn, schema string, arguments ...any) (n int64) {
		if err == nil {
			err = of.QueryRow(t.Context(), fmt.Sprintf(pacedSQL, schema), arguments...).Scan(&n)
		}
		return n
	}
	before := ask(direct, "kproxy_release_public.")
	n = ask(client, "", mode)
	after := ask(direct, "kproxy_release_public.")
	if err == nil && (n < before || n > after) {
		err = fmt.Errorf("%v: the server says %d before and %d after, and kproxy %d", mode, before, after, n)
	}
	return n, err
}

// guardedTables is a policy with guarded updates in place of immediate ones.
func guardedTables(t *testing.T, tables string) string {
	t.Helper()
	guarded := strings.Replace(tables, "    updates: immediate\n", "    "+guardedUpdates+"\n", 1)
	if guarded == tables {
		t.Fatal("the policy is not guarded")
	}
	return guarded
}
