package integration

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// policyWriter changes one table; two writers of a table share no rows.
type policyWriter struct {
	protected
	writer
}

// some is a condition on up to so many pairs of this writer.
func (w *policyWriter) some(atMost int) string {
	return fmt.Sprintf("id/2 IN (SELECT DISTINCT id/2 FROM %s WHERE (id/2) %% 2 = %d ORDER BY 1 OFFSET %d LIMIT %d)",
		w.name, w.number%2, w.rng.IntN(60), 1+w.rng.IntN(atMost))
}

// more adds pairs, whose numbers are even or odd with the writer's.
func (w *policyWriter) more(pairs int) string {
	statements := make([]string, pairs)
	for i := range statements {
		w.next++
		statements[i] = w.protected.insert(w.rng, w.number*1_000_000+2*w.next+w.number%2, 1)
	}
	return strings.Join(statements, "; ")
}

func (w *policyWriter) transaction() []string {
	switch n := w.rng.IntN(20); {
	case n < 6:
		return []string{w.more(1 + w.rng.IntN(6))}
	case n < 9:
		return []string{"DELETE FROM " + w.name + " WHERE " + w.some(5)}
	case n < 16:
		c := w.columns[w.rng.IntN(len(w.columns))]
		return []string{fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s", w.name, c.name, c.value(w.rng), w.some(3))}
	case n < 17: // classes grow, split and merge
		return []string{w.more(40), "DELETE FROM " + w.name + " WHERE " + w.some(40)}
	case n < 18:
		return []string{w.more(20), "ROLLBACK"}
	case n < 19:
		c := w.columns[w.rng.IntN(len(w.columns))]
		return []string{fmt.Sprintf("UPDATE %s SET %s = %s WHERE id %% 7 = %d AND %s", w.name, c.name, c.value(w.rng), w.rng.IntN(7), w.some(60))}
	default:
		return []string{"DELETE FROM " + w.name + " WHERE " + w.some(10), w.more(10)}
	}
}

func (w *policyWriter) run(ctx context.Context, transactions int, truncate bool) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	defer func() { _ = w.conn.Close(context.WithoutCancel(ctx)) }()
	for i := range transactions {
		statements := w.transaction()
		if truncate && i == transactions/2 && w.number%2 == 0 {
			statements = []string{"TRUNCATE " + w.name, w.more(90)}
		}
		err := w.commit(ctx, statements)
		if deadlocked(err) {
			_, err = w.conn.Exec(ctx, "ROLLBACK")
		}
		if err != nil {
			return err
		}
		w.operations.Add(1)
	}
	return nil
}

// change starts two writers for each table; the returned function waits for them.
func change(t *testing.T, s *site, tables []protected, seed uint64, round, transactions int, truncate bool) (done func()) {
	t.Helper()
	operations := new(atomic.Int64)
	ended := make(chan error, 2*len(tables))
	for i, p := range tables {
		for half := range 2 {
			w := &policyWriter{p, *newWriter(s.admin, 2*(10*round+1)+half, seed+uint64(i), operations)}
			go func() { ended <- w.run(t.Context(), transactions, truncate) }()
		}
	}
	return func() {
		t.Helper()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Errorf("a writer: %v", err)
			}
		}
		t.Logf("round %d: %d transactions", round, operations.Load())
	}
}

// watchAll reads every table again and again, through restarts, and checks every
// state that it sees: the promises, and that no pair is half there.
func watchAll(t *testing.T, s *site, tables []protected) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	states := new(atomic.Int64)
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			conn, err := pgx.Connect(ctx, s.url())
			if err != nil {
				pause(ctx)
				continue
			}
			for i := 0; err == nil && ctx.Err() == nil; i++ {
				began := time.Now()
				err = lookAt(ctx, conn, tables[i%len(tables)])
				states.Add(1)
				rest(ctx, began)
			}
			lost := conn.IsClosed() || goneAway(err)
			_ = conn.Close(context.WithoutCancel(ctx))
			if err != nil && !lost && ctx.Err() == nil {
				ended <- err
				return
			}
		}
	}()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		t.Logf("%d states were looked at", states.Load())
	}
}

func lookAt(ctx context.Context, conn *pgx.Conn, p protected) error {
	published, err := readRows(ctx, conn, p.name)
	if err != nil {
		return err
	}
	if p.subject != "" { // who is whose is known when nothing is written
		p.promises = p.promises[:1]
	}
	if err := p.keeps(published, nil); err != nil {
		return fmt.Errorf("a visible state: %w", err)
	}
	pairs := map[string]int{}
	for i := range published.values {
		var ref int64
		if _, err := fmt.Sscan(*published.at(i, "ref"), &ref); err != nil {
			return err
		}
		pairs[fmt.Sprint(ref/2)]++
	}
	for pair, n := range pairs {
		if n != 2 {
			return fmt.Errorf("a visible state of %s is in the middle of a transaction: pair %s has %d rows", p.name, pair, n)
		}
	}
	return nil
}
