package inspect_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// planted is a way to a raw row. The code and the words must be in a finding
// after plant, and no finding but the clean database's may be left after the
// fixes of all.
type planted struct {
	name, plant, code, words string
}

var ways = []planted{
	{"superuser", "ALTER ROLE {reader} SUPERUSER", "reader-superuser", "superuser"},
	{"row security bypassed", "ALTER ROLE {reader} BYPASSRLS", "reader-attribute", "BYPASSRLS"},
	{"may make roles", "ALTER ROLE {reader} CREATEROLE", "reader-attribute", "CREATEROLE"},
	{"may make databases", "ALTER ROLE {reader} CREATEDB", "reader-attribute", "CREATEDB"},
	{"may replicate", "ALTER ROLE {reader} REPLICATION", "reader-attribute", "REPLICATION"},
	{"member of the owner", "GRANT {owner} TO {reader}", "reader-member", "{owner}"},
	{"member of a member of the owner", "CREATE ROLE {reader}_g1; CREATE ROLE {reader}_g2; GRANT {owner} TO {reader}_g1; GRANT {reader}_g1 TO {reader}_g2; GRANT {reader}_g2 TO {reader}", "reader-member", "{owner}"},
	{"reads all data", "GRANT pg_read_all_data TO {reader}", "reader-member", "pg_read_all_data"},
	{"writes all data", "GRANT pg_write_all_data TO {reader}", "reader-member", "pg_write_all_data"},
	{"reads files", "GRANT pg_read_server_files TO {reader}", "reader-member", "pg_read_server_files"},
	{"runs programs", "GRANT pg_execute_server_program TO {reader}", "reader-member", "pg_execute_server_program"},
	{"sees statements of others", "GRANT pg_monitor TO {reader}", "reader-member", "pg_read_all_stats"},
	{"member of a role with an attribute", "CREATE ROLE {reader}_g3 BYPASSRLS; GRANT {reader}_g3 TO {reader}", "reader-member", "BYPASSRLS"},
	{"direct grant", "GRANT SELECT ON patients TO {reader}", "raw-grant", "public.patients"},
	{"grant of another privilege", "GRANT REFERENCES ON patients TO {reader}", "raw-grant", "REFERENCES"},
	{"grant to PUBLIC", "GRANT SELECT ON patients TO PUBLIC", "raw-grant", "PUBLIC"},
	{"column grant", "GRANT SELECT (name, age) ON patients TO {reader}", "raw-grant", "SELECT (age), SELECT (name)"},
	{"grant to a role it can become", "CREATE ROLE {reader}_g4; GRANT SELECT ON patients TO {reader}_g4; GRANT {reader}_g4 TO {reader}", "raw-grant", "{reader}_g4"},
	{"owns the table", "ALTER TABLE patients OWNER TO {reader}", "raw-owned", "public.patients"},
	{"member of the table's owner", "CREATE ROLE {reader}_g5; ALTER TABLE patients OWNER TO {reader}_g5; GRANT {reader}_g5 TO {reader}", "raw-owned", "{reader}_g5"},
	{"partition", "GRANT SELECT ON journeys_1 TO {reader}", "raw-grant", "public.journeys_1"},
	{"inheritance child", "CREATE TABLE child () INHERITS (patients); GRANT SELECT ON child TO PUBLIC", "raw-grant", "public.child"},
	{"inheritance parent", "CREATE TABLE parent (name text NOT NULL); ALTER TABLE patients INHERIT parent; GRANT SELECT ON parent TO {reader}", "raw-grant", "public.parent"},
	{"sequence", "GRANT SELECT ON patients_id_seq TO {reader}", "raw-grant", "public.patients_id_seq"},
	{"view", "CREATE VIEW v1 AS SELECT name FROM patients; GRANT SELECT ON v1 TO {reader}", "raw-grant", "public.v1"},
	{"view in a schema of its own", "CREATE SCHEMA apart; CREATE VIEW apart.v AS SELECT name FROM patients; GRANT SELECT ON apart.v TO PUBLIC", "raw-grant", "apart.v"},
	{"view over a view", "CREATE VIEW v2 AS SELECT 1 AS one, (SELECT max(name) FROM v1); GRANT SELECT ON v2 TO PUBLIC", "raw-grant", "public.v2"},
	{"owner's view over an invoker's", "CREATE VIEW v3 WITH (security_invoker) AS SELECT name FROM patients; CREATE VIEW v4 AS TABLE v3; GRANT SELECT ON v3, v4 TO {reader}", "raw-grant", "public.v4"},
	{"view over a partition", "CREATE VIEW v5 AS TABLE journeys_2; GRANT SELECT ON v5 TO {reader}", "raw-grant", "public.v5"},
	{"materialized view", "CREATE MATERIALIZED VIEW m1 AS SELECT age FROM v2, patients; GRANT SELECT ON m1 TO {reader}", "raw-grant", "public.m1"},
	{"rule on a writable table", "CREATE TABLE notes (a text); CREATE RULE r AS ON UPDATE TO notes DO INSTEAD SELECT name FROM patients; GRANT SELECT, UPDATE ON notes TO {reader}", "raw-grant", "public.notes"},
	{"store's schema", "GRANT USAGE ON SCHEMA kproxy_store TO {reader}", "store-grant", "kproxy_store"},
	{"store's records", "GRANT SELECT ON kproxy_store.records_7 TO PUBLIC", "raw-grant", "kproxy_store.records_7"},
	{"store's release", "GRANT SELECT ON kproxy_store.release_7 TO {reader}", "raw-grant", "kproxy_store.release_7"},
	{"view over the store", "CREATE VIEW v6 AS SELECT kproxy_class FROM kproxy_store.release_7; GRANT SELECT ON v6 TO {reader}", "raw-grant", "public.v6"},
	{"statistics", "GRANT SELECT ON pg_statistic TO {reader}", "raw-grant", "pg_catalog.pg_statistic"},
	{"view over statistics", "CREATE VIEW v7 AS SELECT stavalues1::text FROM pg_statistic; GRANT SELECT ON v7 TO {reader}", "raw-grant", "public.v7"},
	{"function with its owner's rights", "CREATE FUNCTION f1(int, text) RETURNS SETOF patients LANGUAGE sql SECURITY DEFINER AS 'TABLE patients'", "definer-function", "f1(integer,text)"},
	{"procedure with its owner's rights", "CREATE PROCEDURE apart.p1(INOUT a int) LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN END'; REVOKE EXECUTE ON PROCEDURE apart.p1 FROM PUBLIC; GRANT EXECUTE ON PROCEDURE apart.p1 TO {reader}", "definer-function", "apart.p1"},
	{"trigger function with its owner's rights", "CREATE FUNCTION f2() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NULL; END'", "definer-function", "trigger function"},
	{"chain of functions with their owners' rights", `CREATE ROLE {reader}_w;
		CREATE FUNCTION inner1() RETURNS SETOF patients LANGUAGE sql SECURITY DEFINER AS 'TABLE public.patients';
		REVOKE EXECUTE ON FUNCTION inner1() FROM PUBLIC; GRANT EXECUTE ON FUNCTION inner1() TO {reader}_w;
		CREATE FUNCTION outer1() RETURNS SETOF patients LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM public.inner1()';
		ALTER FUNCTION outer1() OWNER TO {reader}_w`, "definer-function", "outer1()"},
	{"aggregate of a function with its owner's rights", `
		CREATE FUNCTION gather(a text, b int) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(name) FROM public.patients';
		REVOKE EXECUTE ON FUNCTION gather(text, int) FROM PUBLIC;
		CREATE AGGREGATE gathered(int) (sfunc = gather, stype = text)`, "definer-function", "gathered(integer), an aggregate that calls public.gather"},
	{"aggregate that ends with such a function", `
		CREATE FUNCTION finish(a text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(name) FROM public.patients';
		REVOKE EXECUTE ON FUNCTION finish(text) FROM PUBLIC;
		CREATE AGGREGATE finished(text) (sfunc = textcat, stype = text, finalfunc = finish)`, "definer-function", "finished(text)"},
	{"ordered aggregate that ends with such a function", `
		CREATE FUNCTION finish2(a text, b text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(name) FROM public.patients';
		REVOKE EXECUTE ON FUNCTION finish2(text, text) FROM PUBLIC;
		CREATE AGGREGATE ranked(text ORDER BY text) (sfunc = textcat, stype = text, finalfunc = finish2)`, "definer-function", "ranked(text,text)"},
	{"aggregate of a function that the reader may not execute", "CREATE AGGREGATE slurp(*) (sfunc = pg_read_file, stype = text, initcond = 'PG_VERSION')", "definer-function", "slurp()"},
	{"aggregate of a function that only its owner may execute", `
		CREATE FUNCTION shy(text, text) RETURNS text LANGUAGE sql AS 'SELECT $1'; REVOKE EXECUTE ON FUNCTION shy(text, text) FROM PUBLIC;
		CREATE AGGREGATE shown(text) (sfunc = shy, stype = text)`, "definer-function", "shown(text)"},
	{"function among the built-in ones", `SET allow_system_table_mods = on;
		CREATE FUNCTION pg_catalog.zz(text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(name) FROM public.patients';
		RESET allow_system_table_mods`, "definer-function", "zz(text)"},
	{"built-in function made to run with its owner's rights", "ALTER FUNCTION pg_catalog.query_to_xml(text, boolean, boolean, text) SECURITY DEFINER", "definer-function", "query_to_xml"},
	{"internal function under another name", "CREATE FUNCTION harmless(text) RETURNS text LANGUAGE internal AS 'pg_read_file_all'", "untrusted-function", "harmless(text)"},
	{"internal function of the reader", "CREATE FUNCTION own(text) RETURNS text LANGUAGE internal AS 'pg_read_file_all'; REVOKE EXECUTE ON FUNCTION own(text) FROM PUBLIC; ALTER FUNCTION own(text) OWNER TO {reader}", "untrusted-function", "own(text)"},
	{"materialized view of a function with its owner's rights", `
		CREATE FUNCTION raw_inner() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS 'SELECT name FROM public.patients';
		REVOKE EXECUTE ON FUNCTION raw_inner() FROM PUBLIC;
		CREATE MATERIALIZED VIEW mv1 AS SELECT * FROM raw_inner(); GRANT SELECT ON mv1 TO {reader}`, "raw-grant", "public.mv1"},
	{"view of a function with its owner's rights", "CREATE VIEW fv AS SELECT * FROM raw_inner(); GRANT SELECT ON fv TO PUBLIC", "raw-grant", "raw_inner()"},
	{"view over a view of such a function", "CREATE VIEW fvv AS TABLE fv; GRANT SELECT ON fvv TO {reader}", "raw-grant", "public.fvv"},
	{"materialized view of a function that reads tables", `
		CREATE FUNCTION plain_inner() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT name FROM public.patients';
		CREATE MATERIALIZED VIEW mv2 AS SELECT * FROM plain_inner(); GRANT SELECT ON mv2 TO {reader}`, "raw-grant", "public.mv2"},
	{"materialized view of an operator", `
		CREATE FUNCTION op(int, int) RETURNS text LANGUAGE sql AS 'SELECT max(name) FROM public.patients';
		CREATE OPERATOR @#@ (leftarg = int, rightarg = int, function = op);
		CREATE MATERIALIZED VIEW mv3 AS SELECT 1 @#@ 2; GRANT SELECT ON mv3 TO {reader}`, "raw-grant", "public.mv3"},
	{"materialized view of an aggregate", `
		CREATE FUNCTION step(text, int) RETURNS text LANGUAGE sql AS 'SELECT max(name) FROM public.patients';
		CREATE AGGREGATE stepped(int) (sfunc = step, stype = text);
		CREATE MATERIALIZED VIEW mv4 AS SELECT stepped(1); GRANT SELECT ON mv4 TO {reader}`, "raw-grant", "public.mv4"},
	{"function that reads files", "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO {reader}", "file-function", "pg_read_file(text)"},
	{"schema to create in", "GRANT CREATE ON SCHEMA public TO PUBLIC", "schema-create", "public"},
	{"owns a schema", "CREATE SCHEMA mine AUTHORIZATION {reader}", "schema-owned", "mine"},
	{"database to create in", "GRANT CREATE ON DATABASE {database} TO {reader}", "database-create", "{database}"},
	{"owns the database", "ALTER DATABASE {database} OWNER TO {reader}", "database-owned", "{database}"},
	{"default privileges", "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA kproxy_store GRANT SELECT ON TABLES TO PUBLIC", "default-privilege", "SELECT"},
	{"default privileges everywhere", "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT SELECT ON TABLES TO {reader}", "default-privilege", "SELECT"},
	{"large object", "SELECT lo_create(4711); GRANT SELECT ON LARGE OBJECT 4711 TO PUBLIC", "large-object", "1 large"},
	{"own large object", "SELECT lo_create(4712); ALTER LARGE OBJECT 4712 OWNER TO {reader}", "large-object", "1 large"},
	{"large objects open to all", "ALTER DATABASE {database} SET lo_compat_privileges = on", "large-object", "lo_compat_privileges"},
	{"foreign table", "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE ft (a int) SERVER s; GRANT SELECT ON ft TO {reader}", "foreign-table", "public.ft"},
	{"user mapping", "CREATE USER MAPPING FOR {reader} SERVER s", "user-mapping", "foreign server s"},
	{"user mapping for PUBLIC", "CREATE USER MAPPING FOR PUBLIC SERVER s; GRANT USAGE ON FOREIGN SERVER s TO PUBLIC", "user-mapping", "PUBLIC"},
	{"sessions that write", "ALTER ROLE {reader} RESET default_transaction_read_only", "reader-writable", "read-only"},
	{"temporary tables", "GRANT TEMPORARY ON DATABASE {database} TO {reader}", "database-temporary", "TEMPORARY"},
}

