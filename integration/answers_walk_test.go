package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// walkSchema has a table of one name in two schemas, with values that print in many ways.
const walkSchema = `CREATE SCHEMA a; CREATE SCHEMA b;
CREATE TABLE a.folk (id int PRIMARY KEY, age int, seen timestamptz, cost float8, note text);
CREATE TABLE b.folk (LIKE a.folk INCLUDING ALL);
INSERT INTO a.folk SELECT i, i % 7, '2024-05-06 07:08:09+00'::timestamptz + i * interval '1 hour', 1.0 / i, 'note ' || i FROM generate_series(1, 300) i;
INSERT INTO b.folk SELECT i, i % 5, '2021-01-02 03:04:05+00'::timestamptz + i * interval '1 day', 2.0 / (i + 7), 'other ' || i FROM generate_series(1, 320) i`

const walkPolicy = `tables:
  a.folk:
    updates: immediate
    constraints: [{k: 5}]
    acknowledge: {joinable: [seen, cost, note]}
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      seen: insensitive
      cost: insensitive
      note: insensitive
  b.folk:
    updates: immediate
    constraints: [{k: 5}]
    acknowledge: {joinable: [seen, cost, note]}
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      seen: insensitive
      cost: insensitive
      note: insensitive
`

// walkQuestions take some tens of milliseconds each. The path and the settings decide on what they
// mean and how the answer is written.
var walkQuestions = []string{
	"SELECT max(x.seen), count(*), min(x.cost), min(y.note) FROM folk x, folk y",
	"SELECT x.age, count(*), min(x.seen) FROM folk x, folk y GROUP BY x.age ORDER BY 1",
	"SELECT count(*), max(x.cost), min(x.seen) FROM a.folk x, b.folk y",
	"SELECT count(*), min(x.seen), max(y.cost) FROM folk x, folk y WHERE x.cost < $1::float8 / 1000",
	"SELECT count(*), to_char(max(x.seen), 'Day TMMonth HH24 TZ') FROM folk x, folk y WHERE y.note <> $1::text",
}

// walkSettings are what sessions change.
var walkSettings = []string{
	"SET search_path = a", "SET search_path = b", "SET search_path = b, a", "SET TimeZone = 'Asia/Tokyo'", "SET TimeZone = 'UTC'",
	"SET DateStyle = 'German'", "SET DateStyle = 'ISO, MDY'", "SET extra_float_digits = -5", "RESET extra_float_digits", "SET client_encoding = 'LATIN1'", "SET client_encoding = 'UTF8'",
	"SET bytea_output = 'escape'", "RESET ALL",
}

// walker is a client, once with kept answers and once without.
type walker struct {
	kept, live *pgconn.PgConn
}

// reaction is what came of a question: the rows as they were sent, or an SQLSTATE.
type reaction struct {
	rows []byte
	code string
}

func tell(results []*pgconn.Result, err error) reaction {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return reaction{code: failed.Code}
	}
	if err != nil {
		return reaction{code: "gone"}
	}
	var b bytes.Buffer
	for _, r := range results {
		for _, f := range r.FieldDescriptions {
			fmt.Fprintf(&b, "%s %d %d\n", f.Name, f.DataTypeOID, f.Format)
		}
		for _, row := range r.Rows {
			fmt.Fprintf(&b, "%q\n", row)
		}
		fmt.Fprintln(&b, r.CommandTag)
	}
	return reaction{rows: b.Bytes()}
}

// ask asks one question in one of the ways of the protocol.
func ask(ctx context.Context, of *pgconn.PgConn, question string, way, parameter int) reaction {
	value := [][]byte{fmt.Append(nil, parameter)}
	if !bytes.Contains([]byte(question), []byte("$1")) {
		value = nil
	}
	switch {
	case way == 0 && value == nil:
		return tell(of.Exec(ctx, question).ReadAll())
	case way == 1:
		r := of.ExecParams(ctx, question, value, nil, nil, []int16{1}).Read()
		return tell([]*pgconn.Result{r}, r.Err)
	default:
		r := of.ExecParams(ctx, question, value, nil, nil, nil).Read()
		return tell([]*pgconn.Result{r}, r.Err)
	}
}

