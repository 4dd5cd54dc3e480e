package rewrite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// faultyTexts have errors that PostgreSQL gives a position.
var faultyTexts = strings.Split(strings.TrimSpace(`
SELECT nope FROM patients
SELECT age, nope FROM patients
SELECT p.nope FROM patients p
SELECT patients.nope FROM patients
SELECT q.age FROM patients p
SELECT public.patients.nope FROM public.patients
SELECT hospital.patients.age FROM patients
SELECT age FROM patients WHERE nope = 1
SELECT age FROM patients WHERE count(*) > 1
SELECT age, count(*) FROM patients
SELECT age, count(*) FROM patients GROUP BY ward
SELECT age + 1 FROM patients GROUP BY age % 2
SELECT ward FROM patients GROUP BY ward HAVING age > 1
SELECT ward FROM patients ORDER BY nope
SELECT ward FROM patients GROUP BY 3
SELECT ward FROM patients ORDER BY 7
SELECT DISTINCT ward FROM patients ORDER BY age
SELECT age FROM patients a JOIN wards b ON a.ward = b.nope
SELECT name FROM patients a JOIN wards b ON ward = ward
SELECT beds FROM wards a, wards b
SELECT age FROM patients JOIN wards w ON w.age = 1
SELECT age FROM patients WHERE age = 'abc'
SELECT age FROM patients WHERE age IN (1, 2, 'x')
SELECT age FROM patients WHERE age BETWEEN 'a' AND 3
SELECT age FROM patients WHERE admission > 'yesterdayish'
SELECT age FROM patients WHERE age || ward
SELECT age FROM patients WHERE age
SELECT age FROM patients WHERE ward + 1 > 0
SELECT age FROM patients WHERE NOT age
SELECT age FROM patients WHERE age AND true
SELECT age FROM patients WHERE age LIKE 5
SELECT age FROM patients WHERE ward > 5
SELECT 'x'::int FROM patients
SELECT CAST('x' AS date) FROM patients
SELECT age, 'x'::boolean FROM patients
SELECT true::date FROM patients
SELECT CAST(admission AS boolean) FROM patients
SELECT INT 'x', age FROM patients
SELECT lower(age) FROM patients
SELECT round(cost, 'a') FROM patients
SELECT sum(ward) FROM patients
SELECT sum(sum(age)) FROM patients
SELECT abs(age, 1) FROM patients
SELECT coalesce(age, ward) FROM patients
SELECT CASE WHEN age > 1 THEN 1 ELSE admission END FROM patients
SELECT CASE WHEN age THEN 1 END FROM patients
SELECT greatest(age, admission) FROM patients
SELECT nullif(age, admission) FROM patients
SELECT ARRAY[age, ward] FROM patients
SELECT (age).nope FROM patients
SELECT (p).nope FROM patients p
SELECT age[1] FROM patients
SELECT age COLLATE "C" FROM patients
SELECT ward COLLATE "nope" FROM patients
SELECT row_number() FROM patients
SELECT row_number() OVER w FROM patients
SELECT sum(age) OVER (ORDER BY nope) FROM patients
SELECT age FROM patients WHERE row_number() OVER () = 1
SELECT (SELECT age, ward FROM patients) FROM wards
SELECT age FROM patients WHERE age = (SELECT ward, age FROM patients)
SELECT age FROM patients WHERE (age, ward) = (1, 2, 3)
SELECT age FROM patients WHERE age IN (SELECT ward FROM wards)
SELECT age FROM patients UNION SELECT admission FROM patients
SELECT age FROM patients UNION SELECT age, ward FROM patients
SELECT age FROM patients UNION SELECT ward FROM patients ORDER BY nope
SELECT x.age FROM (SELECT ward FROM patients) x
SELECT * FROM (SELECT nope FROM patients) x
WITH a AS (SELECT age FROM patients) SELECT ward FROM a
WITH a AS (SELECT nope FROM patients) SELECT * FROM a
WITH a (x, y) AS (SELECT age FROM patients) SELECT * FROM a
WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a, patients
SELECT age FROM patients LIMIT nope
SELECT age FROM patients LIMIT 'x'
SELECT age FROM patients, generate_series(1, 'x') g
SELECT age FROM patients p, generate_series(1, q.age) g
SELECT * FROM patients p, (SELECT p.age) x
SELECT 1, 2 AS "ä", 'öü', nope FROM patients
SELECT 'äöü€', age = 'abc' FROM patients
SELECT 1 FROM patients; SELECT nope FROM patients
SELECT 1; SELECT 'ä' FROM wards; SELECT  age  ,  nope  FROM  patients
SELECT  /* a comment */  nope -- and more, FROM patients
EXPLAIN SELECT nope FROM patients
DECLARE c CURSOR FOR SELECT age, nope FROM patients
COPY (SELECT nope FROM patients) TO STDOUT
PREPARE q AS SELECT nope FROM patients
VALUES (1), (2, 3)
VALUES (1), ('x')
SELECT count(DISTINCT age ORDER BY ward) FROM patients
SELECT string_agg(DISTINCT ward, ',' ORDER BY age) FROM patients
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ward) FROM patients
SELECT extract(nope FROM admission), position(1 IN ward) FROM patients
SELECT substring(age FROM 1 FOR 2) FROM patients
SELECT admission AT TIME ZONE 5 FROM patients
SELECT admission - interval 'abc' FROM patients
SELECT current_schema(), nope FROM patients
SELECT pg_typeof(nope) FROM patients
SELECT current_schemas(true), age || 5 FROM patients
SELECT lower(current_setting('timezone')) + 1 FROM patients
SELECT - ward FROM patients
SELECT age <=> 5 FROM patients
SELECT grouping(age) FROM patients
SELECT * FROM patients TABLE
SELECT age FROM patients GROUP BY GROUPING SETS ((nope), ())
SELECT $1 + nope FROM patients
SELECT 1 FROM pg_class WHERE age(xmin) AND true
SELECT 1 FROM pg_class WHERE true AND tableoid
SELECT 1 FROM pg_class WHERE NOT oid::regclass::text
`), "\n")

