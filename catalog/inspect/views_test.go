package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

const viewed = `
CREATE SCHEMA "Reports";
CREATE VIEW adults WITH (security_barrier) AS SELECT p.age, w.beds FROM patients p, wards w WHERE p.age > 17;
ALTER VIEW adults RENAME COLUMN beds TO places;
CREATE VIEW "Reports"."Old ""Ones""" AS SELECT places FROM adults WHERE age > 70;
CREATE VIEW first AS SELECT * FROM journeys_1;
CREATE VIEW unlisted AS SELECT count(*) FROM patients;
CREATE VIEW beds AS SELECT beds FROM wards;
CREATE MATERIALIZED VIEW copies AS SELECT age FROM patients;
CREATE TABLE notes (a text);
CREATE RULE r AS ON UPDATE TO notes DO INSTEAD SELECT name FROM patients;`

func public(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }

// withViews is a prepared database with views, some of which the policy lists.
func withViews(t *testing.T) prepared {
	t.Helper()
	p := prepare(t)
	execute(t, p.admin, viewed)
	p.in.Policy.Readable = append(p.in.Policy.Readable, public("adults"), public("first"), public("beds"),
		catalog.Name{Schema: "Reports", Relation: `Old "Ones"`})
	return p
}

func TestViewsAreThoseOverProtectedTables(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	found, err := inspect.Views(t.Context(), p.owner, p.in.Policy, new(inspect.Definitions))
	if err != nil {
		t.Fatal(err)
	}
	old := catalog.Name{Schema: "Reports", Relation: `Old "Ones"`}
	want := []struct {
		name                    catalog.Name
		kind                    catalog.Kind
		listed, barrier         bool
		columns, reads, tables  string
		definition, notInSource string
	}{
		{old, catalog.KindView, true, false, "places", "public.adults", "public.patients", "FROM public.adults", ""},
		{public("adults"), catalog.KindView, true, true, "age places", "public.patients public.wards", "public.patients", "w.beds AS places", ""},
		{public("copies"), catalog.KindMaterializedView, false, false, "age", "public.patients", "public.patients", "", ""},
		{public("first"), catalog.KindView, true, false, "id begun", "public.journeys_1", "public.journeys", "FROM public.journeys_1", ""},
		{public("unlisted"), catalog.KindView, false, false, "count", "public.patients", "public.patients", "", ""},
	}
	var names []catalog.Name
	for _, v := range found {
		names = append(names, v.Name)
	}
	if len(found) != len(want) {
		t.Fatalf("found %v", names)
	}
	joined := func(names []catalog.Name) string {
		var texts []string
		for _, n := range names {
			texts = append(texts, n.String())
		}
		return strings.Join(texts, " ")
	}
	for i, w := range want {
		v := found[i]
		if v.Name != w.name || v.Kind != w.kind || v.Listed != w.listed || v.Barrier != w.barrier || v.OID == 0 ||
			strings.Join(v.Columns, " ") != w.columns || joined(v.Reads) != w.reads || joined(v.Tables) != w.tables ||
			!strings.Contains(v.Definition, w.definition) || (w.definition == "") != (v.Definition == "") {
			t.Errorf("got %+v, want %+v", v, w)
		}
	}
}

// TestDefinitionsHaveOneForm reads a definition in a session whose settings write constants and names in other forms: it is the same, as
// another session makes the view.
func TestDefinitionsHaveOneForm(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	execute(t, p.admin, `CREATE VIEW forms AS SELECT age, date '2024-02-01' AS day, interval '-1 day -2 hours' AS span, 'C:\' AS path, 12.5::money AS cost FROM patients`)
	p.in.Policy.Readable = append(p.in.Policy.Readable, public("forms"))
	var definitions [2]string
	for i, settings := range []string{"", `SET datestyle = 'SQL, DMY'; SET intervalstyle = 'sql_standard'; SET standard_conforming_strings = off;
		SET quote_all_identifiers = on; SET bytea_output = 'escape'; SET extra_float_digits = -3`} {
		execute(t, p.owner, settings)
		views, err := inspect.Views(t.Context(), p.owner, p.in.Policy, new(inspect.Definitions))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(views, func(v catalog.View) bool { return v.Name == public("forms") })
		definitions[i] = views[at].Definition
	}
	if definitions[1] != definitions[0] || !strings.Contains(definitions[0], "'2024-02-01'") || !strings.Contains(definitions[0], `'C:\'`) {
		t.Errorf("in one session the definition is\n%s\nand in another\n%s", definitions[0], definitions[1])
	}
}

