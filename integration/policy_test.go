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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/pgserver"
)

// rows are what a query returned, as texts.
type rows struct {
	column map[string]int
	values [][]*string
}

func (r rows) at(i int, column string) *string { return r.values[i][r.column[column]] }

// text is a value in which NULL is a value of its own.
func (r rows) text(i int, column string) string {
	if v := r.at(i, column); v != nil {
		return "=" + *v
	}
	return ""
}

// readRows reads a whole table in one statement.
func readRows(ctx context.Context, conn *pgx.Conn, table string) (rows, error) {
	got := rows{column: map[string]int{}}
	result, err := conn.Query(ctx, "SELECT * FROM "+table, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return got, err
	}
	defer result.Close()
	for i, f := range result.FieldDescriptions() {
		got.column[f.Name] = i
	}
	for result.Next() {
		row := make([]*string, len(got.column))
		for i, raw := range result.RawValues() {
			if raw != nil {
				text := string(raw)
				row[i] = &text
			}
		}
		got.values = append(got.values, row)
	}
	return got, result.Err()
}

// classes gathers rows that are alike in what is published of the columns.
func (p protected) classes(published rows, over []string) map[string][]int {
	var shown []string
	for _, c := range p.columns {
		for _, name := range over {
			if c.name == name {
				shown = append(shown, c.shown...)
			}
		}
	}
	classes := map[string][]int{}
	for i := range published.values {
		var key strings.Builder
		for _, name := range shown {
			fmt.Fprintf(&key, "%q,", published.text(i, name))
		}
		classes[key.String()] = append(classes[key.String()], i)
	}
	return classes
}

// spreadOf counts persons, and those who have each value of the column, if any.
// Persons are numbered by ref; nil persons are the rows themselves.
func spreadOf(published rows, class []int, of string, persons map[string]string) spread {
	all := map[string]bool{}
	having := map[string]map[string]bool{}
	for _, i := range class {
		person := published.text(i, "ref")
		if persons != nil {
			person = persons[person]
		}
		all[person] = true
		if of == "" {
			continue
		}
		value := strings.TrimPrefix(published.text(i, of), "=")
		if having[value] == nil {
			having[value] = map[string]bool{}
		}
		having[value][person] = true
	}
	s := spread{persons: len(all), values: map[string]int{}}
	for value, who := range having {
		s.values[value] = len(who)
	}
	return s
}

// keeps checks every promise over the published rows.
func (p protected) keeps(published rows, persons map[string]string) error {
	everything := make([]int, len(published.values))
	for i := range everything {
		everything[i] = i
	}
	for _, promise := range p.promises {
		groupings := [][]string{promise.over}
		if promise.over == nil {
			groupings = p.parts
		}
		whole := spreadOf(published, everything, promise.of, persons)
		for _, over := range groupings {
			for key, class := range p.classes(published, over) {
				if s := spreadOf(published, class, promise.of, persons); !promise.kept(s, whole) {
					return fmt.Errorf("%s: %s does not hold of the %d rows %s: %v in %v", p.name, promise.says, len(class), key, s, whole)
				}
			}
		}
	}
	return nil
}

// accounts checks that every row of the source is published, and truly.
func (p protected) accounts(published, source rows) error {
	if len(published.values) != len(source.values) {
		return fmt.Errorf("%s: %d rows are published of %d", p.name, len(published.values), len(source.values))
	}
	at := map[string]int{}
	for i := range source.values {
		at[source.text(i, "ref")] = i
	}
	for i := range published.values {
		from, exists := at[published.text(i, "ref")]
		if !exists {
			return fmt.Errorf("%s: a row is published twice, or is not in the source", p.name)
		}
		delete(at, published.text(i, "ref"))
		for _, c := range p.columns {
			value := source.at(from, c.name)
			switch {
			case c.policy == "":
				if _, shown := published.column[c.name]; shown {
					return fmt.Errorf("%s: column %s is published", p.name, c.name)
				}
			case c.shown == nil:
				if published.text(i, c.name) != source.text(from, c.name) {
					return fmt.Errorf("%s: %s is not as in the source", p.name, c.name)
				}
			default:
				if last := c.shown[len(c.shown)-1]; !c.covers(published.at(i, last), value) {
					return fmt.Errorf("%s: %s is published as %q and was %q", p.name, c.name, published.text(i, last), source.text(from, c.name))
				}
			}
		}
	}
	return nil
}

