package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// classesSchema has quasi-identifiers of many types, some of them NULL.
const classesSchema = `CREATE TABLE folk (id int PRIMARY KEY, age int, small int2, big int8, height numeric(6,2), weight float8, born date, town text, sex text, cost numeric(8,2), visits int, ill bool, seen date, note text);
CREATE SEQUENCE folk_id;
CREATE FUNCTION add_folk(n int) RETURNS void LANGUAGE sql AS $$
INSERT INTO folk SELECT nextval('folk_id'), nullif((random() * 90)::int, 13), (random() * 20)::int, 5000000000 + (random() * 30)::int, nullif(round((random() * 100)::numeric, 2), 50.00),
  round(random() * 50), '1950-01-01'::date + (random() * 20000)::int, (ARRAY['Kiel','Husum','Ulm','Passau',NULL])[1 + (random() * 4)::int], (ARRAY['F','M'])[1 + (random())::int],
  nullif(round((random() * 1000)::numeric, 2), 5), (random() * 9)::int - 3, (ARRAY[true,false,NULL])[1 + (random() * 2)::int], '2024-01-01'::date + (random() * 300)::int, nullif('note ' || (random() * 9)::int, 'note 4')
FROM generate_series(1, n) $$;
SELECT add_folk(1500)`

const classesPolicy = `tables:
  public.folk:
    updates: immediate
    constraints: [{k: 3}]
    acknowledge: {joinable: [cost, seen]}
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      small: {role: quasi-identifying, hierarchy: numeric, publish: value}
      big: {role: quasi-identifying, hierarchy: numeric, publish: value}
      height: {role: quasi-identifying, hierarchy: numeric}
      weight: {role: quasi-identifying, hierarchy: numeric, publish: value}
      born: {role: quasi-identifying, hierarchy: date}
      town: {role: quasi-identifying, hierarchy: categorical}
      sex: {role: quasi-identifying, hierarchy: categorical}
      cost: insensitive
      visits: insensitive
      ill: insensitive
      seen: insensitive
      note: insensitive
`

// groupQuestions makes questions about groups. What it makes of what all records of a class show can be
// answered from their summary, the rest only from the release.
type groupQuestions struct {
	rng  *rand.Rand
	from string
}

func (g groupQuestions) one(of []string) string { return of[g.rng.IntN(len(of))] }

// Expressions over what classes show: those to group by, numbers whose sums are exact, and conditions.
var (
	groupKeys = []string{
		"sex", "town", "age / 20", "date_trunc('year', born)", "small", "age_range", "coalesce(town, 'none')", "upper(sex)", "born > '1970-01-01'",
		"CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END", "extract(decade FROM born)", "weight > 20", "length(town)",
	}
	groupNumbers = []string{
		"age", "small", "big", "height", "age * 2 - 1", "age::bigint", "height * 1::numeric", "-small", "coalesce(age, 0)", "CASE WHEN sex = 'F' THEN 1 ELSE 0 END",
		"CASE WHEN sex = 'F' THEN 1 END", "1", "age::numeric", "height / height", "big % big",
	}
	groupConditions = []string{
		"age > 30", "town = 'Kiel'", "town IN ('Ulm', 'Husum')", "born BETWEEN '1960-01-01' AND '1990-01-01'", "age IS NULL", "height > 20.5 OR sex = 'M'", "NOT (small = 3)",
		"born < now()", "born_range @> '1980-05-05'::date", "town LIKE 'K%'", "sex = $1", "age >= $2", "false", "weight < 25",
	}
)

