package sync

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	gosync "sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// spreadParts is into how many hash partitions tables are spread.
const spreadParts = 16

// refuses is a function that has a statement refused.
const refuses = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'an UPDATE names the column that the table is spread by'; END $$`

// hashed spreads a table over hash partitions, and has PostgreSQL refuse what Citus would:
// a unique key without the column, and an UPDATE that names it.
func hashed(table, column string) []string {
	statements := []string{
		"CREATE TEMPORARY TABLE whole (LIKE " + table + " INCLUDING ALL)",
		"DROP TABLE " + table,
		"CREATE TABLE " + table + " (LIKE whole INCLUDING ALL) PARTITION BY HASH (" + column + ")",
		"DROP TABLE whole",
	}
	for i := range spreadParts {
		statements = append(statements, fmt.Sprintf(`CREATE TABLE %s_h%d" PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)`,
			strings.TrimSuffix(table, `"`), i, table, spreadParts, i))
	}
	return append(statements, fmt.Sprintf("CREATE TRIGGER stays BEFORE UPDATE OF %s ON %s FOR EACH STATEMENT EXECUTE FUNCTION public.refuse()", column, table))
}

// spreads has a bench's tables spread, and their statements recorded from now on.
func (b *bench) spreads() *recorder {
	b.t.Helper()
	b.exec(refuses)
	r := &recorder{}
	b.config.spreading, b.config.Owner.Tracer = hashed, r
	return r
}

// statement is one that was sent to the server.
type statement struct {
	sql       string
	arguments []any
}

// recorder notes the statements of connections.
type recorder struct {
	mu         gosync.Mutex
	statements []statement
}

func (r *recorder) note(s statement) {
	r.mu.Lock()
	r.statements = append(r.statements, s)
	r.mu.Unlock()
}

// take returns what was noted, and forgets it.
func (r *recorder) take() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.statements
	r.statements = nil
	return taken
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	r.note(statement{q.SQL, q.Args})
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	for _, q := range b.Batch.QueuedQueries {
		r.note(statement{q.SQL, q.Arguments})
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (r *recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (r *recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

var (
	spreadTable = regexp.MustCompile(`"kproxy_store"\."(stored|records|packed|release|cellweight)_[0-9]+"`)
	planned     = regexp.MustCompile(` on ([a-z]+_[0-9]+)_h([0-9]+)`)
)

// values is how many values the longest array among the arguments has.
func (s statement) values() (most int) {
	for _, argument := range s.arguments {
		if list, is := argument.(*array); is {
			most = max(most, list.count)
		}
	}
	return most
}

// isRouted has PostgreSQL plan the statements that were sent for small changes, and wants
// each to reach no more partitions of a table than it names values; looked is how many of
// different texts it could be said of.
func (b *bench) isRouted(statements []statement) (looked int) {
	b.t.Helper()
	conn := b.connect()
	registerArrays(conn.TypeMap())
	seen := map[string]bool{}
	for _, s := range statements {
		values := s.values()
		if !spreadTable.MatchString(s.sql) || strings.HasPrefix(s.sql, "COPY") || values >= spreadParts {
			continue
		}
		rows, err := conn.Query(b.t.Context(), "EXPLAIN "+s.sql, s.arguments...)
		if err != nil {
			b.t.Fatalf("planning %s: %v", s.sql, err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			b.t.Fatalf("planning %s: %v", s.sql, err)
		}
		reached := map[string]map[string]bool{}
		for _, m := range planned.FindAllStringSubmatch(strings.Join(plan, "\n"), -1) {
			if reached[m[1]] == nil {
				reached[m[1]] = map[string]bool{}
			}
			reached[m[1]][m[2]] = true
		}
		for table, parts := range reached {
			if len(parts) > values {
				b.t.Errorf("of %s, a statement with %d values reaches %d of %d partitions:\n%s\n%s", table, values, len(parts), spreadParts, s.sql, strings.Join(plan, "\n"))
			}
		}
		seen[s.sql] = true
	}
	return len(seen)
}

// isSpread wants rows of every kind of table in several partitions.
func (b *bench) isSpread(kinds ...string) {
	b.t.Helper()
	b.exec("ANALYZE")
	for _, kind := range kinds {
		filled := scanned[int](b, "SELECT count(*) FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relname ~ $1 AND reltuples > 0", "^"+kind+"_[0-9]+_h[0-9]+$")
		if filled < spreadParts/2 {
			b.t.Errorf("only %d partitions of %s have rows", filled, kind)
		}
	}
}

// TestSpreadChanges lives through random changes and restarts with a store that is spread
// over partitions; statements for single changes reach those alone that they have to.
func TestSpreadChanges(t *testing.T) {
	t.Parallel()
	const rows = 300
	b := newBench(t, pgtest.Shared(t), sourceTables)
	sent := b.spreads()
	b.fill(rows)
	r := rand.New(rand.NewPCG(11, 0))
	s, stop := b.run()
	for range 2 {
		for range 40 {
			b.transaction(r, rows)
		}
		b.caughtUp(s)
		b.checkStore(s)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.change(r, rows)
		s, stop = b.run()
	}
	b.isSpread("stored", "packed")
	b.caughtUp(s)
	sent.take()
	for range 40 {
		b.change(r, rows)
		b.caughtUp(s)
	}
	if looked := b.isRouted(sent.take()); looked < 4 {
		t.Errorf("only %d statements could be looked at", looked)
	}
	b.checkStore(s)
}
