package integration

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestHiddenIsAbsent asks for what the server has and clients do not see, and for the like that
// is not there, under a name as long: the errors are the same in every field. Of tables and views
// alone it is told that they are not published (42501).
func TestHiddenIsAbsent(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TABLE people (id int PRIMARY KEY, age int, hidden text);
		INSERT INTO people SELECT i, i % 5, 'x' FROM generate_series(1, 30) i;
		CREATE TABLE hidden (a int); CREATE SEQUENCE hiddenseq; CREATE TYPE hiddentype AS ENUM ('a'); CREATE DOMAIN hiddendomain AS int;
		CREATE SCHEMA hidden; CREATE SCHEMA "hid
den"; CREATE TABLE hidden.there (a int); CREATE FUNCTION hidden(int) RETURNS int LANGUAGE SQL AS 'SELECT 1'; CREATE FUNCTION hidden.f() RETURNS int LANGUAGE SQL AS 'SELECT 1';
		CREATE AGGREGATE hiddenagg (int) (SFUNC = int4pl, STYPE = int); CREATE FUNCTION hiddenop(int, text) RETURNS int LANGUAGE SQL AS 'SELECT 1';
		CREATE COLLATION hidden (LOCALE = 'C'); CREATE TEXT SEARCH CONFIGURATION hidden (COPY = simple); CREATE ROLE hidden; CREATE VIEW hiddenview AS SELECT 1 AS a;
		CREATE FOREIGN DATA WRAPPER hidden; CREATE SERVER hidden FOREIGN DATA WRAPPER hidden; CREATE CAST (text AS hiddentype) WITH INOUT AS IMPLICIT; CREATE OPERATOR public.=%= (LEFTARG = int, RIGHTARG = text, FUNCTION = hiddenop)`,
		`tables:
  public.people:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
`))
	conn := connect(t, s.url())
	for _, sql := range []string{
		"SELECT * FROM hiddenseq", "SELECT hidden.there.a FROM people",
		"SELECT hidden FROM people", "SELECT people.hidden FROM people", "SELECT (people).hidden FROM people", "SELECT 1 FROM people WHERE hidden = 'x'", "SELECT p.age FROM people p JOIN people q USING (hidden)",
		"SELECT hidden(1)", "SELECT public.hidden(1)", "SELECT hidden.f()", "SELECT hiddenagg(age) FROM people", "SELECT * FROM hidden(1)",
		"SELECT 'a'::hiddentype", "SELECT 1::hiddendomain", "SELECT 'a'::text::public.hiddentype", "SELECT NULL::hidden", "SELECT NULL::hidden[]", "SELECT CAST(NULL AS hidden.there)",
		"SELECT 'a' COLLATE hidden", `SELECT 'a' < 'b' COLLATE "hidden"`, "SELECT to_tsvector('hidden', 'x')", "SELECT to_tsvector('hidden.simple', 'x')", "SELECT to_tsquery('hidden.simple', 'x')", "SELECT to_tsvector(CASE WHEN true THEN 'hidden.simple' ELSE get_current_ts_config() END, 'x')",
		"SELECT 'hidden'::regclass", "SELECT 'hidden'::regtype", "SELECT 'hidden(int)'::regprocedure",
		"SELECT 'hidden'::regrole", "SELECT 'hidden'::regnamespace", "SELECT 'hidden'::regcollation", "SELECT 'hidden'::regconfig", "SELECT 'hidden'::regproc",
		"SELECT has_table_privilege('hidden', 'SELECT')", "SELECT has_schema_privilege('hidden', 'USAGE')", "SELECT pg_relation_size('hidden')", "SELECT has_column_privilege('people', 'hidden', 'SELECT')",
		"SELECT pg_has_role('hidden', 'USAGE')", "SELECT pg_has_role('hidden', current_user, 'MEMBER')", "SELECT pg_has_role('hidden'::name, 'MEMBER')", "SELECT has_table_privilege('hidden', 'people', 'SELECT')",
		"SELECT has_column_privilege('hidden', 'people', 'age', 'SELECT')", "SELECT has_schema_privilege('hidden', 'public', 'USAGE')", "SELECT has_database_privilege('hidden', current_database(), 'CONNECT')",
		"SELECT has_type_privilege('hidden', 'int', 'USAGE')", "SELECT has_function_privilege('hidden', 'abs(int)', 'EXECUTE')", "SELECT has_language_privilege('hidden', 'plpgsql', 'USAGE')",
		"SELECT has_server_privilege('hidden', 'USAGE')", "SELECT has_foreign_data_wrapper_privilege('hidden', 'USAGE')", "SELECT has_tablespace_privilege('hidden', 'pg_default', 'CREATE')", "SELECT has_any_column_privilege(r, 'people', 'SELECT') FROM (VALUES ('hidden')) v (r)",
		"SELECT 1 =%= 'hidden'::text", "SELECT 1 OPERATOR(public.=%=) 'hidden'::text", "COPY people (hidden) TO STDOUT", "PREPARE x (hiddentype) AS SELECT $1",
		"SET search_path = hidden", "SET default_text_search_config = 'hidden.simple'", "SELECT set_config('default_text_search_config', 'hidden.simple', false)", "SELECT to_tsvector('\"hid\nden\".simple', 'x')", "SET ROLE hidden", "SELECT * FROM people AS OF hidden", "SELECT to_regclass('hidden')", "SELECT col_description('hidden'::regclass, 1)",
	} {
		absent := strings.NewReplacer("hidden", "absent", "hid\nden", "abs\nent", "=%=", "=~=").Replace(sql)
		there, missing := outcomeOf(t, conn, sql), strings.NewReplacer("absent", "hidden", "abs\nent", "hid\nden").Replace(outcomeOf(t, conn, absent))
		switch {
		case there != strings.ReplaceAll(missing, "=~=", "=%="):
			t.Errorf("%s:\n  there  %s\n  absent %s", sql, there, missing)
		case strings.Contains(there, "XX000"):
			t.Errorf("%s: %s", sql, there)
		case testing.Verbose():
			t.Logf("%s: %s", sql, there)
		}
	}
}

// outcomeOf is what a client learns from a statement: its rows, or all fields of its error.
func outcomeOf(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
	var text strings.Builder
	for _, result := range results {
		for _, row := range result.Rows {
			for _, value := range row {
				text.Write(append(value, ' '))
			}
		}
	}
	if refusal := (*pgconn.PgError)(nil); errors.As(err, &refusal) {
		text.WriteString(strings.Join([]string{refusal.Severity, refusal.Code, refusal.Message, refusal.Detail, refusal.Hint, strconv.Itoa(int(refusal.Position)), refusal.Routine}, "|"))
	} else if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