// aggregate is one over what classes show.
func (g groupQuestions) aggregate() string {
	a := ""
	switch g.rng.IntN(9) {
	case 0, 1:
		a = "count(*)"
	case 2:
		a = "count(" + g.one(append(groupKeys, groupNumbers...)) + ")"
	case 3:
		a = "sum(" + g.one(groupNumbers) + ")"
	case 4:
		a = "avg(" + g.one(groupNumbers) + ")"
	case 5:
		a = g.one([]string{"min", "max"}) + "(" + g.one([]string{"age", "town", "born", "height", "weight", "lower(age_range)"}) + ")"
	case 6:
		a = g.one([]string{"bool_and", "bool_or", "every"}) + "(" + g.one(groupConditions[:6]) + ")"
	case 7:
		a = g.one([]string{"count", "sum", "avg"}) + "(DISTINCT " + g.one(groupNumbers) + ")"
	default:
		a = g.one([]string{"bit_or", "bit_and"}) + "(small)"
	}
	if g.rng.IntN(3) == 0 {
		a += " FILTER (WHERE " + g.one(groupConditions) + ")"
	}
	switch g.rng.IntN(12) {
	case 0:
		a = "coalesce((" + a + ")::text, 'nothing')"
	case 1:
		a = "CASE WHEN count(*) > 20 THEN " + a + " END"
	case 2:
		a += "::text"
	}
	return a
}

// question makes one, of which the order of rows is certain.
func (g groupQuestions) question() string {
	var keys, targets []string
	for range g.rng.IntN(3) {
		keys = append(keys, g.one(groupKeys))
	}
	targets = append(targets, keys...)
	for range 1 + g.rng.IntN(3) {
		targets = append(targets, g.aggregate())
	}
	sql := "SELECT " + strings.Join(targets, ", ") + " FROM " + g.from
	if g.rng.IntN(2) == 0 {
		sql += " WHERE " + g.one(groupConditions)
	}
	if len(keys) > 0 {
		by := g.one([]string{"%s", "%s", "ROLLUP (%s)", "CUBE (%s)", "GROUPING SETS ((%s), ())"})
		sql += " GROUP BY " + fmt.Sprintf(by, strings.Join(keys, ", "))
	}
	if g.rng.IntN(4) == 0 {
		sql += " HAVING " + g.one([]string{"count(*) > 30", "count(age) < 100", "sum(small) > 50", "max(age) > 40 AND count(*) FILTER (WHERE sex = 'F') > 3"})
	}
	if len(keys) > 0 {
		var order []string
		for i := range targets {
			order = append(order, fmt.Sprint(i+1))
		}
		sql += " ORDER BY " + strings.Join(order, ", ")
	}
	return sql
}

// answer is the result of a question with its columns, their types and its rows, in one of the ways of the protocol.
func answerOf(ctx context.Context, conn *pgconn.PgConn, sql string, binary bool) string {
	prepared, err := conn.Prepare(ctx, "", sql, nil)
	if err != nil {
		return tell(nil, err).code
	}
	values := [][]byte{[]byte("F"), []byte("40")}[:len(prepared.ParamOIDs)]
	if len(values) == 1 && !strings.Contains(sql, "$1") {
		return "unused parameter"
	}
	var formats []int16
	if binary {
		formats = []int16{1}
	}
	r := conn.ExecPrepared(ctx, "", values, nil, formats).Read()
	told := tell([]*pgconn.Result{r}, r.Err)
	return fmt.Sprint(prepared.ParamOIDs, told.code, string(told.rows))
}

// TestClassesAnswerAsRecords asks generated questions of the summary of classes and of the release, in one
// snapshot each, while records come, change and go.
func TestClassesAnswerAsRecords(t *testing.T) {
	t.Parallel()
	const seed, questions = 7, 600
	t.Logf("seed %d", seed)
	s := ready(t, sqlSite(classesSchema, classesPolicy))
	client := connect(t, s.url())
	conn := client.PgConn()
	var changes atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- changeFolk(ctx, s.admin, &changes) }()
	rng := rand.New(rand.NewPCG(seed, 0))
	summed := groupQuestions{rng, "folk"}
	told := make(map[string]bool)
	eventually(t, "the summary of classes is known to the proxy", func() bool {
		return !strings.Contains(plan(t, client, "SELECT town, count(*) FROM folk GROUP BY town"), "unnest")
	})
	for n := range questions {
		sql := summed.question()
		if strings.Contains(sql, "$2") && !strings.Contains(sql, "$1") {
			sql = strings.ReplaceAll(sql, "$2", "40")
		}
		// A subquery in FROM is not looked into.
		release := strings.Replace(sql, "FROM folk", "FROM (SELECT * FROM folk) AS folk", 1)
		execute(t, client, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		got, want := answerOf(t.Context(), conn, sql, n%2 == 0), answerOf(t.Context(), conn, release, n%2 == 0)
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
		told[got] = true
		execute(t, client, "ROLLBACK")
		if !strings.Contains(sql, "$1") && n%10 == 0 && strings.Contains(plan(t, client, sql), "unnest") {
			t.Errorf("it is asked of the release: %s", sql)
		}
	}
	cancel()
	if err := <-done; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	t.Logf("%d answers, %d changes", len(told), changes.Load())
	if len(told) < questions/3 || changes.Load() < 20 {
		t.Error("that is too few to say anything")
	}
}