func TestPreparedDatabasePassesTheAudit(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	report := p.audit()
	// PostgreSQL lets PUBLIC make temporary tables; that alone is a warning.
	if len(report.Errors()) > 0 || len(report) != 1 || report[0].Code != "database-temporary" {
		t.Errorf("findings:\n%s", report)
	}
	execute(t, p.admin, report[0].Fix)
	if report := p.audit(); len(report) > 0 {
		t.Errorf("findings after the fix:\n%s", report)
	}
}

func TestAuditFindsEveryWayAndMendsIt(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, p.fill("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"))
	version := p.version()
	for _, way := range append(ways, dblink(t, p.admin)...) {
		if version < since(way.plant) {
			continue
		}
		execute(t, p.admin, p.fill(way.plant))
		// The owner's session does not see later settings of the database.
		stale := strings.Contains(way.plant, "ALTER DATABASE")
		if stale {
			p.reconnect()
		}
		report := p.audit()
		if !contains(report, way.code, p.fill(way.words)) {
			t.Errorf("%s: no finding %s with %q among:\n%s", way.name, way.code, p.fill(way.words), report)
		}
		// A superuser hides the rest; other fixes may uncover something, too.
		for range 3 {
			for _, f := range report {
				if f.Fix == "" {
					t.Errorf("%s: no fix for %s", way.name, f)
				}
				execute(t, p.admin, f.Fix)
			}
			if stale {
				p.reconnect()
			}
			if report = p.audit(); len(report) == 0 {
				break
			}
		}
		if len(report) > 0 {
			t.Fatalf("%s: left after the fixes:\n%s", way.name, report)
		}
	}
}

