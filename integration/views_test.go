package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Two protected tables, one that is readable, one that is neither, and views of all kinds.
const (
	viewedSchema = `
CREATE TYPE sex AS ENUM ('f', 'm');
CREATE TABLE patients (id int PRIMARY KEY, name text, age int, cost int, sex sex, ward text);
INSERT INTO patients SELECT i, 'Canary' || i, i % 17, i * 10, (ARRAY['f', 'm'])[1 + i % 2]::sex, 'ward ' || i % 3 FROM generate_series(1, 90) i;
CREATE TABLE wards (ward text PRIMARY KEY, floor int);
INSERT INTO wards SELECT 'ward ' || i, i FROM generate_series(0, 3) i;
CREATE TABLE secrets (ward text, word text);
INSERT INTO secrets VALUES ('ward 1', 'Canary0');
CREATE FUNCTION mask(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE SCHEMA reports;
CREATE SCHEMA "Odd Schema";
CREATE VIEW overview AS SELECT * FROM patients;
CREATE VIEW by_ward AS SELECT ward, count(*) AS n, avg(age) AS mean FROM overview GROUP BY ward HAVING count(*) > 1;
CREATE VIEW reports.overview AS SELECT ward, floor, p.age FROM patients p JOIN wards w USING (ward);
CREATE VIEW reports.third AS SELECT max(n) AS most FROM by_ward;
CREATE VIEW "Odd Schema"."Odd View" AS SELECT age AS "The Age", ward FROM patients WHERE sex IN ('f', 'm') AND sex = 'f';
CREATE VIEW guarded WITH (security_barrier) AS SELECT age, ward FROM patients WHERE age > 3;
CREATE RECURSIVE VIEW counting(ward, n) AS
  SELECT ward, 1 FROM wards UNION ALL SELECT ward, n + 1 FROM counting WHERE n < 3 AND ward IN (SELECT ward FROM patients);
CREATE VIEW oldest AS WITH w AS (SELECT ward FROM wards) SELECT DISTINCT ON (ward) ward, age FROM patients JOIN w USING (ward) ORDER BY ward, age DESC;
CREATE VIEW ranked AS SELECT ward, age, rank() OVER (PARTITION BY ward ORDER BY age) AS place FROM patients;
CREATE VIEW older AS SELECT w.ward, l.n FROM wards w, LATERAL (SELECT count(*) AS n FROM patients p WHERE p.ward = w.ward AND p.age > w.floor) l;
CREATE VIEW renamed AS SELECT ward AS a, age AS b FROM patients UNION ALL SELECT ward, floor FROM wards;
ALTER VIEW renamed RENAME COLUMN a TO place;
CREATE VIEW invoker AS SELECT ward FROM patients;
CREATE VIEW sampled AS SELECT age FROM patients TABLESAMPLE bernoulli (100);
CREATE VIEW plain AS SELECT ward, floor FROM wards;

CREATE VIEW named AS SELECT age FROM patients WHERE name LIKE 'C%';
CREATE VIEW over_named AS SELECT age FROM named;
CREATE VIEW joined AS SELECT p.age, s.word FROM patients p JOIN secrets s USING (ward);
CREATE VIEW masked AS SELECT mask(age) AS age FROM patients;
CREATE VIEW mistyped AS SELECT cost + 1 AS more FROM patients;
CREATE VIEW unlisted AS SELECT name FROM patients;
CREATE VIEW over_unlisted AS SELECT count(*) FROM unlisted;
CREATE MATERIALIZED VIEW copies AS SELECT age FROM patients;`

	viewedTables = `tables:
  public.patients:
    updates: immediate
    constraints: [{k: 3}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      cost: {role: quasi-identifying, hierarchy: numeric, publish: range}
      sex: sensitive
      ward: insensitive
`
	viewedReadable = `readable: [public.wards, public.plain, public.overview, public.by_ward, reports.overview, reports.third,
  'Odd Schema.Odd View', public.guarded, public.counting, public.oldest, public.ranked, public.older, public.renamed, public.invoker,
  public.named, public.over_named, public.joined, public.masked, public.sampled, public.mistyped, public.over_unlisted]
`
)

func viewedSite() siteOptions { return sqlSite(viewedSchema, viewedTables+viewedReadable) }

