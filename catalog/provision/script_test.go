package provision_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

// TestFunctionsNameTypesInFull searches the bodies of functions, which every session
// reads anew: a temporary table is a type of its name, and found before PostgreSQL's.
func TestFunctionsNameTypesInFull(t *testing.T) {
	t.Parallel()
	script, err := provision.Script(input("", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	bodies := regexp.MustCompile(`(?s)LANGUAGE sql [^$]* AS \$kproxy\$(.*?)\$kproxy\$`).FindAllStringSubmatch(script, -1)
	if len(bodies) < 15 {
		t.Fatalf("found %d functions", len(bodies))
	}
	bare := regexp.MustCompile(`(?i)(::|\bAS )\s*(text|name|oid|regclass|regtype|integer|int|boolean)\b`)
	for _, body := range bodies {
		if found := bare.FindString(body[1]); found != "" {
			t.Errorf("%q is not named in full:%s", found, body[1])
		}
	}
}

func TestScriptReportsAllProblems(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 50)
	in := provision.Input{
		Owner: provision.Login{Name: "same"}, Reader: provision.Login{Name: "same"},
		Publication: "break $kproxy$ out",
		Policy: catalog.Policy{
			Tables:   []catalog.TablePolicy{{Table: catalog.Name{Schema: long, Relation: "t"}}, {Table: catalog.Name{Schema: "public"}}},
			Readable: []catalog.Name{{Schema: "kproxy_store", Relation: "records_1"}, {Schema: "public", Relation: "a\nb"}},
		},
	}
	_, err := provision.Script(in)
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		`both "same"`, "$kproxy$", long, "has no name", "kproxy_store.records_1: the schema is kproxy's own", `"a\nb"`,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no mention of %s in:\n%v", part, err)
		}
	}
	if _, err := provision.Script(provision.Input{}); err == nil {
		t.Error("a policy without tables is accepted")
	}
}

func TestHostileNamesStayNames(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	execute(t, admin, `CREATE SCHEMA "a'; DROP TABLE patients; --"; CREATE TABLE "a'; DROP TABLE patients; --"."b"" $$ :x \ %I %" (id int PRIMARY KEY)`)
	in.Publication = `p"; DROP TABLE patients; --' :y`
	in.Policy.Tables = append(in.Policy.Tables, catalog.TablePolicy{
		Table: catalog.Name{Schema: `a'; DROP TABLE patients; --`, Relation: `b" $$ :x \ %I %`},
	})
	apply(t, admin, in)
	apply(t, admin, in)
	runPrinted(t, admin, in)
	if got := text(t, admin, `SELECT count(*)::text FROM pg_publication_tables WHERE pubname LIKE 'p"%' AND tablename LIKE 'b"%'`); got != "1" {
		t.Errorf("%s tables of that name are published", got)
	}
	if got := text(t, admin, "SELECT to_regclass('patients')::text"); got != "patients" {
		t.Error("a name became a statement")
	}
}

// runPrinted runs the printed script through psql as its header says.
func runPrinted(t *testing.T, admin *pgx.Conn, in provision.Input) string {
	t.Helper()
	script, err := provision.Script(in)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "setup.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return program(t, admin, admins(admin), "psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", file)
}

// described is everything that setup may change in the database, and the roles
// whose names start with the first argument. No dump: pg_dump refuses servers that
// are newer than itself.
const described = `
WITH own AS (SELECT oid, nspname, nspowner, nspacl FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
SELECT string_agg(line, E'\n' ORDER BY line) FROM (
  SELECT concat_ws(' ', 'database', (SELECT string_agg(concat_ws(' ', grantee::regrole, privilege_type, is_grantable), ',' ORDER BY grantee::regrole::text, privilege_type) FROM aclexplode(datacl))) FROM pg_database WHERE datname = current_database()
  UNION ALL
  SELECT concat_ws(' ', 'role', to_jsonb(r) - 'oid') FROM pg_roles r WHERE starts_with(rolname, $1)
  UNION ALL
  SELECT concat_ws(' ', 'schema', nspname, nspowner::regrole, (SELECT string_agg(concat_ws(' ', grantee::regrole, privilege_type, is_grantable), ',' ORDER BY grantee::regrole::text, privilege_type) FROM aclexplode(nspacl))) FROM own
  UNION ALL
  SELECT concat_ws(' ', 'relation', n.nspname, c.relname, c.relkind, c.relowner::regrole, c.reloptions::text,
    (SELECT string_agg(concat_ws(' ', grantee::regrole, privilege_type, is_grantable), ',' ORDER BY grantee::regrole::text, privilege_type) FROM aclexplode(c.relacl)), CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END,
    ARRAY(SELECT concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid))
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)::text,
    ARRAY(SELECT concat_ws(' ', conname, pg_get_constraintdef(k.oid)) FROM pg_constraint k WHERE k.conrelid = c.oid ORDER BY 1)::text)
  FROM pg_class c JOIN own n ON n.oid = c.relnamespace
  UNION ALL
  SELECT concat_ws(' ', 'function', pg_get_functiondef(f.oid), f.proowner::regrole, (SELECT string_agg(concat_ws(' ', grantee::regrole, privilege_type, is_grantable), ',' ORDER BY grantee::regrole::text, privilege_type) FROM aclexplode(f.proacl)))
  FROM pg_proc f JOIN own n ON n.oid = f.pronamespace
  UNION ALL
  SELECT concat_ws(' ', 'publication', to_jsonb(p) - 'oid', (SELECT string_agg(t::text, ' ' ORDER BY t::text) FROM pg_publication_tables t WHERE t.pubname = p.pubname))
  FROM pg_publication p
  UNION ALL
  SELECT concat_ws(' ', 'default privileges', to_jsonb(d) - 'oid') FROM pg_default_acl d
) lines(line)`