// dblink is a further way where the server's package has the extension.
func dblink(t *testing.T, admin *pgx.Conn) []planted {
	t.Helper()
	var available bool
	if err := admin.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'dblink')").Scan(&available); err != nil {
		t.Fatal(err)
	}
	if !available {
		return nil
	}
	return []planted{{"sessions of other roles", "CREATE EXTENSION dblink", "dblink-function", "dblink(text,text)"}}
}

// reconnect makes the owner's session see settings of the database.
func (p *prepared) reconnect() {
	p.t.Helper()
	config := p.owner.Config()
	_ = p.owner.Close(p.t.Context())
	owner, err := pgx.ConnectConfig(p.t.Context(), config)
	if err != nil {
		p.t.Fatal(err)
	}
	p.owner = owner
	p.t.Cleanup(func() { _ = owner.Close(p.t.Context()) })
}

func contains(report inspect.Report, code, words string) bool {
	for _, f := range report {
		if f.Code == code && strings.Contains(f.Table.String()+" "+f.What, words) {
			return true
		}
	}
	return false
}

func TestHarmlessThingsPassTheAudit(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	if p.version() >= since("security_invoker") {
		execute(t, p.admin, "CREATE VIEW inv WITH (security_invoker = true) AS TABLE patients; GRANT SELECT ON inv TO PUBLIC")
	}
	execute(t, p.admin, p.fill(`
		REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC;
		CREATE VIEW hidden AS TABLE patients;
		CREATE VIEW over_release AS TABLE kproxy_release_public.patients; GRANT SELECT ON over_release TO {reader};
		CREATE VIEW beds AS TABLE wards; GRANT SELECT ON beds TO {reader};
		CREATE RULE r AS ON INSERT TO wards DO ALSO SELECT name FROM patients;
		CREATE FUNCTION weak() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; ALTER FUNCTION weak() OWNER TO {reader};
		CREATE FUNCTION tidy(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1)';
		CREATE MATERIALIZED VIEW tidied AS SELECT tidy(ward) FROM wards; GRANT SELECT ON tidied TO {reader};
		CREATE FUNCTION longer(text, text) RETURNS text LANGUAGE sql AS 'SELECT $1 || $2';
		CREATE AGGREGATE longest(text) (sfunc = longer, stype = text);
		CREATE VIEW longest AS SELECT longest(ward) FROM wards; GRANT SELECT ON longest TO {reader};
		CREATE FUNCTION plain() RETURNS SETOF patients LANGUAGE sql AS 'TABLE patients';
		CREATE FUNCTION shut() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; REVOKE EXECUTE ON FUNCTION shut() FROM PUBLIC;
		CREATE TYPE span AS RANGE (SUBTYPE = text);
		CREATE ROLE {reader}_group; GRANT {reader}_group TO {reader};
		SELECT lo_create(5000)`))
	if report := p.audit(); len(report) > 0 {
		t.Errorf("findings:\n%s", report)
	}
}

