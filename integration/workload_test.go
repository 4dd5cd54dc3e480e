package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// folkK and folkL are the constraints of the table folk.
const (
	folkK = 4
	folkL = 2
)

// folkSchema is the table of the live tests. Its rows come in pairs, whose costs
// are opposite numbers: every source transaction leaves whole pairs behind, so
// that a state in the middle of one can be told from a state at its end. Writers find them by the index.
const folkSchema = `CREATE TABLE folk (
	id bigint PRIMARY KEY, name text NOT NULL, pair bigint NOT NULL, cost integer NOT NULL,
	age integer, weight numeric(6,2), born date, town text, postcode text,
	illness text, notes text);
ALTER TABLE folk ALTER COLUMN notes SET STORAGE EXTERNAL;
CREATE INDEX ON folk (pair)`

const folkTables = `
tables:
  public.folk:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 4}, {l: 2, of: illness}]
    unpublishable: withhold
    acknowledge: {joinable: [pair, cost, notes]}
    columns:
      id: identifying
      name: identifying
      pair: insensitive
      cost: insensitive
      age: {role: quasi-identifying, hierarchy: numeric, publish: both}
      weight: {role: quasi-identifying, hierarchy: numeric, publish: range}
      born: {role: quasi-identifying, hierarchy: date, publish: both}
      town: {role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: {north: [Kiel, Husum], south: [Ulm, Passau, Lindau]}}}
      postcode: {role: quasi-identifying, hierarchy: prefix}
      illness: sensitive
      notes: insensitive
`

// folkQI are the published columns by which classes are told apart.
const folkQI = "age, age_range, weight, born, born_range, town, postcode"

// folkStored are the source columns that the private store keeps.
const folkStored = "id, pair, cost, age, weight, born, town, postcode, illness, notes"

// writer changes the source. Writers share no rows but meet in TRUNCATE.
type writer struct {
	url  string
	conn *pgx.Conn
	rng  *rand.Rand
	// number tells writers apart; ids and pairs hold it in their upper digits.
	number, next int64
	operations   *atomic.Int64
}

func newWriter(url string, number int, seed uint64, operations *atomic.Int64) *writer {
	return &writer{url: url, rng: rand.New(rand.NewPCG(seed, uint64(number))), number: int64(number), operations: operations}
}

// fresh is a number that no other row has.
func (w *writer) fresh() int64 {
	w.next++
	return w.number*1_000_000_000 + w.next
}

var (
	towns     = []string{"Kiel", "Husum", "Ulm", "Passau", "Lindau"}
	illnesses = []string{"flu", "gout", "asthma", "measles", "mumps", "rabies"}
)

// random renders a value or, now and then, NULL.
func (w *writer) random(format string, arguments ...any) string {
	if w.rng.IntN(25) == 0 {
		return "NULL"
	}
	return fmt.Sprintf(format, arguments...)
}

// values is one row but for its key.
func (w *writer) values(pair int64, cost int) string {
	notes := "''"
	if w.rng.IntN(20) == 0 { // out of line
		notes = fmt.Sprintf("repeat('%d ', 800)", w.rng.IntN(1000))
	}
	return strings.Join([]string{
		fmt.Sprintf("'name %d'", pair), fmt.Sprint(pair), fmt.Sprint(cost),
		w.random("%d", w.rng.IntN(90)), w.random("%d.%02d", 40+w.rng.IntN(80), w.rng.IntN(100)),
		w.random("'%d-%02d-%02d'", 1930+w.rng.IntN(80), 1+w.rng.IntN(12), 1+w.rng.IntN(28)),
		w.random("'%s'", towns[w.rng.IntN(len(towns))]), w.random("'%05d'", w.rng.IntN(100000)),
		w.random("'%s'", illnesses[w.rng.IntN(len(illnesses))]), notes,
	}, ", ")
}

// insert adds pairs.
func (w *writer) insert(pairs int) string {
	rows := make([]string, 0, 2*pairs)
	for range pairs {
		pair, cost := w.fresh(), w.rng.IntN(1000)
		rows = append(rows, fmt.Sprintf("(%d, %s)", w.fresh(), w.values(pair, cost)), fmt.Sprintf("(%d, %s)", w.fresh(), w.values(pair, -cost)))
	}
	return "INSERT INTO folk (id, name, pair, cost, age, weight, born, town, postcode, illness, notes) VALUES " + strings.Join(rows, ", ")
}

// pairs is a condition that is met by some pairs of this writer.
func (w *writer) pairs(atMost int) string {
	return fmt.Sprintf("pair IN (SELECT DISTINCT pair FROM folk WHERE pair BETWEEN %d AND %d ORDER BY pair LIMIT %d)",
		w.number*1_000_000_000+w.rng.Int64N(w.next+1), (w.number+1)*1_000_000_000-1, atMost)
}