func schemaOf(t *testing.T, admin *pgx.Conn, in provision.Input) string {
	t.Helper()
	execute(t, admin, "SET jit = off") // compiling the query would take longer than running it
	var schema string
	if err := admin.QueryRow(t.Context(), described, strings.TrimSuffix(in.Owner.Name, "owner")).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSetupIsIdempotent(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	apply(t, admin, in)
	first := schemaOf(t, admin, in)
	apply(t, admin, in)
	if second := schemaOf(t, admin, in); second != first {
		t.Errorf("the second run changed something:\n%s", second)
	}
	if output := runPrinted(t, admin, in); strings.Contains(output, "WARNING") {
		t.Errorf("psql warns:\n%s", output)
	}
	if third := schemaOf(t, admin, in); third != first {
		t.Errorf("the printed script does something else:\n%s", third)
	}
}

func TestPrintedScriptPreparesAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	runPrinted(t, admin, in)
	printed := schemaOf(t, admin, in)
	apply(t, admin, in)
	if applied := schemaOf(t, admin, in); applied != printed {
		t.Errorf("applying after printing changed something:\n%s", applied)
	}
}

func TestSetupMendsWhatDrifted(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	apply(t, admin, in)
	want := schemaOf(t, admin, in)
	reader := catalog.QuoteIdentifier(in.Reader.Name)
	execute(t, admin, `
		ALTER PUBLICATION kproxy SET TABLE wards;
		ALTER PUBLICATION kproxy SET (publish = 'insert', publish_via_partition_root = true);
		GRANT SELECT ON patients TO `+reader+`;
		GRANT ALL ON SCHEMA kproxy_store TO PUBLIC;
		GRANT SELECT ON kproxy_store.position TO PUBLIC, `+reader+`;
		REVOKE USAGE ON SCHEMA kproxy_catalog FROM `+reader+`;
		ALTER SCHEMA kproxy_catalog OWNER TO postgres;
		ALTER ROLE `+reader+` NOLOGIN INHERIT;
		DROP VIEW kproxy_catalog.pg_class CASCADE;`)
	apply(t, admin, in)
	if got := schemaOf(t, admin, in); got != want {
		t.Errorf("not mended:\n%s", got)
	}
}

// A store of an earlier version keeps its data and comes to look like a new one.
func TestSetupBringsAnOldStoreInLine(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	apply(t, admin, in)
	want := schemaOf(t, admin, in)
	execute(t, admin, `
		DO $$ DECLARE later text; BEGIN
		  SELECT string_agg('DROP ' || quote_ident(attname), ', ') INTO later FROM pg_attribute
		  WHERE attrelid = 'kproxy_store.generation'::regclass AND NOT attisdropped
		    AND attnum > (SELECT attnum FROM pg_attribute WHERE attrelid = 'kproxy_store.generation'::regclass AND attname = 'created_at');
		  EXECUTE 'ALTER TABLE kproxy_store.generation ' || later;
		END $$;
		INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record, withheld)
		VALUES ('public', 'patients', 7, 'digest', 1, 1, 3)`)
	apply(t, admin, in)
	if got := schemaOf(t, admin, in); got != want {
		t.Errorf("not brought in line:\n%s", got)
	}
	const kept = "SELECT concat_ws(' ', generation, withheld, waiting, stale, ghosts, expired, oldest_waiting, oldest_stale, updates) FROM kproxy_store.generation"
	if got := text(t, admin, kept); got != "7 3 0 0 0 0" {
		t.Errorf("the generation is %s", got)
	}
}