// texts are the rows of a query, sorted, as texts.
func texts(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := queryTexts(t, conn, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func queryTexts(t *testing.T, conn *pgx.Conn, sql string) ([]string, error) {
	t.Helper()
	result, err := conn.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var rows []string
	for result.Next() {
		var row []string
		for _, raw := range result.RawValues() {
			row = append(row, fmt.Sprintf("%q", raw))
		}
		rows = append(rows, strings.Join(row, " "))
	}
	slices.Sort(rows)
	return rows, result.Err()
}

// refusal is the server's error to a query, which must fail.
func refusal(t *testing.T, conn *pgx.Conn, sql string) *pgconn.PgError {
	t.Helper()
	_, err := queryTexts(t, conn, sql)
	refused := (*pgconn.PgError)(nil)
	if !errors.As(err, &refused) {
		t.Fatalf("%s: not refused: %v", sql, err)
	}
	return refused
}

// TestViewsShowWhatTheirQueriesWould compares every published view with its query,
// written by hand over the published tables.
func TestViewsShowWhatTheirQueriesWould(t *testing.T) {
	t.Parallel()
	s := ready(t, viewedSite())
	client := connect(t, s.url())
	for _, c := range []struct{ view, query string }{
		{"plain", "SELECT ward, floor FROM wards"},
		{"overview", "SELECT age, cost, sex, ward FROM patients"},
		{"by_ward", "SELECT ward, count(*), avg(age) FROM patients GROUP BY ward HAVING count(*) > 1"},
		{"reports.overview", "SELECT ward, floor, age FROM patients JOIN wards USING (ward)"},
		{"reports.third", "SELECT max(n) FROM (SELECT count(*) AS n FROM patients GROUP BY ward) w"},
		{`"Odd Schema"."Odd View"`, "SELECT age, ward FROM patients WHERE sex = 'f'"},
		{"sampled", "SELECT age FROM patients"},
		{"guarded", "SELECT age, ward FROM patients WHERE age > 3"},
		{"counting", "SELECT ward, n FROM wards, generate_series(1, 3) n WHERE n = 1 OR ward IN (SELECT ward FROM patients)"},
		{"oldest", "SELECT ward, max(age) FROM patients GROUP BY ward"},
		{"ranked", "SELECT ward, age, rank() OVER (PARTITION BY ward ORDER BY age) FROM patients"},
		{"older", "SELECT w.ward, count(p.age) FROM wards w LEFT JOIN patients p ON p.ward = w.ward AND p.age > w.floor GROUP BY w.ward"},
		{"(SELECT place, b FROM renamed)", "SELECT ward, age FROM patients UNION ALL SELECT ward, floor FROM wards"},
	} {
		got, want := texts(t, client, "SELECT * FROM "+c.view+" v"), texts(t, client, c.query)
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: got %d rows, want %d\n%v\n%v", c.view, len(got), len(want), got, want)
		}
	}
	t.Run("definitions", func(t *testing.T) { testViewMetadata(t, s, client) })
	t.Run("withdrawn", func(t *testing.T) { testWithdrawnViews(t, s, client) })
	t.Run("grants", func(t *testing.T) { testViewGrants(t, s) })
	t.Run("reader alone", func(t *testing.T) { testViewsBehindGrants(t, s) })
}

// testViewMetadata looks at views as tools do: under their own schemas, once.
func testViewMetadata(t *testing.T, s *site, client *pgx.Conn) {
	listed := psql(t, s.url(), `\dv *.*`).must(t).stdout
	for _, want := range []string{"public|overview|view", "reports|overview|view", "reports|third|view", `Odd Schema|Odd View|view`} {
		if strings.Count(listed, want) != 1 {
			t.Errorf("\\dv shows %q not once:\n%s", want, listed)
		}
	}
	for _, hidden := range []string{"kproxy", "unlisted", "|named|", "joined", "mistyped"} {
		if strings.Contains(listed, hidden) {
			t.Errorf("\\dv shows %s:\n%s", hidden, listed)
		}
	}
	described := psql(t, s.url(), `\d overview`).must(t).stdout
	if want := "age|integer|||\ncost|int4range|||\nsex|"; !strings.HasPrefix(described, want) || strings.Count(described, "\n") != 4 {
		t.Errorf("\\d overview shows\n%s", described)
	}
	for _, c := range []struct{ query, want string }{
		{"SELECT table_schema, column_name FROM information_schema.columns WHERE table_name = 'Odd View'", `"Odd Schema" "The Age"|"Odd Schema" "ward"`},
		{"SELECT count(*) FROM information_schema.tables WHERE table_name = 'overview'", `"2"`},
		{"SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = 'reports.third'::regclass", `"reports" "third"`},
		{"SELECT obj_description('overview'::regclass, 'pg_class')", `"A view over published tables. 2 columns of its definition are not published."`},
	} {
		if got := strings.Join(texts(t, client, c.query), "|"); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.query, got, c.want)
		}
	}
	for _, query := range []string{"SELECT * FROM pg_views", "SELECT * FROM information_schema.views", "SELECT * FROM pg_description"} {
		rows, err := queryTexts(t, client, query)
		if text := strings.Join(rows, "\n"); err == nil && (strings.Contains(text, "kproxy_") || strings.Contains(text, "name LIKE")) {
			t.Errorf("%s shows what it must not:\n%s", query, text)
		}
	}
}