// TestKeptAnswersAreNobodyElses walks at random through questions, settings, changes of the source,
// reloads and withdrawals, with clients of two roles, and compares every answer with that to a
// session that wants no kept answers.
func TestKeptAnswersAreNobodyElses(t *testing.T) {
	t.Parallel()
	const seed, steps = 5, 600
	t.Logf("seed %d", seed)
	metrics := freeAddress(t)
	o := sqlSite(walkSchema, walkPolicy)
	o.settings = fmt.Sprintf("answers: {size: 64MB}\nmetrics: {listen: %s}\n", metrics)
	s := newSite(t, o)
	s.replace(t,
		"users:\n", "users:\n  - {name: bi, reader: bi, verifier: "+clientVerifier(t)+"}\n",
		"slot: ", "  readers:\n    bi: {user: \""+s.database+"_bi\", password_file: reader.password}\nslot: ")
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	w := &walk{site: s, rng: rand.New(rand.NewPCG(seed, 0)), next: 1000}
	for range 4 {
		w.walkers = append(w.walkers, nil)
	}
	for step := range steps {
		if err := w.step(t); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	kept := hits(t, metrics)
	t.Logf("%v kept answers to %d questions, %d of which were refused; %d changes", kept, w.asked, w.refused, w.changes)
	if kept < float64(w.asked)/10 || w.changes < 20 {
		t.Error("that is too few to say anything")
	}
}

// walk is the state of one.
type walk struct {
	site                    *site
	rng                     *rand.Rand
	walkers                 []*walker
	next                    int
	strict                  bool
	asked, refused, changes int
}

// step does one thing at random.
func (w *walk) step(t *testing.T) error {
	i := w.rng.IntN(len(w.walkers))
	if w.walkers[i] == nil || w.walkers[i].kept.IsClosed() || w.walkers[i].live.IsClosed() {
		w.walkers[i] = w.begin(t, i%2 == 1)
	}
	of := w.walkers[i]
	switch n := w.rng.IntN(100); {
	case n < 12:
		set := walkSettings[w.rng.IntN(len(walkSettings))]
		_, kept := of.kept.Exec(t.Context(), set).ReadAll()
		_, live := of.live.Exec(t.Context(), set).ReadAll()
		if set == "RESET ALL" {
			_, err := of.live.Exec(t.Context(), "SET kproxy.cache = off").ReadAll()
			return errors.Join(kept, live, err)
		}
		return nil
	case n < 16:
		w.change(t)
	case n == 16 && w.rng.IntN(4) == 0:
		w.reload(t)
	case n == 17 && w.rng.IntN(4) == 0:
		w.withdraw(t)
	default:
		return w.question(t, of)
	}
	return nil
}

// begin logs in twice as one user.
func (w *walk) begin(t *testing.T, other bool) *walker {
	url := w.site.url()
	if other {
		url = strings.Replace(url, clientUser+":", "bi:", 1)
	}
	of := &walker{connect(t, url).PgConn(), connect(t, url).PgConn()}
	for _, set := range []string{"SET search_path = a", "SET statement_timeout = 0"} {
		_, _ = of.kept.Exec(t.Context(), set).ReadAll()
		_, _ = of.live.Exec(t.Context(), set).ReadAll()
	}
	if _, err := of.live.Exec(t.Context(), "SET kproxy.cache = off").ReadAll(); err != nil {
		t.Fatal(err)
	}
	return of
}

// question asks the same twice of each, while nothing changes.
func (w *walk) question(t *testing.T, of *walker) error {
	q, way, parameter := walkQuestions[w.rng.IntN(len(walkQuestions))], w.rng.IntN(3), 100*w.rng.IntN(2)
	for range 2 {
		got, want := ask(t.Context(), of.kept, q, way, parameter), ask(t.Context(), of.live, q, way, parameter)
		w.asked++
		if want.code != "" {
			w.refused++
		}
		if got.code != want.code && got.code != "gone" && want.code != "gone" || got.code == "" && want.code == "" && !bytes.Equal(got.rows, want.rows) {
			return fmt.Errorf("%s with %d in way %d: kept\n%s%s\nlive\n%s%s", q, parameter, way, got.rows, got.code, want.rows, want.code)
		}
	}
	return nil
}

// change changes one of the tables, and waits until readers can see it.
func (w *walk) change(t *testing.T) {
	w.next++
	w.changes++
	table := []string{"a.folk", "b.folk"}[w.rng.IntN(2)]
	execute(t, connect(t, w.site.admin), "INSERT INTO "+table+" VALUES ($1::int, 3, '2025-01-01 00:00:00+00'::timestamptz + $1::int * interval '1 hour', 0.5, 'new')", w.next)
	reader := connect(t, w.site.readerURL())
	defer func() { _ = reader.Close(context.Background()) }()
	eventually(t, "the change is visible", func() bool {
		return scalar[int](t, reader, "SELECT count(*) FROM kproxy_release_"+table+" WHERE seen = '2025-01-01 00:00:00+00'::timestamptz + $1::int * interval '1 hour'", w.next) == 1
	})
}

// reload makes the policy of a table stricter, or takes that back.
func (w *walk) reload(t *testing.T) {
	w.changes++
	from, to := "k: 5", "k: 9"
	if w.strict {
		from, to = to, from
	}
	w.strict = !w.strict
	w.site.replace(t, "constraints: [{"+from+"}]", "constraints: [{"+to+"}]")
	w.site.kproxy(t, "reload").must(t)
	w.settle(t)
}

// withdraw has a table withdrawn for a while: a column that the policy names is another one.
func (w *walk) withdraw(t *testing.T) {
	w.changes++
	admin := connect(t, w.site.admin)
	execute(t, admin, "ALTER TABLE a.folk RENAME note TO note_before")
	eventually(t, "the table is withdrawn", func() bool { return !w.published(t) })
	if got := ask(t.Context(), w.begin(t, false).kept, walkQuestions[2], 0, 0); got.code == "" {
		t.Errorf("a withdrawn table is answered for: %s", got.rows)
	}
	execute(t, admin, "ALTER TABLE a.folk RENAME note_before TO note")
	w.settle(t)
}

// settle waits until everything is published.
func (w *walk) settle(t *testing.T) {
	time.Sleep(300 * time.Millisecond)
	eventually(t, "all is published again", func() bool { return w.published(t) })
	time.Sleep(300 * time.Millisecond)
}

func (w *walk) published(t *testing.T) bool {
	of := connect(t, w.site.url())
	defer func() { _ = of.Close(context.Background()) }()
	got := ask(t.Context(), of.PgConn(), "SELECT count(*) FROM a.folk, b.folk WHERE a.folk.note = b.folk.note", 0, 0)
	return got.code == ""
}