func TestPasswordsAreSetAsVerifiers(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	in.Reader.Password = "pass\u00adwörd ⅸ ' \\"
	apply(t, admin, in)
	for _, role := range []provision.Login{in.Owner, in.Reader} {
		// libpq prepares passwords by SASLprep; not every driver does.
		if got := program(t, admin, role, "psql", "-X", "-At", "-c", "SELECT current_user"); got != role.Name+"\n" {
			t.Errorf("logged in as %s, want %s", got, role.Name)
		}
	}
	stored := text(t, admin, "SELECT rolpassword FROM pg_authid WHERE rolname = '"+in.Reader.Name+"'")
	if !strings.HasPrefix(stored, "SCRAM-SHA-256$4096:") {
		t.Error("the stored password is not a verifier of PostgreSQL's form")
	}
	again := in
	again.Reader.Password = stored
	apply(t, admin, again)
	program(t, admin, in.Reader, "psql", "-X", "-c", "SELECT 1")
}

func TestApplyRollsBackOnError(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	in.Policy.Tables = append(in.Policy.Tables, catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "absent"}})
	if err := provision.Apply(t.Context(), admin, in); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Fatalf("error %v does not name the table", err)
	}
	if got := text(t, admin, "SELECT to_regnamespace('kproxy_store')::text"); got != "NULL" {
		t.Error("half a preparation is left")
	}
}

func TestAdministratorNeedNotBeSuperuser(t *testing.T) {
	t.Parallel()
	super, in := database(t)
	dba := provision.Login{Name: super.Config().Database + "_dba", Password: "dba"}
	name := catalog.QuoteIdentifier(dba.Name)
	execute(t, super, "CREATE ROLE "+name+" LOGIN CREATEROLE PASSWORD 'dba'; GRANT ALL ON DATABASE "+super.Config().Database+" TO "+name+
		` WITH GRANT OPTION; ALTER TABLE patients OWNER TO `+name+`; ALTER TABLE wards OWNER TO `+name+
		`; ALTER TABLE "Ward ""B"""."Patients" OWNER TO `+name+`; ALTER TABLE "Ward ""B""".first OWNER TO `+name+
		`; ALTER SCHEMA "Ward ""B""" OWNER TO `+name+`; GRANT ALL ON SCHEMA public TO `+name+" WITH GRANT OPTION")
	admin := login(t, super, dba)
	in.Readers = []provision.Login{{Name: in.Reader.Name + "_bi", Password: "bi"}}
	apply(t, admin, in)
	replication := "SELECT rolreplication::text FROM pg_roles WHERE rolname = '" + in.Owner.Name + "'"
	if got := text(t, super, replication); got != "false" {
		t.Fatal("a role without the right gave REPLICATION")
	}
	execute(t, super, "ALTER ROLE "+catalog.QuoteIdentifier(in.Owner.Name)+" REPLICATION")
	before := schemaOf(t, super, in)
	in.Owner.Password = "" // before PostgreSQL 16 only a superuser may change a replicating role
	apply(t, admin, in)
	if after := schemaOf(t, super, in); after != before {
		t.Errorf("the second run changed something:\n%s", after)
	}
	member := "SELECT pg_has_role('" + dba.Name + "', '" + in.Owner.Name + "', 'USAGE')::text"
	if got := text(t, super, member); got != "false" {
		t.Error("the administrator is still a member of the owner")
	}
	in.Readers = nil
	apply(t, admin, in)
	if got := text(t, super, "SELECT pg_has_role('"+in.Reader.Name+"_bi', '"+in.Reader.Name+"', 'MEMBER')::text"); got != "false" {
		t.Error("a reader role that was removed still reads")
	}
	owner := login(t, super, provision.Login{Name: in.Owner.Name, Password: "owner's secret"})
	execute(t, owner, "SELECT * FROM patients; CREATE TABLE kproxy_store.records_1 (); CREATE VIEW kproxy_release_public.patients AS SELECT 1 AS one")
}