// plan is that of a question as clients see it.
func plan(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	var lines strings.Builder
	rows, err := conn.Query(t.Context(), "EXPLAIN (COSTS off) "+sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&lines, line)
	}
	if rows.Err() != nil {
		t.Fatalf("%s: %v", sql, rows.Err())
	}
	return lines.String()
}

// changeFolk changes the source until the context ends.
func changeFolk(ctx context.Context, url string, changes *atomic.Int64) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		for _, sql := range []string{
			"SELECT add_folk(5)", "UPDATE folk SET age = (random() * 90)::int WHERE id % 101 = (random() * 100)::int",
			"UPDATE folk SET note = 'changed', town = 'Ulm' WHERE id % 101 = (random() * 100)::int", "DELETE FROM folk WHERE id IN (SELECT id FROM folk ORDER BY random() LIMIT 4)",
		} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
			changes.Add(1)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// TestClassesAreHidden: clients find no trace of the summary of classes and cannot name it, the check of what
// the reader can reach knows it, and finds it out where it shows more.
func TestClassesAreHidden(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(classesSchema, classesPolicy))
	admin, client := connect(t, s.admin), connect(t, s.url())
	name := catalog.Classes(catalog.Name{Schema: "public", Relation: "folk"})
	of := func(conn *pgx.Conn, what string) int {
		return scalar[int](t, conn, "SELECT count(*) FROM "+what, pgx.QueryExecModeSimpleProtocol)
	}
	places := []string{
		"pg_class WHERE relname LIKE 'classes%'", "pg_views WHERE viewname LIKE 'classes%'", "pg_type WHERE typname LIKE '%classes\\_%'",
		"pg_attribute WHERE attname = 'kproxy_count'", "information_schema.tables WHERE table_name LIKE 'classes%'", "information_schema.columns WHERE column_name = 'kproxy_count'",
		"information_schema.table_privileges WHERE table_name LIKE 'classes%'", "pg_description WHERE description LIKE '%kproxy_count%'",
	}
	for _, place := range places {
		if n := of(client, place); n != 0 {
			t.Errorf("clients find %d in %s", n, place)
		}
	}
	if of(admin, places[0]) != 1 {
		t.Error("there is no summary to be found")
	}
	for _, sql := range []string{
		"SELECT * FROM " + name.SQL(), "SELECT * FROM " + name.Relation, "SELECT '" + name.SQL() + "'::regclass", "SELECT kproxy_count FROM folk",
		"SELECT sum(kproxy_count) FROM folk", "SELECT folk.kproxy_count FROM folk GROUP BY 1", "SELECT age, count(*) FROM folk GROUP BY age, kproxy_count", "SELECT NULL::" + name.SQL(),
	} {
		if _, err := client.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("clients may ask %s", sql)
		} else if strings.Contains(err.Error(), "classes_") && !strings.Contains(sql, "classes_") {
			t.Errorf("%s tells the name: %v", sql, err)
		}
	}
	if plan := plan(t, client, "SELECT town, count(*) FROM folk GROUP BY town ORDER BY count(*)"); strings.Contains(plan, "kproxy") || strings.Contains(plan, "classes") || strings.Contains(plan, "unnest") {
		t.Errorf("the plan tells of the summary, or is not of it:\n%s", plan)
	}
	for sql, want := range map[string]bool{"SELECT sex, count(*) FROM folk GROUP BY sex": true, "SELECT note, count(*) FROM folk GROUP BY note": false} {
		if said := s.kproxy(t, "explain", sql).must(t).stdout; strings.Contains(said, "from classes") != want {
			t.Errorf("of %s explain says %s", sql, said)
		}
	}
	s.kproxy(t, "setup").must(t) // which makes the stand-ins anew
	s.kproxy(t, "check").must(t)
	if of(admin, places[0]) != 1 {
		t.Error("the summary has gone")
	}
	definition := scalar[string](t, admin, "SELECT pg_get_viewdef($1::text::regclass)", name.SQL())
	shown, rest, _ := strings.Cut(definition, "cardinality(p.kproxy_members) AS kproxy_count")
	for _, more := range []string{"kproxy_class AS town_class", "kproxy_section AS part", "kproxy_members AS rest", "length(kproxy_members::text) + kproxy_class AS n", "(SELECT count(*) FROM folk) AS n"} {
		execute(t, admin, "CREATE OR REPLACE VIEW "+name.SQL()+" AS "+shown+"cardinality(p.kproxy_members) AS kproxy_count, "+more+rest)
		if said := s.kproxy(t, "check"); said.code == 0 || !strings.Contains(said.stdout+said.stderr, name.Relation) {
			t.Errorf("check does not tell of %q: %s%s", more, said.stdout, said.stderr)
		}
		execute(t, admin, "DROP VIEW "+name.SQL())
		execute(t, admin, "CREATE VIEW "+name.SQL()+" AS "+definition)
		execute(t, admin, "GRANT SELECT, REFERENCES ON "+name.SQL()+" TO "+s.reader)
	}
	execute(t, admin, "DROP VIEW "+name.SQL())
	eventually(t, "without the summary, the release answers", func() bool {
		_, err := client.Exec(t.Context(), "SELECT town, count(*) FROM folk GROUP BY town", pgx.QueryExecModeSimpleProtocol)
		return err == nil
	})
}

