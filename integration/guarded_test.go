package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const guardedUpdates = "updates: {mode: guarded, crowd: 3, within: 1s}"

// version is all that a client can read of the table folk at a moment: by class, how
// often each row is there, and the class's weight.
type version struct {
	rows    map[int64]map[string]int
	weights map[int64]float32
}

// lookAtFolk reads a version. The row is all that is published but for class and weight,
// with the illness in front.
func lookAtFolk(ctx context.Context, conn *pgx.Conn) (version, error) {
	v := version{rows: map[int64]map[string]int{}, weights: map[int64]float32{}}
	rows, err := conn.Query(ctx, "SELECT kproxy_class, kproxy_weight, coalesce(illness, '-') || '|' || concat_ws('|', pair, cost, md5(notes), "+folkQI+") FROM folk")
	if err != nil {
		return v, err
	}
	var class int64
	var weight float32
	var row string
	_, err = pgx.ForEachRow(rows, []any{&class, &weight, &row}, func() error {
		if v.rows[class] == nil {
			v.rows[class] = map[string]int{}
		}
		if before, known := v.weights[class]; known && before != weight {
			return fmt.Errorf("class %d has the weights %v and %v", class, before, weight)
		}
		v.rows[class][row]++
		v.weights[class] = weight
		return nil
	})
	return v, err
}

// satisfies says what is wrong with a set of rows that can be told apart from others.
func satisfies(rows map[string]int) string {
	n, illnesses := 0, map[string]bool{}
	for row, count := range rows {
		n += count
		illness, _, _ := strings.Cut(row, "|")
		illnesses[illness] = true
	}
	if n < folkK || len(illnesses) < folkL {
		return fmt.Sprintf("%d rows with %d illnesses", n, len(illnesses))
	}
	return ""
}

// compare says what is wrong with the difference of two versions. Sets of rows that it
// tells apart are added to apart.
func compare(before, after version, apart *int) error {
	for class, rows := range after.rows {
		was, old := before.rows[class]
		if !old {
			if wrong := satisfies(rows); wrong != "" {
				return fmt.Errorf("class %d has appeared with %s", class, wrong)
			}
			*apart++
			continue
		}
		for row, count := range rows {
			if count > was[row] {
				return fmt.Errorf("class %d has gained a row", class)
			}
		}
	}
	for class, was := range before.rows {
		gone := map[string]int{}
		for row, count := range was {
			if left := after.rows[class][row]; left < count {
				gone[row] = count - left
			}
		}
		if len(gone) == 0 {
			continue
		}
		*apart++
		if wrong := satisfies(gone); wrong != "" {
			return fmt.Errorf("%s have left class %d", wrong, class)
		}
		if wrong := satisfies(after.rows[class]); len(after.rows[class]) > 0 && wrong != "" {
			return fmt.Errorf("%s are left of class %d", wrong, class)
		}
	}
	return nil
}

// watchFolk compares each version with the one before it and the first one, until ctx
// ends.
func watchFolk(ctx context.Context, url string, versions *atomic.Int64) (apart int, err error) {
	var before, first version
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			pause(ctx)
			continue
		}
		for ctx.Err() == nil {
			began := time.Now()
			now, err := lookAtFolk(ctx, conn)
			if err != nil {
				if conn.IsClosed() || goneAway(err) || ctx.Err() != nil {
					break
				}
				if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "55000" { // all that there is waits
					pause(ctx)
					continue
				}
				return apart, err
			}
			if first.rows == nil {
				first, before = now, now
			}
			ignored := 0
			if err := compare(first, now, &ignored); err != nil {
				return apart, fmt.Errorf("since the first version: %w", err)
			}
			if err := compare(before, now, &apart); err != nil {
				return apart, err
			}
			before = now
			versions.Add(1)
			rest(ctx, began)
		}
		_ = conn.Close(context.WithoutCancel(ctx))
	}
	return apart, nil
}

// TestGuarded changes the source, kills kproxy now and then, and has a client compare
// all versions that it can read.
func TestGuarded(t *testing.T) {
	t.Parallel()
	const seed, writers, transactions = 4711, 2, 400
	t.Logf("seed %d", uint64(seed))
	o := folkSite(siteOptions{}, seed)
	o.tables = strings.Replace(o.tables, "    updates: immediate\n", "    "+guardedUpdates+"\n", 1)
	if !strings.Contains(o.tables, guardedUpdates) {
		t.Fatal("the policy is not guarded")
	}
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var versions atomic.Int64
	type verdict struct {
		apart int
		err   error
	}
	watched := make(chan verdict, 1)
	go func() {
		apart, err := watchFolk(ctx, s.url(), &versions)
		watched <- verdict{apart, err}
	}()
	done, _ := work(t, s, seed, writers, transactions, false)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 3 {
		time.Sleep(time.Duration(200+rng.IntN(400)) * time.Millisecond)
		p.end(t, syscall.SIGKILL)
		p = s.serve(t)
	}
	done()
	// On a busy machine all that may have come to pass while kproxy began again.
	done, _ = work(t, s, seed+1, writers, transactions/2, false)
	done()
	s.agrees(t, "folk", folkStored)
	time.Sleep(1500 * time.Millisecond) // for what waits no longer than a second
	s.kproxy(t, "verify").must(t)
	var status string
	eventually(t, "nothing needs the operator: a table of which all records wait does", func() bool {
		o := s.kproxy(t, "status")
		status = o.stdout
		return o.code == 0
	})
	if !strings.Contains(status, "guarded") {
		t.Errorf("the status does not say how the table is updated:\n%s", status)
	}
	cancel()
	v := <-watched
	if v.err != nil {
		t.Error(v.err)
	}
	t.Logf("%d versions, %d sets of rows told apart\n%s", versions.Load(), v.apart, status)
	if versions.Load() < 20 || v.apart < 20 {
		t.Error("that is too few to say anything")
	}
}

// TestLikelyRefusalsAreWarnedOf: a third of all have a value of which a batch may have 35 %.
func TestLikelyRefusalsAreWarnedOf(t *testing.T) {
	t.Parallel()
	for alpha, warned := range map[string]bool{"0.35": true, "0.9": false} {
		t.Run(alpha, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, sqlSite("CREATE TABLE ward (id int PRIMARY KEY, age int, illness text); INSERT INTO ward SELECT i, i % 80, 'illness ' || i % 3 FROM generate_series(1, 3000) i",
				"tables:\n  public.ward:\n    updates: {mode: guarded, batch: 100}\n    constraints: [{k: 5}, {alpha: "+alpha+", of: illness}]\n"+
					"    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, illness: sensitive}\n"))
			s.kproxy(t, "setup").must(t)
			p := s.serve(t)
			eventually(t, "the table is published", func() bool {
				var n int
				return connect(t, s.admin).QueryRow(t.Context(), "SELECT count(*) FROM kproxy_release_public.ward").Scan(&n) == nil && n == 3000
			})
			p.end(t, syscall.SIGTERM)
			if got := strings.Contains(p.log.String(), "will violate the constraints"); got != warned {
				t.Errorf("warned: %t\n%s", got, p.log.String())
			}
		})
	}
}