// holds compares what clients read with the source, in which nothing may be
// written meanwhile, and has kproxy prove it as well.
func (s *site) holds(t *testing.T, tables []protected) {
	t.Helper()
	conn, client := connect(t, s.admin), connect(t, s.url())
	for _, p := range tables {
		eventually(t, "the private store holds the rows of "+p.name, func() bool {
			missing, surplus, err := s.drift(t, conn, p.name, p.stored())
			if err != nil {
				t.Fatalf("comparing store and source: %v", err)
			}
			return missing == 0 && surplus == 0
		})
		source, err := readRows(t.Context(), conn, p.name)
		if err != nil {
			t.Fatal(err)
		}
		published, err := readRows(t.Context(), client, p.name)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		var persons map[string]string
		if p.subject != "" {
			persons = map[string]string{}
			for i := range source.values {
				persons[source.text(i, "ref")] = source.text(i, p.subject)
			}
		}
		classes := len(p.classes(published, p.parts[0]))
		t.Logf("%s: %d rows in %d classes", p.name, len(published.values), classes)
		if classes < 2 {
			t.Errorf("%s: all rows are alike, which shows nothing", p.name)
		}
		if err := errors.Join(p.accounts(published, source), p.keeps(published, persons)); err != nil {
			t.Error(err)
		}
	}
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
}

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
				err = lookAt(ctx, conn, tables[i%len(tables)])
				states.Add(1)
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

// TestPolicies protects tables by everything that a policy can say, changes them,
// kills kproxy meanwhile, and checks what is published by brute force.
func TestPolicies(t *testing.T) {
	t.Parallel()
	const seed, transactions = 31, 50
	t.Logf("seed %d", seed)
	tables := policyTables()
	s := newSite(t, protectedSite(siteOptions{server: ownServer(t, pgserver.Options{}), tables: unmeetable}, seed, 120, tables, unmeetableSource))
	s.write(t, "jobs.csv", jobs)
	s.kproxy(t, "setup").must(t)
	if o := s.kproxy(t, "check").must(t); !strings.Contains(o.stdout, "ok: 8 protected tables") {
		t.Errorf("check wrote %q", o.stdout)
	}
	p := s.serve(t)
	s.holds(t, tables)
	testUnmeetable(t, s, p)
	stop := watchAll(t, s, tables)
	change(t, s, tables, seed, 1, transactions, false)()
	s.holds(t, tables)
	done := change(t, s, tables, seed, 2, transactions, false)
	p.end(t, syscall.SIGKILL)
	s.serve(t)
	done()
	s.holds(t, tables)
	change(t, s, tables, seed, 3, transactions, true)()
	s.holds(t, tables)
	stop()
}

// unmeetable are tables of which the most frequent value is too frequent.
const unmeetable = `
  public.calls:
    constraints: [{k: 3}, {alpha: 0.3, of: outcome}]
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      outcome: sensitive
  public.votes:
    constraints: [{k: 3}, {alpha: 0.3, of: outcome, values: [won]}]
    unpublishable: refuse
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      outcome: sensitive
`

const unmeetableSource = `
CREATE TABLE calls (id integer PRIMARY KEY, age integer, outcome text);
INSERT INTO calls SELECT i, i, CASE WHEN i <= 60 THEN 'won' ELSE 'lost ' || i % 4 END FROM generate_series(1, 100) i;
CREATE TABLE votes (id integer PRIMARY KEY, age integer, outcome text);
INSERT INTO votes SELECT * FROM calls`