// change is one random statement that keeps pairs whole.
func (w *writer) change() string {
	switch w.rng.IntN(12) {
	case 0, 1, 2:
		return w.insert(1 + w.rng.IntN(4))
	case 3, 4:
		return "DELETE FROM folk WHERE " + w.pairs(1+w.rng.IntN(4))
	case 5:
		return "UPDATE folk SET cost = -cost WHERE " + w.pairs(3)
	case 6: // quasi-identifiers of both rows, or of one
		return fmt.Sprintf("UPDATE folk SET age = %s, postcode = %s WHERE %s",
			w.random("%d", w.rng.IntN(90)), w.random("'%05d'", w.rng.IntN(100000)), w.pairs(2))
	case 7:
		return fmt.Sprintf("UPDATE folk SET town = %s, weight = weight + 1 WHERE cost > 0 AND %s", w.random("'%s'", towns[w.rng.IntN(len(towns))]), w.pairs(3))
	case 8:
		return fmt.Sprintf("UPDATE folk SET illness = %s WHERE cost < 0 AND %s", w.random("'%s'", illnesses[w.rng.IntN(len(illnesses))]), w.pairs(3))
	case 9: // keys
		w.next += 100_000
		return "UPDATE folk SET id = id + 50000 WHERE " + w.pairs(1)
	case 10: // a row that was deleted comes again under its key
		pair := w.pairs(1)
		return "WITH gone AS (DELETE FROM folk WHERE " + pair + " RETURNING *) INSERT INTO folk SELECT id, name, pair, cost, age, weight, born, town, postcode, illness, notes FROM gone"
	default:
		return fmt.Sprintf("UPDATE folk SET notes = repeat('%d!', 1500), born = born + 1 WHERE %s", w.rng.IntN(1000), w.pairs(2))
	}
}

// transaction is one random source transaction.
func (w *writer) transaction() []string {
	switch n := w.rng.IntN(100); {
	case n < 60:
		return []string{w.change()}
	case n < 80:
		return []string{w.change(), w.change(), w.change()}
	case n < 86:
		return []string{w.change(), w.change(), "ROLLBACK"}
	case n < 92:
		return []string{w.change(), "SAVEPOINT s", w.change(), w.change(), "ROLLBACK TO s", w.change()}
	case n < 96:
		return []string{w.insert(150), "UPDATE folk SET age = age + 1 WHERE " + w.pairs(100), "DELETE FROM folk WHERE " + w.pairs(140)}
	case n < 98: // one statement that touches whole classes
		return []string{fmt.Sprintf("UPDATE folk SET weight = 70, town = '%s' WHERE %s", towns[w.rng.IntN(len(towns))], w.pairs(60))}
	case w.rng.IntN(4) > 0:
		return []string{w.insert(100)}
	default:
		return []string{"TRUNCATE folk", w.insert(60)}
	}
}

// run does a number of transactions. With patient set, a server that went away
// is waited for; a transaction that was cut off is not repeated.
func (w *writer) run(ctx context.Context, transactions int, patient bool) error {
	defer func() {
		if w.conn != nil {
			_ = w.conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for range transactions {
		err := w.commit(ctx, w.transaction())
		switch {
		case err == nil || patient && w.conn.IsClosed():
		case deadlocked(err):
			if _, err := w.conn.Exec(ctx, "ROLLBACK"); err != nil {
				return err
			}
		default:
			return err
		}
		w.operations.Add(1)
	}
	return nil
}

// deadlocked tells whether the server chose a transaction to give way to others.
func deadlocked(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "40P01"
}

func (w *writer) commit(ctx context.Context, statements []string) error {
	if w.conn == nil || w.conn.IsClosed() {
		if err := w.connect(ctx); err != nil {
			return err
		}
	}
	rollback := statements[len(statements)-1] == "ROLLBACK"
	if !rollback {
		statements = append(statements, "COMMIT")
	}
	for _, sql := range append([]string{"BEGIN"}, statements...) {
		if _, err := w.conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%.60s: %w", sql, err)
		}
	}
	return nil
}

// connect tries for as long as the server is away.
func (w *writer) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, w.url)
		if err == nil {
			w.conn = conn
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		pause(ctx)
	}
}

// work runs writers at the same time and returns when all are done.
func work(t *testing.T, s *site, seed uint64, writers, transactions int, patient bool) (done func(), operations *atomic.Int64) {
	t.Helper()
	operations = new(atomic.Int64)
	ended := make(chan error, writers)
	for i := range writers {
		w := newWriter(s.admin, i+1+int(seed%1000)*10, seed, operations)
		go func() { ended <- w.run(t.Context(), transactions, patient) }()
	}
	return func() {
		t.Helper()
		for range writers {
			if err := <-ended; err != nil {
				t.Errorf("a writer with seed %d: %v", seed, err)
			}
		}
	}, operations
}

// folkSite is a database with the table folk and some rows in it.
func folkSite(o siteOptions, seed uint64) siteOptions {
	o.tables = folkTables
	o.load = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, folkSchema); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, newWriter("", 0, seed, nil).insert(400))
		return err
	}
	return o
}