// testWithdrawnViews wants a clear word for the client, that names nothing hidden, and the
// reason for the operator.
func testWithdrawnViews(t *testing.T, s *site, client *pgx.Conn) {
	check, status := s.kproxy(t, "check").must(t).stdout, s.kproxy(t, "status").stdout
	for view, reason := range map[string]string{
		"named":         "it computes with column name of public.patients, which is not published",
		"over_named":    "it reads view public.named, which is not published",
		"joined":        "it reads public.secrets, which is not listed under readable",
		"masked":        "permission denied for function public.mask",
		"mistyped":      "operator does not exist: int4range + integer",
		"over_unlisted": "it reads view public.unlisted, which shows protected rows and is not listed under readable",
	} {
		refused := refusal(t, client, "SELECT * FROM "+view)
		if refused.Code != "55000" || !strings.Contains(refused.Hint, "operator") || strings.Contains(refused.Message+refused.Hint+refused.Detail, "name ") {
			t.Errorf("%s: got %s %s (%s)", view, refused.Code, refused.Message, refused.Hint)
		}
		for where, text := range map[string]string{"check": check, "status": status} {
			if !strings.Contains(text, "public."+view) || !strings.Contains(text, reason) {
				t.Errorf("%s does not say of %s that %s:\n%s", where, view, reason, text)
			}
		}
	}
	if refused := refusal(t, client, "SELECT * FROM unlisted"); refused.Code != "42501" || !strings.Contains(refused.Hint, "listing it under readable") {
		t.Errorf("an unlisted view: %s %s (%s)", refused.Code, refused.Message, refused.Hint)
	}
	if want := "the view is published without what is not published of its tables: id, name"; !strings.Contains(check, want) {
		t.Errorf("check does not say that columns are left out:\n%s", check)
	}
}

// testViewGrants looks for what setup has granted, and for a grant that somebody else made.
func testViewGrants(t *testing.T, s *site) {
	admin := connect(t, s.admin)
	for relation, want := range map[string]bool{"overview": false, "named": false, "plain": false, "wards": false, "kproxy_release_public.plain": true, "kproxy_release_public.wards": true, "kproxy_release_public.overview": true} {
		if got := scalar[bool](t, admin, "SELECT has_table_privilege($1, $2, 'SELECT')", s.reader, relation); got != want {
			t.Errorf("%s: readable is %t", relation, got)
		}
	}
	execute(t, admin, "GRANT SELECT ON overview TO PUBLIC")
	if out := s.kproxy(t, "check"); out.code == 0 || !strings.Contains(out.stdout, "PUBLIC has SELECT on it, and it shows rows of public.patients") {
		t.Errorf("check does not see the grant: %d\n%s", out.code, out.stdout)
	}
	execute(t, admin, "REVOKE SELECT ON overview FROM PUBLIC")
	s.kproxy(t, "check").must(t)
}

// testViewsBehindGrants reads everything that the reader role can read, without kproxy: no
// raw name is in it.
func testViewsBehindGrants(t *testing.T, s *site) {
	reader := connect(t, s.readerURL())
	views := texts(t, reader, `SELECT c.oid::regclass FROM pg_class c WHERE relkind = 'v' AND c.oid >= 16384
		AND has_table_privilege(c.oid, 'SELECT') AND relnamespace <> 'kproxy_catalog'::regnamespace`)
	if len(views) < 12 {
		t.Errorf("the reader may read only %v", views)
	}
	for _, quoted := range views {
		var view string
		if _, err := fmt.Sscanf(quoted, "%q", &view); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(texts(t, reader, "SELECT * FROM "+view+" v"), "\n"); strings.Contains(text, "Canary") {
			t.Errorf("%s shows raw names", view)
		}
		for _, column := range texts(t, reader, "SELECT attname FROM pg_attribute WHERE attrelid = "+"'"+strings.ReplaceAll(view, "'", "''")+"'::regclass AND attnum > 0") {
			if column == `"name"` || column == `"id"` || column == `"word"` {
				t.Errorf("%s has the column %s", view, column)
			}
		}
	}
}
