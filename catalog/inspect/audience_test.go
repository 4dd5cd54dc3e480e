package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// audienceWays are what the roles of an audience must not have, and what others must not have of it.
var audienceWays = []planted{
	{"grant of the finest release", "GRANT SELECT ON kproxy_release_public.patients TO {research}", "raw-grant", "{research}\" has SELECT on it, and it shows rows of kproxy_store.release_7 "},
	{"grant of another audience's", "GRANT SELECT ON kproxy_audience_press_public.patients TO {research}", "raw-grant", "kproxy_audience_press_public.patients"},
	{"column grant of it", "GRANT SELECT (age) ON kproxy_audience_press_public.patients TO {second}", "raw-grant", "SELECT (age)"},
	{"grant to PUBLIC", "GRANT SELECT ON kproxy_release_public.patients TO PUBLIC", "raw-grant", "PUBLIC has SELECT on it"},
	{"grant of an audience's to the reader", "GRANT SELECT ON kproxy_audience_research_public.patients TO {reader}", "raw-grant", "kproxy_audience_research_public.patients"},
	{"a view over the finest release", "CREATE VIEW kproxy_audience_research_public.v AS TABLE kproxy_release_public.patients; GRANT SELECT ON kproxy_audience_research_public.v TO {research}", "raw-grant", "kproxy_release_public.patients"},
	{"a summary of the finest release", `CREATE TABLE kproxy_store.packed_7 (kproxy_class bigint, age int, kproxy_members int[]);
		CREATE VIEW kproxy_catalog.classes_0123456789abcdef AS SELECT age FROM kproxy_store.packed_7; GRANT SELECT ON kproxy_catalog.classes_0123456789abcdef TO {research}`, "raw-grant", "classes_0123456789abcdef"},
	{"a summary of another audience's release", "GRANT SELECT ON kproxy_catalog.classes_press_0123456789abcdef TO {research}", "raw-grant", "classes_press_0123456789abcdef"},
	{"a summary of an audience's release for the reader", "GRANT SELECT ON kproxy_catalog.classes_press_0123456789abcdef TO {reader}", "raw-grant", "classes_press_0123456789abcdef"},
	{"a summary of another audience's release by its own name", "CREATE VIEW kproxy_catalog.classes_research_1123456789abcdef AS SELECT age FROM kproxy_store.packed_press_7; GRANT SELECT ON kproxy_catalog.classes_research_1123456789abcdef TO {research}", "raw-grant", "classes_research_1123456789abcdef"},
	{"a summary of its release by another's name", "CREATE VIEW kproxy_catalog.classes_research_2123456789abcdef AS SELECT age FROM kproxy_store.packed_press_7; GRANT SELECT ON kproxy_catalog.classes_research_2123456789abcdef TO {press}", "raw-grant", "classes_research_2123456789abcdef"},
	{"a summary that shows records", "CREATE VIEW kproxy_catalog.classes_press_3123456789abcdef AS SELECT age, kproxy_members AS m FROM kproxy_store.packed_press_7; GRANT SELECT ON kproxy_catalog.classes_press_3123456789abcdef TO {press}", "raw-grant", "classes_press_3123456789abcdef"},
	{"member of the reader", "GRANT {reader} TO {research}", "reader-member", "{research} is a member of {reader}"},
	{"its second role is a member of the reader", "GRANT {reader} TO {second}", "reader-member", "{second} is a member of {reader}"},
	{"member of another audience's role", "GRANT {press} TO {research}", "reader-member", "{research} is a member of {press}"},
	{"the reader is a member of its role", "GRANT {research} TO {reader}", "reader-member", "{reader} is a member of {research}"},
	{"a further reader is a member of its role", "GRANT {research} TO {bi}", "reader-member", "{bi} is a member of {research}"},
	{"member by another role", "CREATE ROLE {research}_g; GRANT {press} TO {research}_g; GRANT {research}_g TO {research}", "reader-member", "{research} is a member of {press}"},
	{"looks into the finest's schema", "GRANT USAGE ON SCHEMA kproxy_release_public TO {research}", "audience-grant", "kproxy_release_public"},
	{"looks into another's schema", "GRANT USAGE ON SCHEMA kproxy_audience_research_public TO {press}", "audience-grant", "kproxy_audience_research_public"},
	{"all look into its schema", "GRANT USAGE ON SCHEMA kproxy_audience_research_public TO PUBLIC", "audience-grant", "PUBLIC has USAGE"},
	{"grant on a protected table", "GRANT SELECT ON patients TO {research}", "raw-grant", "it is protected"},
	{"grant on a protected table that it does not see", "GRANT SELECT ON visits TO {press}", "raw-grant", "public.visits"},
	{"grant on the store", "GRANT SELECT ON kproxy_store.release_research_7 TO {research}", "raw-grant", "kproxy_store.release_research_7"},
	{"superuser", "ALTER ROLE {press} SUPERUSER", "reader-superuser", "{press} is a superuser"},
	{"sessions that write", "ALTER ROLE {press} RESET default_transaction_read_only", "reader-writable", "role {press}"},
	{"grant to its second role", "GRANT SELECT ON wards TO {second}", "reader-grant", "{second} has rights of its own on table public.wards"},
}

