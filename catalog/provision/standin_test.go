package provision_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

// published makes by hand what the release of patients looks like.
const published = `
CREATE TABLE kproxy_store.records_1 (kproxy_record bigint PRIMARY KEY, kproxy_class bigint, id bigint, age int);
CREATE TABLE kproxy_store.release_1 (kproxy_class bigint, age int, age_range int4range, diagnosis text);
CREATE VIEW kproxy_release_public.patients AS SELECT age, age_range, diagnosis FROM kproxy_store.release_1;`

// reading prepares a database with a published table and connects as the reader.
func reading(t *testing.T) (admin, reader *pgx.Conn) {
	t.Helper()
	admin, in := database(t)
	execute(t, admin, `CREATE INDEX ON wards (beds); CREATE TYPE pair AS (a int, b int);
		CREATE FUNCTION secret() RETURNS int LANGUAGE sql AS 'SELECT 1';
		COMMENT ON TABLE patients IS 'hidden remark'; COMMENT ON TABLE wards IS 'shown remark'`)
	apply(t, admin, in)
	execute(t, admin, "SET ROLE "+catalog.QuoteIdentifier(in.Owner.Name)+";"+published+
		"GRANT SELECT ON kproxy_release_public.patients TO "+catalog.QuoteIdentifier(in.Reader.Name)+"; RESET ROLE")
	serve(t, admin, in, "wards")
	return admin, login(t, admin, in.Reader)
}

// serve makes by hand the stand-in of a readable relation, with the columns that it has now.
func serve(t *testing.T, admin *pgx.Conn, in provision.Input, relation string) {
	t.Helper()
	view := "kproxy_release_public." + relation
	execute(t, admin, "SET ROLE "+catalog.QuoteIdentifier(in.Owner.Name)+"; CREATE VIEW "+view+" AS SELECT * FROM ONLY public."+relation+
		"; GRANT SELECT, REFERENCES ON "+view+" TO "+catalog.QuoteIdentifier(in.Reader.Name)+"; RESET ROLE")
}