// testUnmeetable changes what cannot be published into what can, and back.
func testUnmeetable(t *testing.T, s *site, p *process) {
	conn := connect(t, s.admin)
	// A table that is withdrawn ends the sessions, this one perhaps.
	refusal := func(table string) (int, error) {
		client := connect(t, s.url())
		defer client.Close(t.Context())
		n := -1
		err := client.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
		return n, err
	}
	count := func(table string) int {
		n, err := refusal(table)
		if err != nil && !goneAway(err) {
			t.Fatal(err)
		}
		return n
	}
	refused := func() bool {
		_, err := refusal("votes")
		told := (*pgconn.PgError)(nil)
		if !errors.As(err, &told) || goneAway(err) {
			return false
		}
		if !strings.Contains(told.Message, `"votes" is not published now`) || !strings.Contains(told.Hint, "(0.3,k)-anonymity of one value of outcome") {
			t.Fatalf("a client is told %+v", told)
		}
		return true
	}
	published := func(table string) bool {
		n, err := refusal(table)
		return err == nil && n == 100
	}
	for range 2 {
		eventually(t, "neither table is published", func() bool { return refused() && count("calls") == 0 })
		for _, words := range []string{"public.calls", "public.votes", "60 % of the whole table", "alpha can be 0.6 at the least"} {
			if !strings.Contains(p.log.String(), words) {
				t.Errorf("the log does not say %q", words)
			}
		}
		if o := s.kproxy(t, "verify"); o.code != 0 {
			t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
		}
		for _, table := range []string{"calls", "votes"} {
			execute(t, conn, "UPDATE "+table+" SET outcome = 'drawn ' || id % 3 WHERE id <= 60 AND id % 2 = 0")
		}
		eventually(t, "both tables are published", func() bool { return published("calls") && published("votes") })
		for _, table := range []string{"calls", "votes"} {
			const worst = "SELECT coalesce(max(n), 0) FROM (SELECT count(*) FILTER (WHERE outcome = 'won') / count(*)::float8 AS n FROM %s GROUP BY age) c"
			if n := scalar[float64](t, connect(t, s.url()), fmt.Sprintf(worst, table)); n > 0.3 {
				t.Errorf("a class of %s has a share of %g", table, n)
			}
			execute(t, conn, "UPDATE "+table+" SET outcome = 'won' WHERE id <= 60")
		}
	}
	eventually(t, "neither table is published", func() bool { return refused() && count("calls") == 0 })
}

// TestEveryMethodPublishes has every method make the first release of a table.
func TestEveryMethodPublishes(t *testing.T) {
	t.Parallel()
	const seed = 5
	_, known, _ := strings.Cut(run(t, "", nil, program, "eval", "--data", people(t, 50), "--policy", peoplePolicy(t, ""), "--methods", "?").stderr, "known are ")
	names := strings.Split(strings.TrimSpace(known), ", ")
	if len(names) < 14 {
		t.Fatalf("the methods are %q", names)
	}
	var tables []protected
	for _, name := range names {
		p := visits()
		p.name = strings.ReplaceAll(name, "-", "_")
		p.parts = [][]string{{"age", "town", "postcode", "born"}}
		more := ""
		p.promises = []promise{{"k", nil, "", atLeast(4)}}
		switch name {
		case "alpha-k-single":
			more, p.promises = ", {alpha: 0.5, of: illness, values: [flu]}", append(p.promises, promise{"alpha", nil, "illness", alphaBound(0.5, "flu")})
		case "alpha-k-multi", "alpha-k-lattice", "hilbert":
			more, p.promises = ", {alpha: 0.5, of: illness}", append(p.promises, promise{"alpha", nil, "illness", alphaBound(0.5)})
		case "cbad", "mondrian-strict":
			more, p.promises = ", {l: 3, of: illness}", append(p.promises, promise{"l", nil, "illness", distinctL(3)})
		}
		p.policy = fmt.Sprintf("\n    method: %s\n    constraints: [{k: 4}%s]", name, more)
		tables = append(tables, p)
	}
	s := ready(t, protectedSite(siteOptions{}, seed, 150, tables, "SELECT"))
	s.holds(t, tables)
	rng := rand.New(rand.NewPCG(seed, 1))
	conn := connect(t, s.admin)
	for _, p := range tables {
		execute(t, conn, p.insert(rng, 10_000, 3))
		execute(t, conn, "DELETE FROM "+p.name+" WHERE id < 60")
	}
	s.holds(t, tables)
}