// TestClassesOutliveGenerations: who has prepared a question is answered while the release is made anew, and those
// who ask of a table that has no summary any more are answered from its release.
func TestClassesOutliveGenerations(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(classesSchema, classesPolicy))
	admin, client := connect(t, s.admin), connect(t, s.url())
	const sql = "SELECT town, count(*), avg(age) FROM folk GROUP BY town ORDER BY town"
	if _, err := client.Prepare(t.Context(), "groups", sql); err != nil {
		t.Fatal(err)
	}
	ask := func(sql string) string {
		r := client.PgConn().ExecPrepared(t.Context(), sql, nil, nil, nil).Read()
		return fmt.Sprintf("%q %v", r.Rows, r.Err)
	}
	generation := func() int {
		return scalar[int](t, admin, "SELECT coalesce(max(generation) FILTER (WHERE shows IS NULL), 0) FROM kproxy_store.generation")
	}
	before, answers := generation(), 0
	want := ask("groups")
	s.kproxy(t, "rebuild", "public.folk").must(t)
	eventually(t, "there is another generation", func() bool {
		if got := ask("groups"); got != want && !strings.Contains(got, "<nil>") {
			t.Fatalf("meanwhile it is told %s", got)
		}
		answers++
		return generation() > before
	})
	var direct strings.Builder
	rows := connect(t, s.readerURL()).PgConn().ExecParams(t.Context(), strings.Replace(sql, "folk", "kproxy_release_public.folk", 1), nil, nil, nil, nil).Read()
	fmt.Fprintf(&direct, "%q %v", rows.Rows, rows.Err)
	if got := ask("groups"); got != direct.String() {
		t.Errorf("%s, not %s", got, direct.String())
	}
	t.Logf("%d answers meanwhile", answers)
	s.replace(t, "updates: immediate", guardedUpdates)
	s.kproxy(t, "reload").must(t)
	eventually(t, "updates are guarded", func() bool {
		return scalar[int](t, admin, "SELECT count(*) FROM kproxy_store.generation WHERE updates = 'guarded' AND shows IS NULL") == 1
	})
	if n := scalar[int](t, admin, "SELECT count(*) FROM pg_class WHERE relname LIKE 'classes%'"); n != 0 {
		t.Errorf("a guarded table has %d summaries", n)
	}
	eventually(t, "the release answers", func() bool {
		conn, err := pgx.Connect(t.Context(), s.url()) // sessions have ended with what they had read
		if err != nil {
			return false
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		r := conn.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, nil).Read()
		return r.Err == nil && len(r.Rows) > 0
	})
}