// reported is the position that the server gives for a text's error; 0 without one.
func reported(t *testing.T, conn *pgconn.PgConn, sql string) int {
	t.Helper()
	_, err := conn.Exec(context.Background(), sql).ReadAll()
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return 0
	}
	return int(failure.Position)
}

// TestPositions: for a client, an error in a text over a published relation stands
// where PostgreSQL says for that text over a table of its own with those columns.
func TestPositions(t *testing.T) {
	url := pgtest.Database(t, pgtest.Shared(t))
	own, published := connect(t, url, nil), connect(t, url, map[string]string{"search_path": ""})
	if a := ask(own, `
		CREATE TABLE patients (age int, sex text, ward int, cost numeric, diagnosis text, admission timestamp);
		CREATE TABLE wards (id int, name text, beds int, ward int);
		CREATE SCHEMA kproxy_release_public;
		CREATE SCHEMA kproxy_catalog;
		CREATE VIEW kproxy_catalog.pg_class AS TABLE pg_class;
		CREATE TABLE kproxy_release_public.patients (LIKE patients);
		CREATE TABLE kproxy_release_public.wards (LIKE wards)`); a.state != "" {
		t.Fatal(a.state)
	}
	r := clinicRewriter()
	compared := 0
	for _, sql := range faultyTexts {
		statement, err := r.Rewrite(sql, nil)
		if err != nil {
			var refusal *Refusal
			if errors.As(err, &refusal) && refusal.SQLState() == stateInternal {
				t.Errorf("%s: %v", sql, err)
			}
			continue // a position of kproxy's own
		}
		want := reported(t, own, sql)
		sent := reported(t, published, statement.SQL)
		if want == 0 && sent == 0 {
			continue
		}
		compared++
		if got := r.Position(sql, nil, sent); got != want {
			t.Errorf("%s\nsent: %s\nthe server says %d there and %d of the client's text; mapped: %d", sql, statement.SQL, sent, want, got)
		}
	}
	t.Logf("%d texts", compared)
	if compared < 60 {
		t.Errorf("only %d texts have a position", compared)
	}
}

// TestPositionsAreSane: whatever the place, the answer lies in the text.
func TestPositionsAreSane(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, sql := range corpus(t) {
		statement, err := r.Rewrite(sql, nil)
		if err != nil || len(sql) > 300 {
			continue
		}
		last := 0
		for sent := -1; sent <= len(statement.SQL)+2; sent += 1 + len(statement.SQL)/4 {
			last = r.Position(sql, nil, sent)
			if last < 0 || last > len([]rune(sql))+1 || sent <= 0 && last != 0 {
				t.Fatalf("%s: %d becomes %d", sql, sent, last)
			}
		}
	}
	if r.Position("SELECT age FROM patients", nil, 0) != 0 || r.Position("SELECT age FROM patients", nil, 99) == 0 {
		t.Error("the place that is none leads into the text")
	}
	if r.Position("SELECT * FROM nowhere", nil, 5) != 0 || r.Position("SELECT '", nil, 1) != 0 {
		t.Error("a refused text has positions")
	}
}

// TestPositionsOfWhatIsAdded: all that takes the place of an expression has the expression's position,
// which is that of the value where a value is cast, but for what the client wrote inside of it.
func TestPositionsOfWhatIsAdded(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, sql := range []string{
		"SELECT concat('x', age::regclass) FROM patients",
		"SELECT concat('x', obj_description(age, 'pg_class')) FROM patients",
	} {
		statement, err := r.Rewrite(sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		begins := len("SELECT concat('x', ") + 1
		from, to := strings.Index(statement.SQL, "(SELECT"), strings.LastIndex(statement.SQL, "))")
		if from < 0 || r.Position(sql, nil, from+1) != begins {
			t.Errorf("%s begins at %d, not at %d", statement.SQL, r.Position(sql, nil, from+1), begins)
		}
		for at := from; at < to; at++ {
			if got := r.Position(sql, nil, at+1); got < begins {
				t.Fatalf("%s: %q is at %d, before %d", sql, statement.SQL[at:], got, begins)
			}
		}
	}
}

// TestOffsets counts characters from 1, as messages do.
func TestOffsets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text    string
		n, want int
	}{
		{"abc", 1, 0}, {"abc", 2, 1}, {"abc", 3, 2}, {"abc", 4, 3}, {"abc", 9, 3}, {"äb", 1, 0}, {"äb", 2, 2}, {"äb", 3, 3}, {"", 1, 0},
	} {
		if got := byteOffset(test.text, test.n); int(got) != test.want {
			t.Errorf("character %d of %q is at %d, want %d", test.n, test.text, got, test.want)
		}
	}
}