// fails runs the preparation, which must be refused with all of these words and
// leave nothing behind.
func fails(t *testing.T, admin *pgx.Conn, in provision.Input, words ...string) {
	t.Helper()
	err := provision.Apply(t.Context(), admin, in)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		t.Fatalf("not refused: %v", err)
	}
	for _, w := range words {
		if !strings.Contains(refusal.Message+"\n"+refusal.Hint, w) {
			t.Errorf("no mention of %s in %s\n%s", w, refusal.Message, refusal.Hint)
		}
	}
	if got := text(t, admin, "SELECT count(*)::text FROM pg_publication"); got != "0" {
		t.Error("a publication was made all the same")
	}
}

// The applications that write the source must not come to fail.
func TestTablesWithoutReplicaIdentityAreNotPublished(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	execute(t, admin, `
		CREATE TABLE keyless (a int); CREATE TABLE late (a int PRIMARY KEY DEFERRABLE);
		CREATE TABLE mute (a int PRIMARY KEY); ALTER TABLE mute REPLICA IDENTITY NOTHING;
		CREATE TABLE gone (a int NOT NULL); CREATE UNIQUE INDEX gone_a ON gone (a); ALTER TABLE gone REPLICA IDENTITY USING INDEX gone_a; DROP INDEX gone_a;
		CREATE TABLE parts (a int) PARTITION BY LIST (a);
		CREATE TABLE "Part 1" PARTITION OF parts FOR VALUES IN (1) PARTITION BY LIST (a);
		CREATE TABLE "Part 11" PARTITION OF "Part 1" FOR VALUES IN (1);
		CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2); ALTER TABLE part_2 REPLICA IDENTITY FULL`)
	names := []string{"keyless", "late", "mute", "gone", "parts"}
	for _, name := range names {
		in.Policy.Tables = append(in.Policy.Tables, catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: name}})
	}
	fails(t, admin, in, "UPDATE and DELETE", "public.keyless", "public.late", "public.mute", "public.gone", `public."Part 11"`)
	execute(t, admin, `ALTER TABLE keyless REPLICA IDENTITY FULL; ALTER TABLE late REPLICA IDENTITY FULL; ALTER TABLE mute REPLICA IDENTITY DEFAULT;
		ALTER TABLE gone ADD PRIMARY KEY (a), REPLICA IDENTITY DEFAULT; ALTER TABLE "Part 11" REPLICA IDENTITY FULL`)
	apply(t, admin, in)
	for _, name := range append(names[:4:4], "parts") {
		execute(t, admin, "INSERT INTO "+name+" VALUES (1); UPDATE "+name+" SET a = a; DELETE FROM "+name)
	}
	if got := text(t, admin, "SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_publication_tables WHERE tablename ILIKE 'part%'"); got != "Part 11 part_2" {
		t.Errorf("published are %s", got)
	}
}

// From PostgreSQL 18 on, a generated column in the replica identity has to be
// published as well; before, it was left out in silence.
func TestGeneratedColumnsInTheReplicaIdentity(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	execute(t, admin, "CREATE TABLE made (a int, b int GENERATED ALWAYS AS (a + 1) STORED); ALTER TABLE made REPLICA IDENTITY FULL")
	in.Policy.Tables = append(in.Policy.Tables, catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "made"}})
	if version(t, admin) >= 180000 {
		fails(t, admin, in, "public.made")
		execute(t, admin, "CREATE PUBLICATION kproxy FOR TABLE patients WITH (publish_generated_columns = stored)")
	}
	apply(t, admin, in)
	execute(t, admin, "INSERT INTO made VALUES (1); UPDATE made SET a = 2; DELETE FROM made")
}

// Texts of the script and of the database come to be the same in any encoding that
// the server can convert.
func TestSetupInOtherEncodings(t *testing.T) {
	t.Parallel()
	super, _ := database(t)
	name := super.Config().Database + "_latin1"
	execute(t, super, "CREATE DATABASE "+name+" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	t.Cleanup(func() {
		if _, err := super.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	config := super.Config().Copy()
	config.Database, config.RuntimeParams["client_encoding"] = name, "LATIN1"
	admin, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	for _, sql := range []string{"SET client_encoding = 'UTF8'", `CREATE TABLE "Übersicht" (a int PRIMARY KEY)`, "SET client_encoding = 'LATIN1'"} {
		execute(t, admin, sql)
	}
	in := input(name+"_owner", name+"_reader", "kproxy")
	in.Policy = catalog.Policy{Tables: []catalog.TablePolicy{{Table: catalog.Name{Schema: "public", Relation: "Übersicht"}}}}
	apply(t, admin, in)
	runPrinted(t, admin, in)
	if got := text(t, admin, "SELECT count(*)::text FROM pg_publication_tables WHERE length(tablename) = 9"); got != "1" {
		t.Errorf("%s tables of that name are published", got)
	}
}