func TestPublishedRelationMustReadItsReleaseAlone(t *testing.T) {
	t.Parallel()
	for name, view := range map[string]string{
		"records":          "SELECT age FROM kproxy_store.records_7",
		"the source":       "SELECT age, NULL::int4range AS age_range, diagnosis FROM patients",
		"both":             "SELECT r.age FROM kproxy_store.release_7 r, kproxy_store.records_7",
		"a condition":      "SELECT age FROM kproxy_store.release_7 WHERE EXISTS (SELECT FROM patients)",
		"an old release":   "SELECT age FROM kproxy_store.release_6",
		"another function": "SELECT age, public.leak() FROM kproxy_store.release_7",
	} {
		p := prepare(t)
		execute(t, p.admin, `CREATE TABLE kproxy_store.release_6 (kproxy_class bigint, age int);
			CREATE FUNCTION public.leak() RETURNS int LANGUAGE sql AS 'SELECT 1';
			DROP VIEW kproxy_release_public.patients; CREATE VIEW kproxy_release_public.patients AS `+view+
			p.fill("; GRANT SELECT ON kproxy_release_public.patients TO {reader}"))
		if report := p.audit(); !contains(report, "raw-grant", "kproxy_release_public.patients") {
			t.Errorf("%s: not found:\n%s", name, report)
		}
	}
}