func TestStandInsShowThePublishedSchemaAlone(t *testing.T) {
	t.Parallel()
	_, reader := reading(t)
	execute(t, reader, "SET search_path = kproxy_release_public, public")
	for _, c := range []struct{ name, sql, want string }{
		{
			"relations under the source schema",
			`SELECT string_agg(n.nspname || '.' || c.relname || ':' || c.relkind::text, ' ' ORDER BY c.relname)
			 FROM kproxy_catalog.pg_class c JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace
			 WHERE n.nspname !~ '^pg_|information_schema'`,
			"public.patients:v public.wards:r public.wards_beds_idx:i public.wards_pkey:i",
		},
		{
			"of its own schemas, that of the helpers",
			"SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM kproxy_catalog.pg_namespace WHERE nspname LIKE 'kproxy%'", "kproxy",
		},
		{
			"columns of user relations",
			`SELECT string_agg(a.attname, ' ' ORDER BY c.relname, a.attnum) FROM kproxy_catalog.pg_attribute a
			 JOIN kproxy_catalog.pg_class c ON c.oid = a.attrelid WHERE a.attrelid >= 16384 AND a.attnum > 0`,
			"age age_range diagnosis ward beds beds ward",
		},
		{
			"no column of the base table",
			"SELECT count(*)::text FROM kproxy_catalog.pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relname IN ('records_1', 'release_1') OR relname = 'patients' AND relkind = 'r')", "0",
		},
		{"defaults", "SELECT count(*)::text FROM kproxy_catalog.pg_attrdef", "0"},
		{"indexes of readable relations", "SELECT count(*)::text FROM kproxy_catalog.pg_index WHERE indexrelid >= 16384", "2"},
		{"system catalogs are visible", "SELECT (count(*) > 50)::text FROM kproxy_catalog.pg_class WHERE oid < 16384", "true"},
		{"estimates are hidden", "SELECT count(*)::text FROM kproxy_catalog.pg_class WHERE relpages <> 0 OR reltuples <> -1", "0"},
		{"comments", "SELECT string_agg(description, ' ') FROM kproxy_catalog.pg_description WHERE description LIKE '%remark'", "shown remark"},
		{"functions of users", "SELECT count(*)::text FROM kproxy_catalog.pg_proc WHERE proname = 'secret' OR prosrc <> ''", "0"},
		{"row types", `SELECT string_agg(t.typname || ':' || n.nspname, ' ' ORDER BY t.typname) FROM kproxy_catalog.pg_type t
			 JOIN kproxy_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid >= 16384`, "patients:public wards:public"},
		{
			"information_schema.tables", `SELECT string_agg(table_schema || '.' || table_name, ' ' ORDER BY table_name)
			 FROM kproxy_catalog.information_schema_tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
			"public.patients public.wards",
		},
		{"information_schema.columns", `SELECT string_agg(column_name, ' ' ORDER BY table_name, ordinal_position)
			 FROM kproxy_catalog.information_schema_columns WHERE table_schema = 'public'`, "age age_range diagnosis ward beds"},
		{"the name resolves to the published relation", "SELECT count(*)::text FROM kproxy_catalog.pg_class WHERE oid = 'patients'::regclass AND pg_table_is_visible(oid)", "1"},
	} {
		if got := text(t, reader, c.sql); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestStandInsHaveTheColumnsOfTheirCatalogs(t *testing.T) {
	t.Parallel()
	admin, _ := reading(t)
	for _, s := range catalog.StandIns() {
		const columns = `SELECT string_agg(attname || ' ' || CASE WHEN atttypid IN ('anyarray'::regtype, 'regtype[]'::regtype) THEN 'text[]'
			WHEN atttypid = 'regtype'::regtype THEN 'text' WHEN atttypid = 'regproc'::regtype THEN 'oid' ELSE format_type(atttypid, atttypmod) END, ', ' ORDER BY attnum)
			FROM pg_attribute WHERE attrelid = to_regclass('%s') AND attnum > 0 AND NOT attisdropped`
		want := text(t, admin, fmt.Sprintf(columns, s.Of.SQL()))
		if got := text(t, admin, fmt.Sprintf(columns, s.Name().SQL())); got != want {
			t.Errorf("%s:\n got %s\nwant %s", s.Name(), got, want)
		}
	}
}

func TestConditionsCannotLookPastTheFilter(t *testing.T) {
	t.Parallel()
	_, reader := reading(t)
	// The cast fails on every name; the message must not carry a hidden one.
	_, err := reader.Exec(t.Context(), "SELECT FROM kproxy_catalog.pg_class WHERE oid >= 16384 AND (relname <> 'wards' AND relname !~ '^wards_' AND relname <> 'patients') AND relname::int > 0")
	if err != nil {
		t.Errorf("a condition met a hidden relation: %v", err)
	}
}

func TestReaderReachesNothingElse(t *testing.T) {
	t.Parallel()
	_, reader := reading(t)
	execute(t, reader, "SELECT * FROM kproxy_release_public.patients")
	for _, sql := range []string{
		"SELECT FROM public.patients", "SELECT FROM public.wards", "SELECT FROM kproxy_store.records_1", "SELECT FROM kproxy_store.release_1",
		"SELECT FROM kproxy_store.position", "CREATE TABLE kproxy_release_public.x ()", "CREATE TEMP TABLE x ()",
		"INSERT INTO public.wards VALUES ('x', 1)",
	} {
		if _, err := reader.Exec(t.Context(), sql); err == nil {
			t.Errorf("the reader may run %s", sql)
		}
	}
}

// systemNames finds the system relations in a client's query; a name followed by
// a parenthesis is a function, one followed by a quote a regclass literal.
var systemNames = regexp.MustCompile(`pg_catalog\.pg_[a-z_]+\b[^('a-z_]`)

// throughStandIns does to psql's own queries what the proxy does: system
// relations that have a stand-in are read through it.
func throughStandIns(sql string) string {
	stands := map[string]string{}
	for _, s := range catalog.StandIns() {
		stands[s.Of.String()] = s.Name().String()
	}
	return systemNames.ReplaceAllStringFunc(sql, func(match string) string {
		name, after := match[:len(match)-1], match[len(match)-1:]
		if stand, ok := stands[name]; ok {
			return stand + after
		}
		return match
	})
}

// queriesOf are the statements psql sends for a backslash command.
func queriesOf(t *testing.T, admin *pgx.Conn, command string) []string {
	t.Helper()
	output := program(t, admin, admins(admin), "psql", "-X", "-E", "-c", "SET search_path = kproxy_release_public, public", "-c", command)
	var queries []string
	for _, part := range strings.Split(output, "********* QUERY **********\n")[1:] {
		query, _, _ := strings.Cut(part, "**************************")
		queries = append(queries, query)
	}
	if len(queries) == 0 {
		t.Fatalf("%s sends no query:\n%s", command, output)
	}
	return queries
}

func TestPsqlDescribesThroughStandIns(t *testing.T) {
	t.Parallel()
	admin, reader := reading(t)
	execute(t, reader, "SET search_path = kproxy_release_public, public")
	for command, want := range map[string]string{
		`\d patients`: "age_range", `\d public.wards`: "wards_pkey", `\d`: "patients", `\dt public.*`: "wards", `\dv`: "patients",
		`\di`: "wards_beds_idx", `\dn`: "public", `\d+ patients`: "diagnosis", `\dT`: "",
	} {
		var shown strings.Builder
		for _, query := range queriesOf(t, admin, command) {
			results, err := reader.PgConn().Exec(t.Context(), throughStandIns(query)).ReadAll()
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, throughStandIns(query))
			}
			for _, result := range results {
				for _, row := range result.Rows {
					for _, value := range row {
						shown.Write(value)
						shown.WriteByte(' ')
					}
				}
			}
		}
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%s shows no %s: %s", command, want, shown.String())
		}
		for _, hidden := range []string{"records_1", "kproxy_store.", "hidden remark", "nextval"} {
			if strings.Contains(shown.String(), hidden) && command != `\d+ patients` {
				t.Errorf("%s shows %s: %s", command, hidden, shown.String())
			}
		}
	}
}