func TestViewSources(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	execute(t, p.admin, "ALTER TABLE wards ENABLE ROW LEVEL SECURITY; ALTER TABLE wards DROP COLUMN ward; ALTER TABLE wards ADD floor int")
	sources, err := inspect.ViewSources(t.Context(), p.owner, p.in.Reader,
		[]catalog.Name{patients, wards, catalog.Published(patients), public("none")})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) != 3 || sources[patients].Readable || sources[wards].Readable || !sources[wards].RowSecurity || !sources[catalog.Published(patients)].Readable ||
		!slices.Equal(sources[wards].Columns, []string{"beds", "floor"}) || !slices.Equal(sources[catalog.Published(patients)].Columns, []string{"age", "age_range", "diagnosis"}) {
		t.Errorf("got %+v", sources)
	}
}

// TestAuditOfViews wants listed views to be put up with, but no grant on them, and no
// published view that shows more than the reader may read.
func TestAuditOfViews(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	if report := p.audit().Errors(); len(report) > 0 {
		t.Fatalf("listed views: %v", report)
	}
	expect := func(what, code, words string) {
		t.Helper()
		report := p.audit().Errors()
		if len(report) == 0 || !slices.ContainsFunc(report, func(f inspect.Finding) bool {
			return f.Code == code && strings.Contains(f.String(), words)
		}) {
			t.Errorf("%s: %v", what, report)
		}
		for _, f := range report {
			for statement := range strings.SplitSeq(f.Fix, ";\n") {
				execute(t, p.admin, statement)
			}
		}
		if report := p.audit().Errors(); len(report) > 0 {
			t.Errorf("%s, mended: %v", what, report)
		}
	}
	execute(t, p.admin, p.fill(`GRANT SELECT ON adults TO "{reader}"`))
	expect("a grant", "raw-grant", "public.adults")
	execute(t, p.owner, p.fill(`CREATE VIEW kproxy_release_public.adults AS SELECT age FROM kproxy_release_public.patients;
		GRANT SELECT ON kproxy_release_public.adults TO "{reader}"`))
	if report := p.audit().Errors(); len(report) > 0 {
		t.Errorf("a published view: %v", report)
	}
	execute(t, p.admin, p.fill(`CREATE TABLE secrets (word text); CREATE VIEW kproxy_release_public.wide AS SELECT word FROM secrets;
		ALTER VIEW kproxy_release_public.wide OWNER TO "{owner}"; GRANT SELECT ON kproxy_release_public.wide TO "{reader}"`))
	for view, want := range map[string]int{"wide": 1, "adults": 0, "none": 0} {
		found, err := inspect.WidenedBy(t.Context(), p.owner, "", p.in.Reader, catalog.Name{Schema: "kproxy_release_public", Relation: view})
		if err != nil || len(found) != want {
			t.Errorf("%s widens what the reader may read: %v, %v", view, found, err)
		}
	}
	expect("a published view of a hidden table", "view-widens", "public.secrets")
	execute(t, p.admin, p.fill(`CREATE VIEW kproxy_release_public.wide AS SELECT age FROM patients; GRANT SELECT ON kproxy_release_public.wide TO "{reader}"`))
	expect("a published view of a protected table", "raw-grant", "kproxy_release_public.wide")
}

// TestMaterializedViewsCannotBeListed wants one over protected tables to be told of, and all else
// to be served: it has no stand-in. So is a listed view that is redefined over them.
func TestMaterializedViewsCannotBeListed(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	p.in.Policy.Readable = append(p.in.Policy.Readable, public("copies"))
	execute(t, p.admin, p.fill(`GRANT REFERENCES ON copies, beds TO "{reader}"; CREATE OR REPLACE VIEW beds AS SELECT age::int AS beds FROM patients`))
	report := p.audit()
	told := slices.IndexFunc(report, func(f inspect.Finding) bool { return f.Code == "readable-raw" })
	if told < 0 || report[told].Table != public("copies") || !strings.Contains(report[told].Fix, "write it as a view") || len(report.Errors()) > 0 {
		t.Errorf("got %v", report)
	}
	execute(t, p.admin, p.fill(`GRANT SELECT ON copies, beds TO "{reader}"`))
	if found := p.audit().Errors(); len(found) != 2 || found[0].Code != "raw-grant" || found[1].Code != "raw-grant" {
		t.Errorf("with SELECT: %v", found)
	}
}

// TestCheckOfListedViews wants what setup makes for views, and no grant.
func TestCheckOfListedViews(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	var codes []string
	for _, f := range p.check().Errors() {
		codes = append(codes, f.Code)
	}
	// beds is an ordinary view, and Reports has no release schema.
	if want := []string{"readable-grant", "schema-missing"}; !slices.Equal(codes, want) {
		t.Errorf("before setup: %v, want %v", codes, want)
	}
	p.setup()
	for _, f := range p.check().Errors() {
		t.Errorf("after setup: %v", f)
	}
	if report := p.audit().Errors(); len(report) > 0 {
		t.Errorf("after setup: %v", report)
	}
}
