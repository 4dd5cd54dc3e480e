package provision_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

func TestScriptIsGolden(t *testing.T) {
	t.Parallel()
	script, err := provision.Script(input("", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "setup.sql")
	if *update {
		if err := os.WriteFile(golden, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if script != string(want) {
		t.Errorf("the script differs from %s; run the test with -update and review the difference", golden)
	}
	if strings.Contains(script, "secret") {
		t.Error("the script holds a password")
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

// perRun are the lines in which two equal dumps differ.
var perRun = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)

// schemaOf is everything that setup may change in the database, and the roles.
func schemaOf(t *testing.T, admin *pgx.Conn, in provision.Input) string {
	t.Helper()
	dump := perRun.ReplaceAllString(program(t, admin, admins(admin), "pg_dump", "-s"), "")
	roles := text(t, admin, `SELECT string_agg(to_jsonb(r)::text, E'\n' ORDER BY rolname) FROM pg_roles r
		WHERE rolname IN ('`+in.Owner.Name+`', '`+in.Reader.Name+`')`)
	return dump + roles
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
		ALTER PUBLICATION kproxy SET (publish = 'insert', publish_via_partition_root = false);
		GRANT SELECT ON patients TO `+reader+`;
		GRANT ALL ON SCHEMA kproxy_store TO PUBLIC;
		GRANT SELECT ON kproxy_store.position TO PUBLIC, `+reader+`;
		REVOKE USAGE ON SCHEMA kproxy_catalog FROM `+reader+`;
		ALTER SCHEMA kproxy_store OWNER TO postgres;
		ALTER ROLE `+reader+` NOLOGIN INHERIT;
		DROP VIEW kproxy_catalog.pg_class;`)
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
		ALTER TABLE kproxy_store.generation DROP updates, DROP waiting, DROP stale, DROP ghosts, DROP expired, DROP oldest_waiting, DROP oldest_stale;
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
	owner := login(t, super, provision.Login{Name: in.Owner.Name, Password: "owner's secret"})
	execute(t, owner, "SELECT * FROM patients; CREATE TABLE kproxy_store.records_1 (); CREATE VIEW kproxy_release_public.patients AS SELECT 1 AS one")
}
