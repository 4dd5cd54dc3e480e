package provision_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

// coarse has two roles of an audience research see patients, and one of an audience press.
func coarse(in provision.Input, research, second, press string) provision.Input {
	in.Policy.Audiences = []catalog.Audience{{Name: "research", Roles: []string{research, second}}, {Name: "press", Roles: []string{press}}, {Name: "nobody"}}
	seen := in.Policy.Tables[0]
	seen.Audiences = []catalog.AudiencePolicy{{Audience: "research"}, {Audience: "press"}}
	in.Policy.Tables = []catalog.TablePolicy{seen, in.Policy.Tables[1]}
	in.Readers = nil
	for _, role := range []string{in.Reader.Name + "_bi", research, second, press} {
		if role != "" {
			in.Readers = append(in.Readers, provision.Login{Name: role, Password: role + "'s secret"})
		}
	}
	return in
}

// TestScriptWithAudiencesIsGolden holds the lines that audiences add to the script against a file.
func TestScriptWithAudiencesIsGolden(t *testing.T) {
	t.Parallel()
	known := make(map[string]int)
	for line := range strings.Lines(mustScript(t, input("", "", ""))) {
		known[line]++
	}
	var added strings.Builder
	for line := range strings.Lines(mustScript(t, coarse(input("", "kproxy_reader", ""), "kproxy_research", `odd "name"`, "kproxy_press"))) {
		if known[line]--; known[line] < 0 {
			added.WriteString(line)
		}
	}
	golden := filepath.Join("testdata", "setup_audiences.added.sql")
	if *update {
		if err := os.WriteFile(golden, []byte(added.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if added.String() != string(want) {
		t.Errorf("the lines differ from %s; run the test with -update and review the difference:\n%s", golden, &added)
	}
}

func TestAudiencesAreOfFurtherReaders(t *testing.T) {
	t.Parallel()
	in := input("an owner", "a reader", "")
	in.Policy.Audiences = []catalog.Audience{{Name: "research", Roles: []string{"a reader", "an owner", "stranger"}}, {Name: "no_name"}}
	_, err := provision.Script(in)
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`"a reader" of audience research`, `"an owner" of audience research`, `"stranger" of audience research`, `"no_name" is no name`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no mention of %s in:\n%v", part, err)
		}
	}
}

// walled prepares a database in which patients has a release for each audience, the finest one with
// one column more and wards with stand-ins for all.
func walled(t *testing.T) (admin *pgx.Conn, in provision.Input, connected map[string]*pgx.Conn) {
	t.Helper()
	admin, in = database(t)
	in = coarse(in, in.Reader.Name+"_research", in.Reader.Name+"_second", in.Reader.Name+"_press")
	apply(t, admin, in)
	execute(t, admin, "CREATE TYPE fine AS ENUM ('hiv'); SET ROLE "+catalog.QuoteIdentifier(in.Owner.Name)+`;
		
		CREATE TABLE kproxy_store.release_1 (age int, age_range int4range, diagnosis text, stage public.fine);
		INSERT INTO kproxy_store.release_1 VALUES (41, '[41,42)', 'hiv', 'hiv'), (42, '[42,43)', 'flu', NULL);
		CREATE VIEW kproxy_release_public.patients AS TABLE kproxy_store.release_1;
		CREATE VIEW kproxy_release_public.fine_only AS TABLE kproxy_store.release_1;
		CREATE VIEW kproxy_audience_research_public.patients AS SELECT 41 AS age, int4range(40, 50) AS age_range, diagnosis FROM kproxy_store.release_1;
		CREATE VIEW kproxy_audience_press_public.patients AS SELECT int4range(0, 100) AS age_range FROM kproxy_store.release_1;
		COMMENT ON VIEW kproxy_release_public.patients IS 'fine remark'; COMMENT ON VIEW kproxy_audience_research_public.patients IS 'research remark';
		COMMENT ON VIEW kproxy_audience_press_public.patients IS 'press remark'; RESET ROLE`)
	for schema, reader := range map[string]string{"kproxy_release_public": in.Reader.Name, "kproxy_audience_research_public": in.Reader.Name + "_research", "kproxy_audience_press_public": in.Reader.Name + "_press"} {
		execute(t, admin, "SET ROLE "+catalog.QuoteIdentifier(in.Owner.Name)+"; GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO "+catalog.QuoteIdentifier(reader)+
			"; CREATE VIEW "+schema+".wards AS SELECT * FROM ONLY public.wards; GRANT SELECT, REFERENCES ON "+schema+".wards TO "+catalog.QuoteIdentifier(reader)+"; RESET ROLE")
	}
	connected = map[string]*pgx.Conn{"": login(t, admin, in.Reader)}
	for _, r := range in.Readers {
		connected[strings.TrimPrefix(r.Name, in.Reader.Name+"_")] = login(t, admin, r)
	}
	return admin, in, connected
}

// TestAudiencesSeeTheirOwnReleasesAlone asks each reader role's session for all that tells of releases.
func TestAudiencesSeeTheirOwnReleasesAlone(t *testing.T) {
	t.Parallel()
	_, _, connected := walled(t)
	columns := map[string]string{"": "age age_range diagnosis stage", "research": "age age_range diagnosis", "press": "age_range"}
	columns["bi"], columns["second"] = columns[""], columns["research"]
	remarks := map[string]string{"": "fine remark", "bi": "fine remark", "research": "research remark", "second": "research remark", "press": "press remark"}
	schemas := map[string]string{"": "kproxy_release_public", "bi": "kproxy_release_public", "research": "kproxy_audience_research_public", "second": "kproxy_audience_research_public", "press": "kproxy_audience_press_public"}
	for who, session := range connected {
		relations := "public.patients:v public.wards:r public.wards_pkey:i"
		if columns[who] == columns[""] {
			relations = "public.fine_only:v " + relations
		}
		for _, c := range []struct{ name, sql, want string }{
			{"relations", `SELECT string_agg(n.nspname || '.' || c.relname || ':' || c.relkind::text, ' ' ORDER BY c.relname)
				FROM kproxy_catalog.pg_class c JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_|information_schema'`, relations},
			{"relations of no schema", `SELECT count(*)::text FROM kproxy_catalog.pg_class WHERE relnamespace NOT IN (SELECT oid FROM kproxy_catalog.pg_namespace)`, "0"},
			{"schemas", "SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM kproxy_catalog.pg_namespace WHERE nspname LIKE 'kproxy%'", "kproxy"},
			{"columns", `SELECT string_agg(a.attname, ' ' ORDER BY a.attnum) FROM kproxy_catalog.pg_attribute a
				JOIN kproxy_catalog.pg_class c ON c.oid = a.attrelid WHERE c.relname = 'patients' AND a.attnum > 0`, columns[who]},
			{"columns of what is readable", `SELECT string_agg(a.attname, ' ' ORDER BY a.attnum) FROM kproxy_catalog.pg_attribute a
				JOIN kproxy_catalog.pg_class c ON c.oid = a.attrelid WHERE c.relname = 'wards' AND a.attnum > 0`, "ward beds"},
			{"information_schema", `SELECT string_agg(column_name, ' ' ORDER BY ordinal_position) FROM kproxy_catalog.information_schema_columns
				WHERE (table_schema, table_name) = ('public', 'patients')`, columns[who]},
			{"schemas of information_schema", `SELECT count(*)::text FROM kproxy_catalog.information_schema_tables WHERE table_schema LIKE 'kproxy%'`, "0"},
			{"remarks", "SELECT string_agg(description, ' ') FROM kproxy_catalog.pg_description WHERE description LIKE '% remark'", remarks[who]},
			{"types", `SELECT count(*)::text FROM kproxy_catalog.pg_type t WHERE typname = 'patients'`, "1"},
			{"types of columns", `SELECT (count(*) > 0)::text FROM kproxy_catalog.pg_type t WHERE typname = 'fine'`, map[bool]string{true: "true", false: "false"}[columns[who] == columns[""]]},
			{"a name made at run time", `SELECT count(*)::text FROM kproxy_catalog.pg_class WHERE oid = kproxy_catalog.to_class('patients', '{pg_catalog,public}')
				AND oid = kproxy_catalog.to_class('public.patients', '{}') AND oid = '` + schemas[who] + `.patients'::regclass`, "1"},
			{"other names", `SELECT concat(kproxy_catalog.to_class('kproxy_release_public.patients', '{}'), kproxy_catalog.to_class('kproxy_audience_press_public.patients', '{}'))`, ""},
			{"visible", "SELECT kproxy_catalog.table_is_visible('" + schemas[who] + ".patients'::regclass, '{pg_catalog,public}')::text", "true"},
			{"named", "SELECT kproxy_catalog.class_name('" + schemas[who] + ".patients'::regclass, '{pg_catalog,public}')", "patients"},
			{"dependencies", "SELECT count(*)::text FROM kproxy_catalog.pg_depend WHERE refobjid >= 16384 AND refobjid NOT IN (SELECT oid FROM kproxy_catalog.pg_class)", "0"},
			{"roles", "SELECT count(*)::text FROM kproxy_catalog.pg_roles WHERE rolname ~ '_reader' AND rolname <> current_user", "0"},
			{"rows", "SELECT count(*)::text FROM " + schemas[who] + ".patients", "2"},
		} {
			if got := text(t, session, c.sql); got != c.want {
				t.Errorf("%q, %s: got %s, want %s", who, c.name, got, c.want)
			}
		}
		for _, schema := range []string{"kproxy_release_public", "kproxy_audience_research_public", "kproxy_audience_press_public"} {
			for _, sql := range []string{"TABLE " + schema + ".patients", "SELECT '" + schema + ".patients'::regclass"} {
				if _, err := session.Exec(t.Context(), sql); (err == nil) != (schema == schemas[who]) {
					t.Errorf("%q, %s: %v", who, sql, err)
				}
			}
		}
		if _, err := session.Exec(t.Context(), "TABLE public.patients"); err == nil {
			t.Errorf("%q reads a protected table", who)
		}
	}
}

// TestAudiencesReadTheirOwnDescriptions has the owner describe releases as audiences see them.
func TestAudiencesReadTheirOwnDescriptions(t *testing.T) {
	t.Parallel()
	admin, in, connected := walled(t)
	execute(t, admin, `INSERT INTO kproxy_catalog.described VALUES ('public', 'patients', 5, 'k = 5', 'immediate', now(), NULL, 0, ''), ('public', 'patients', 25, 'k = 25', 'immediate', now(), NULL, 0, 'research');
		INSERT INTO kproxy_catalog.described_column VALUES ('public', 'patients', 1, 'stage', 'text', NULL, '', NULL, NULL, NULL, ''), ('public', 'patients', 1, 'age', 'int', NULL, '', NULL, NULL, NULL, 'research');
		INSERT INTO kproxy_catalog.label VALUES ('public', 'patients', 'stage', '*', NULL, 1, '[0,1)', false, false, ''), ('public', 'patients', 'age', '*', NULL, 1, '[0,1)', false, false, 'research');
		INSERT INTO kproxy_catalog.described_key VALUES ('public', 'patients', 'patients_pkey', '{stage}', NULL, NULL, 'release_1_pkey')`)
	for who, want := range map[string]string{"": "5 stage stage 1", "bi": "5 stage stage 1", "research": "25 age age 0", "second": "25 age age 0", "press": "none none none 0"} {
		got := text(t, connected[who], `SELECT concat_ws(' ', coalesce((SELECT string_agg(k::text, ',') FROM kproxy.tables()), 'none'),
			coalesce((SELECT string_agg("column", ',') FROM kproxy.describe('patients')), 'none'),
			coalesce((SELECT string_agg(column_name, ',') FROM kproxy_catalog.label), 'none'), (SELECT count(*) FROM kproxy_catalog.described_key))`)
		if got != want {
			t.Errorf("%q reads %s, not %s", who, got, want)
		}
	}
	if got := text(t, connected["research"], "SELECT counted::text FROM kproxy.counts('kproxy_audience_research_public.patients'::regclass::oid)"); got != "2" {
		t.Errorf("%s rows are counted", got)
	}
	apply(t, admin, in)
	if got := text(t, admin, "SELECT count(*)::text FROM kproxy_catalog.described"); got != "2" {
		t.Errorf("there are %s descriptions after setup", got)
	}
}

// granted are the privileges that a role has of its own in the database.
func granted(t *testing.T, admin *pgx.Conn, role string) string {
	t.Helper()
	return text(t, admin, `SELECT coalesce(string_agg(DISTINCT what, ' ' ORDER BY what), '') FROM (
		SELECT nspname || ':' || a.privilege_type, a.grantee FROM pg_namespace, aclexplode(nspacl) a
		UNION ALL SELECT oid::regclass::text || ':' || a.privilege_type, a.grantee FROM pg_class, aclexplode(relacl) a WHERE relnamespace <> 'kproxy_catalog'::regnamespace
		UNION ALL SELECT 'catalog:' || a.privilege_type, a.grantee FROM pg_class, aclexplode(relacl) a WHERE relnamespace = 'kproxy_catalog'::regnamespace
		UNION ALL SELECT pronamespace::regnamespace || '.*:' || a.privilege_type, a.grantee FROM pg_proc, aclexplode(proacl) a
		UNION ALL SELECT 'database:' || a.privilege_type, a.grantee FROM pg_database, aclexplode(datacl) a WHERE datname = current_database()
		) AS g(what, grantee) WHERE grantee = to_regrole(`+catalog.QuoteLiteral(catalog.QuoteIdentifier(role))+")")
}

// TestAudiencesChange has roles change their audiences, become further roles, and leave.
func TestAudiencesChange(t *testing.T) {
	t.Parallel()
	admin, in, _ := walled(t)
	reader := in.Reader.Name
	research, second, press, bi := reader+"_research", reader+"_second", reader+"_press", reader+"_bi"
	of := func(audience, more string) string {
		return "catalog:REFERENCES catalog:SELECT database:CONNECT kproxy.*:EXECUTE kproxy:USAGE " + more + "kproxy_audience_" + audience +
			"_public:USAGE kproxy_catalog.*:EXECUTE kproxy_catalog:USAGE wards:REFERENCES"
	}
	expect := func(when string, want map[string][2]string) {
		t.Helper()
		for role, w := range want {
			if got := rights(t, admin, role); !strings.HasPrefix(got, w[0]+" {") {
				t.Errorf("%s: role %s is %s, not %s", when, role, got, w[0])
			}
			if got := granted(t, admin, role); got != w[1] {
				t.Errorf("%s: role %s has\n%s, not\n%s", when, role, got, w[1])
			}
		}
	}
	released := func(audience string) string {
		return "kproxy_audience_" + audience + "_public.patients:SELECT kproxy_audience_" + audience + "_public.wards:REFERENCES kproxy_audience_" + audience + "_public.wards:SELECT "
	}
	first := map[string][2]string{
		research: {"LOGIN NOINHERIT of nobody", of("research", released("research"))}, press: {"LOGIN NOINHERIT of nobody", of("press", released("press"))},
		second: {"LOGIN INHERIT of " + research, ""}, bi: {"LOGIN INHERIT of " + reader, ""},
	}
	apply(t, admin, in)
	runPrinted(t, admin, in)
	expect("at first", first)

	// The second role of research takes the first one's place, and that goes to press.
	next := in
	next.Policy.Audiences = []catalog.Audience{{Name: "research", Roles: []string{second, bi}}, {Name: "press", Roles: []string{press, research}}}
	apply(t, admin, next)
	changed := map[string][2]string{
		second: {"LOGIN NOINHERIT of nobody", of("research", released("research"))}, bi: {"LOGIN INHERIT of " + second, ""},
		press: first[press], research: {"LOGIN INHERIT of " + press, ""},
	}
	expect("after a change", changed)
	apply(t, admin, next)
	expect("again", changed)

	// The first one of an audience becomes the first one of another.
	next.Finest = []string{bi, research}
	next.Policy.Audiences = []catalog.Audience{{Name: "research", Roles: []string{press}}, {Name: "press", Roles: []string{second}}}
	apply(t, admin, next)
	expect("after another", map[string][2]string{
		press: {"LOGIN NOINHERIT of nobody", of("research", released("research"))}, second: {"LOGIN NOINHERIT of nobody", of("press", released("press"))},
		bi: {"LOGIN INHERIT of " + reader, ""}, research: {"LOGIN INHERIT of " + reader, ""},
	})
	next.Policy.Audiences, next.Readers = nil, nil
	for range 2 {
		apply(t, admin, next)
		expect("after all have left", map[string][2]string{
			press: {"NOLOGIN NOINHERIT of nobody", ""}, second: {"NOLOGIN NOINHERIT of nobody", ""}, bi: {"NOLOGIN INHERIT of nobody", ""}, research: {"NOLOGIN INHERIT of nobody", ""},
		})
	}
	if got := granted(t, admin, reader); !strings.Contains(got, "kproxy_release_public.patients:SELECT") || strings.Contains(got, "research") {
		t.Errorf("the reader has %s", got)
	}
}