// packedRelease replaces the release by a view over its packed rows.
const packedRelease = `DROP TABLE kproxy_store.release_7 CASCADE; CREATE TABLE kproxy_store.copied_7 (kproxy_record bigint, diagnosis text);
	CREATE TABLE kproxy_store.packed_7 (kproxy_class bigint, age int, age_range int4range, kproxy_members kproxy_store.copied_7[]);
	CREATE VIEW kproxy_store.release_7 AS SELECT p.kproxy_class, p.age, p.age_range, m.diagnosis
		FROM kproxy_store.packed_7 p, %s unnest(p.kproxy_members) m;
	CREATE VIEW kproxy_release_public.patients AS SELECT age, age_range, diagnosis FROM kproxy_store.release_7;
	GRANT SELECT ON kproxy_release_public.patients TO {reader}`

func TestPackedReleaseMustReadItsRowsAlone(t *testing.T) {
	t.Parallel()
	for others, refused := range map[string]bool{"": false, "patients,": true, "kproxy_store.records_7,": true} {
		p := prepare(t)
		execute(t, p.admin, p.fill(fmt.Sprintf(packedRelease, others)))
		if report := p.audit(); contains(report, "raw-grant", "kproxy_release_public.patients") != refused {
			t.Errorf("a release that reads %q besides:\n%s", others, report)
		}
	}
}