// withAudiences is a prepared database with two audiences.
func withAudiences(t *testing.T) (p prepared, fill func(string) string) {
	t.Helper()
	p = prepare(t)
	execute(t, p.admin, p.fill("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"))
	reader := p.in.Reader
	p.in.Readers = []string{reader + "_bi", reader + "_research", reader + "_second", reader + "_press"}
	p.in.Policy.Audiences = []catalog.Audience{{Name: "research", Roles: []string{reader + "_research", reader + "_second"}}, {Name: "press", Roles: []string{reader + "_press"}}, {Name: "nobody"}}
	p.in.Policy.Tables[0].Audiences = []catalog.AudiencePolicy{{Audience: "research"}, {Audience: "press"}, {Audience: "nobody"}}
	p.setup()
	fill = func(sql string) string {
		return p.fill(strings.NewReplacer("{bi}", reader+"_bi", "{research}", reader+"_research", "{second}", reader+"_second", "{press}", reader+"_press").Replace(sql))
	}
	p.release(fill)
	return p, fill
}

// release makes by hand what audiences see.
func (p prepared) release(fill func(string) string) {
	p.t.Helper()
	execute(p.t, p.owner, fill(`
		CREATE TABLE kproxy_store.release_research_7 AS TABLE kproxy_store.release_7; CREATE TABLE kproxy_store.release_press_7 AS TABLE kproxy_store.release_7;
		CREATE OR REPLACE VIEW kproxy_audience_research_public.patients AS SELECT age FROM kproxy_store.release_research_7;
		CREATE VIEW kproxy_audience_press_public.patients AS SELECT age FROM kproxy_store.release_press_7;
		CREATE TABLE kproxy_store.packed_press_7 (kproxy_class bigint, age int, kproxy_members int[]);
		CREATE VIEW kproxy_catalog.classes_press_0123456789abcdef AS SELECT age, cardinality(kproxy_members) AS kproxy_count FROM kproxy_store.packed_press_7;
		GRANT SELECT, REFERENCES ON kproxy_catalog.classes_press_0123456789abcdef TO {press};
		GRANT SELECT ON kproxy_audience_research_public.patients TO {research}; GRANT SELECT ON kproxy_audience_press_public.patients TO {press}`))
}

func TestAuditFindsWhatAudiencesReachOfOthersAndMendsIt(t *testing.T) {
	t.Parallel()
	p, fill := withAudiences(t)
	if report := slices.Concat(p.audit(), p.check().Errors()); len(report) > 0 {
		t.Fatalf("findings after set-up:\n%s", report)
	}
	for _, way := range audienceWays {
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
}

// TestAuditFindsTheFinestReleaseUnderTheNameOfACoarserOne has no script that mends it: kproxy makes the view again.
func TestAuditFindsTheFinestReleaseUnderTheNameOfACoarserOne(t *testing.T) {
	t.Parallel()
	p, fill := withAudiences(t)
	execute(t, p.owner, fill(`DROP VIEW kproxy_audience_research_public.patients;
		CREATE VIEW kproxy_audience_research_public.patients AS SELECT age FROM kproxy_store.release_7; GRANT SELECT ON kproxy_audience_research_public.patients TO {research}`))
	if report := p.audit(); !contains(report, "raw-grant", "kproxy_audience_research_public.patients") || len(report) != 1 {
		t.Errorf("findings:\n%s", report)
	}
}

func TestCheckOfAudiences(t *testing.T) {
	t.Parallel()
	p, fill := withAudiences(t)
	execute(t, p.admin, fill(`REVOKE {research} FROM {second}; REVOKE USAGE ON SCHEMA kproxy_audience_research_public, kproxy_catalog FROM {research};
		REVOKE REFERENCES ON wards FROM {research}; REVOKE SELECT ON kproxy_audience_research_public.patients FROM {research};
		REVOKE EXECUTE ON FUNCTION kproxy.tables() FROM {press}; ALTER SCHEMA kproxy_audience_press_public RENAME TO gone`))
	p.in.Policy.Audiences[1].Roles = append(p.in.Policy.Audiences[1].Roles, "absent")
	report := p.check().Errors()
	for code, words := range map[string][]string{
		inspect.CodeFurtherReader: {"{second} does not have the rights of role {research}", "no role absent"},
		"schema-usage":            {"{research} may not look into schema kproxy_audience_research_public", "{research} may not look into schema kproxy_catalog"},
		inspect.CodeReadableGrant: {"{research} lacks REFERENCES"},
		"published-grant":         {"role {research} may not read it"},
		"schema-missing":          {"kproxy_audience_press_public"},
	} {
		for _, w := range words {
			if !contains(report, code, fill(w)) {
				t.Errorf("no finding %s of %q among:\n%s", code, fill(w), report)
			}
		}
	}
}
