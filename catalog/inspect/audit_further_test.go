package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog/inspect"
)

// furtherWays are what a further reader must not have, and what it need not have.
var furtherWays = []planted{
	{"superuser", "ALTER ROLE {bi} SUPERUSER", "reader-superuser", "{bi} is a superuser"},
	{"an attribute", "ALTER ROLE {bi} BYPASSRLS", "reader-attribute", "{bi} has the attribute BYPASSRLS"},
	{"member of the owner", "GRANT {owner} TO {bi}", "reader-member", "{bi} is a member of {owner}"},
	{"reads all data", "GRANT pg_read_all_data TO {bi}", "reader-member", "{bi} is a member of pg_read_all_data"},
	{"member of a harmless role", "CREATE ROLE {bi}_g1; GRANT {bi}_g1 TO {bi}", "reader-member", "{bi} is a member of {bi}_g1, and should"},
	{"member of another reader", "GRANT {reader}_etl TO {bi}", "reader-member", "{bi} is a member of {reader}_etl"},
	{"makes members", "GRANT {reader} TO {bi} WITH ADMIN OPTION", "reader-admin", "{bi} may make others members of {reader}"},
	{"grant on a protected table", "GRANT SELECT ON patients TO {bi}", "raw-grant", "has SELECT on it, and it is protected"},
	{"column grant on a protected table", "GRANT SELECT (name) ON patients TO {bi}", "raw-grant", "SELECT (name)"},
	{"grant on the store", "GRANT SELECT ON kproxy_store.records_7 TO {bi}", "raw-grant", "kproxy_store.records_7"},
	{"owns a protected table", "ALTER TABLE patients OWNER TO {bi}", "raw-owned", "role {bi} owns it"},
	{"owns a table", "CREATE TABLE own (a int); ALTER TABLE own OWNER TO {bi}", "reader-owns", "{bi} owns table public.own"},
	{"owns a function", "CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION own() OWNER TO {bi}", "reader-owns", "function public.own()"},
	{"grant on another table", "GRANT SELECT ON wards TO {bi}", "reader-grant", "{bi} has rights of its own on table public.wards"},
	{"grant on columns of another table", "GRANT UPDATE (beds) ON wards TO {bi}", "reader-grant", "table public.wards"},
	{"grant on a schema", "CREATE SCHEMA apart; GRANT USAGE ON SCHEMA apart TO {bi}", "reader-grant", "schema apart"},
	{"grant on a function", "GRANT EXECUTE ON FUNCTION own() TO {bi}", "reader-grant", "function public.own()"},
	{"large object", "SELECT lo_create(4713); GRANT SELECT ON LARGE OBJECT 4713 TO {bi}", "large-object", "1 large"},
	{"sessions that write", "ALTER ROLE {bi} RESET default_transaction_read_only", "reader-writable", "role {bi}"},
	{"foreign table", "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE ft (a int) SERVER s; GRANT SELECT ON ft TO {bi}", "foreign-table", "public.ft"},
}

// withFurther is a prepared database with two further readers.
func withFurther(t *testing.T) (p prepared, fill func(string) string) {
	t.Helper()
	p = prepare(t)
	execute(t, p.admin, p.fill("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"))
	p.in.Readers = []string{p.in.Reader + "_bi", p.in.Reader + "_etl"}
	p.setup()
	return p, func(sql string) string { return p.fill(strings.ReplaceAll(sql, "{bi}", p.in.Readers[0])) }
}

func TestAuditFindsWhatFurtherReadersHaveMoreAndMendsIt(t *testing.T) {
	t.Parallel()
	p, fill := withFurther(t)
	if report := slices.Concat(p.audit(), p.check().Errors()); len(report) > 0 {
		t.Fatalf("findings after set-up:\n%s", report)
	}
	version := p.version()
	for _, way := range furtherWays {
		if version < since(way.plant) {
			continue
		}
		execute(t, p.admin, fill(way.plant))
		report := p.audit()
		if !contains(report, way.code, fill(way.words)) {
			t.Errorf("%s: no finding %s with %q among:\n%s", way.name, way.code, fill(way.words), report)
		}
		for range 3 { // fixes may uncover something
			for _, f := range report {
				execute(t, p.admin, f.Fix)
			}
			if report = p.audit(); len(report) == 0 {
				break
			}
		}
		if len(report) > 0 {
			t.Fatalf("%s: left after the fixes:\n%s", way.name, report)
		}
	}
	if report := p.check().Errors(); len(report) > 0 {
		t.Errorf("the fixes took what the readers need:\n%s", report)
	}
}

// TestTemporaryTablesOfFurtherReadersAreTheirs: what a session makes for itself is no
// right that somebody gave the role.
func TestTemporaryTablesOfFurtherReadersAreTheirs(t *testing.T) {
	t.Parallel()
	p, fill := withFurther(t)
	p.in.TemporaryTables = true
	execute(t, p.admin, fill(`GRANT TEMPORARY ON DATABASE {database} TO {reader}; ALTER ROLE {bi} RESET default_transaction_read_only;
		GRANT {bi} TO CURRENT_USER; SET ROLE {bi}; CREATE TEMPORARY TABLE mine (a serial PRIMARY KEY, b text); RESET ROLE`))
	for _, f := range p.audit() {
		if f.Code == "reader-owns" || f.Code == "reader-writes" {
			t.Errorf("finding:\n%s", f)
		}
	}
}

func TestCheckOfFurtherReaders(t *testing.T) {
	t.Parallel()
	p, fill := withFurther(t)
	execute(t, p.admin, fill("ALTER ROLE {bi} NOLOGIN; REVOKE {reader} FROM {reader}_etl"))
	p.in.Readers = append(p.in.Readers, "absent")
	report := p.check()
	for _, words := range []string{"{bi} may not log in", "{reader}_etl does not have the rights", "no role absent"} {
		if !contains(report.Errors(), inspect.CodeFurtherReader, fill(words)) {
			t.Errorf("no finding of %q among:\n%s", fill(words), report)
		}
	}
	if report := p.audit(); strings.Contains(report.String(), "absent") {
		t.Errorf("the audit tells of a role that is not there:\n%s", report)
	}
}