// mirroredRelease replaces the release by a view of the records.
const mirroredRelease = `DROP TABLE kproxy_store.release_7 CASCADE; UPDATE kproxy_store.generation SET updates = '%s';
	CREATE VIEW kproxy_store.release_7 AS SELECT %s FROM kproxy_store.records_7 r%s;
	CREATE VIEW kproxy_release_public.patients AS TABLE kproxy_store.release_7;
	GRANT SELECT ON kproxy_release_public.patients TO {reader}`

// TestMirroredReleaseMustBeOfATableThatIsNotProtected: records are shown of what was published as
// mirrored, and by a view that reads them alone.
func TestMirroredReleaseMustBeOfATableThatIsNotProtected(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		updates, columns, others string
		refused                  bool
	}{
		{"mirrored", "r.age", "", false},
		{"immediate", "r.age", "", true},
		{"guarded", "r.age", "", true},
		{"mirrored", "r.age", ", patients p", true},
		{"mirrored", "r.age", ", kproxy_store.position p", true},
		{"mirrored", "public.leak() AS age", "", true},
	} {
		p := prepare(t)
		execute(t, p.admin, "CREATE FUNCTION public.leak() RETURNS int LANGUAGE sql AS 'SELECT 1'; REVOKE EXECUTE ON FUNCTION public.leak() FROM PUBLIC")
		execute(t, p.admin, p.fill(fmt.Sprintf(mirroredRelease, test.updates, test.columns, test.others)))
		if report := p.audit(); contains(report, "raw-grant", "kproxy_release_public.patients") != test.refused {
			t.Errorf("%+v: findings:\n%s", test, report)
		}
	}
}

