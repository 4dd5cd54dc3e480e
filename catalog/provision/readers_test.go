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

// TestScriptWithFurtherReadersIsGolden holds the lines that further reader roles add to
// the script against a file.
func TestScriptWithFurtherReadersIsGolden(t *testing.T) {
	t.Parallel()
	further := input("", "", "")
	further.Readers = []provision.Login{{Name: "kproxy_bi", Password: "bi's secret"}, {Name: `odd "name"`}}
	known := make(map[string]int)
	for line := range strings.Lines(mustScript(t, input("", "", ""))) {
		known[line]++
	}
	var added strings.Builder
	for line := range strings.Lines(mustScript(t, further)) {
		if known[line]--; known[line] < 0 {
			added.WriteString(line)
		}
	}
	golden := filepath.Join("testdata", "setup_readers.added.sql")
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

func TestReadersHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	in := input("an owner", "a reader", "")
	in.Readers = []provision.Login{{Name: "an owner"}, {Name: "a reader"}, {Name: "bi"}, {Name: "bi"}, {}}
	_, err := provision.Script(in)
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`"an owner" has`, `"a reader" has`, `"bi" has`, "a further reader role has no name"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no mention of %s in:\n%v", part, err)
		}
	}
}

// TestFurtherReadersComeAndGo adds reader roles, lets them read, and takes one away.
func TestFurtherReadersComeAndGo(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	name := admin.Config().Database
	bi, etl := provision.Login{Name: name + `_"bi"`, Password: "one"}, provision.Login{Name: name + "_etl", Password: "two"}
	in.Readers = []provision.Login{bi, etl}
	apply(t, admin, in)
	before := rights(t, admin, bi.Name)
	apply(t, admin, in)
	runPrinted(t, admin, in)
	if again := rights(t, admin, bi.Name); again != before || before != "LOGIN INHERIT of "+in.Reader.Name+" {default_transaction_read_only=on,jit=off}" {
		t.Errorf("the rights are %s, and then %s", before, again)
	}
	session := login(t, admin, bi)
	execute(t, session, "SELECT 1 / has_table_privilege('public.wards', 'REFERENCES')::int; SELECT * FROM kproxy_catalog.pg_class")
	if _, err := session.Exec(t.Context(), "TABLE public.patients"); err == nil {
		t.Error("a further reader reads a protected table")
	}
	_, err := session.Exec(t.Context(), "SET ROLE "+catalog.QuoteIdentifier(in.Reader.Name))
	if became := err == nil; became != (version(t, admin) < 160000) {
		t.Errorf("becoming the first reader: %v", err)
	}

	in.Readers = []provision.Login{etl}
	for range 2 {
		apply(t, admin, in)
		if got := rights(t, admin, bi.Name); got != "NOLOGIN INHERIT of nobody {default_transaction_read_only=on,jit=off}" {
			t.Errorf("after it was removed, the rights are %s", got)
		}
		login(t, admin, etl)
	}
	execute(t, admin, "DROP ROLE "+catalog.QuoteIdentifier(etl.Name))
	in.Readers = nil
	apply(t, admin, in) // what is gone is not missed
	in.Readers = []provision.Login{bi, etl}
	apply(t, admin, in)
	if got := rights(t, admin, bi.Name); got != before {
		t.Errorf("after it came again, the rights are %s", got)
	}
}

// rights are a role's attributes, memberships and settings, all that setup gives it.
func rights(t *testing.T, admin *pgx.Conn, role string) string {
	t.Helper()
	return text(t, admin, `SELECT concat_ws(' ', CASE WHEN rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls THEN 'MORE' END,
		CASE WHEN rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END, CASE WHEN rolinherit THEN 'INHERIT' ELSE 'NOINHERIT' END, 'of',
		coalesce((SELECT string_agg(g.rolname, ', ') FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid), 'nobody'),
		rolconfig::text) FROM pg_roles r WHERE rolname = `+catalog.QuoteLiteral(role))
}