// The weights of a release may lie apart from its rows.
func TestPublishedRelationMayReadItsWeights(t *testing.T) {
	t.Parallel()
	for weights, refused := range map[string]bool{
		"CREATE TABLE kproxy_store.cellweight_7 (kproxy_class bigint, kproxy_weight real)":                                              false,
		"CREATE VIEW kproxy_store.cellweight_7 AS SELECT kproxy_class, 1::real AS kproxy_weight FROM kproxy_store.records_7":            true,
		"CREATE TABLE kproxy_store.cellweight_6 (kproxy_class bigint, kproxy_weight real)":                                              true,
		"CREATE VIEW kproxy_store.cellweight_7 AS SELECT age AS kproxy_class, length(name)::real AS kproxy_weight FROM public.patients": true,
	} {
		p := prepare(t)
		of := "cellweight_" + regexp.MustCompile(`cellweight_(\d)`).FindStringSubmatch(weights)[1]
		execute(t, p.admin, p.fill(weights+`; DROP VIEW kproxy_release_public.patients; CREATE VIEW kproxy_release_public.patients AS
			SELECT age, age_range, diagnosis, coalesce(kproxy_weight, 1) AS kproxy_weight FROM kproxy_store.release_7 LEFT JOIN kproxy_store.`+of+` USING (kproxy_class);
			GRANT SELECT ON kproxy_release_public.patients TO {reader}`))
		if report := p.audit(); contains(report, "raw-grant", "kproxy_release_public.patients") != refused {
			t.Errorf("%s: findings:\n%s", weights, report)
		}
	}
}

// A new generation is shown once it has caught up; until then, the one before is.
func TestPreviousReleaseMayBeShown(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.owner, p.fill(`CREATE TABLE kproxy_store.release_6 (kproxy_class bigint, age int); UPDATE kproxy_store.generation SET previous = 6;
		DROP VIEW kproxy_release_public.patients; CREATE VIEW kproxy_release_public.patients AS SELECT age FROM kproxy_store.release_6;
		GRANT SELECT ON kproxy_release_public.patients TO {reader}`))
	if report := p.check().Errors(); len(report) > 0 {
		t.Errorf("findings:\n%s", report)
	}
	// The store of an earlier version knows of none.
	execute(t, p.owner, "ALTER TABLE kproxy_store.generation DROP previous")
	if report := p.audit(); !contains(report, "raw-grant", "kproxy_release_public.patients") {
		t.Errorf("findings:\n%s", report)
	}
}

func TestReadableRelationsMustNotShowRawRows(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, `CREATE TABLE heir () INHERITS (patients); CREATE VIEW computed AS SELECT 1 AS one;
		CREATE FUNCTION raw_inner() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS 'SELECT name FROM public.patients';
		REVOKE EXECUTE ON FUNCTION raw_inner() FROM PUBLIC; CREATE MATERIALIZED VIEW mv AS SELECT * FROM raw_inner();
		CREATE OR REPLACE VIEW computed AS SELECT count(*)::int AS one FROM raw_inner()`)
	for _, name := range []catalog.Name{
		{Schema: "public", Relation: "heir"}, {Schema: "public", Relation: "computed"}, {Schema: "public", Relation: "mv"}, patients,
	} {
		p.in.Policy.Readable = []catalog.Name{name}
		if report := p.audit(); !contains(report, "readable-raw", name.String()) {
			t.Errorf("%s is accepted as readable:\n%s", name, report)
		}
	}
}

func TestAuditOfAMissingReader(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	p.in.Reader = "nobody's"
	if report := p.audit(); len(report) != 1 || report[0].Code != "reader-missing" {
		t.Errorf("findings:\n%s", report)
	}
}

func TestAuditInsideATransactionLeavesItAlone(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	tx, err := p.owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SET LOCAL search_path = public; CREATE TABLE kproxy_store.mine ()"); err != nil {
		t.Fatal(err)
	}
	p.audit()
	var path string
	if err := tx.QueryRow(t.Context(), "SELECT current_setting('search_path') FROM (SELECT to_regclass('kproxy_store.mine')) t(m) WHERE m IS NOT NULL").Scan(&path); err != nil {
		t.Fatal(err)
	}
	if path != "public" {
		t.Errorf("search_path is %s", path)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
