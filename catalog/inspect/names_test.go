package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// TestNamesThatAreNotThere are told all at once, with what was probably meant.
func TestNamesThatAreNotThere(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, `CREATE SCHEMA hr; CREATE TABLE hr.staff (id int PRIMARY KEY); CREATE SEQUENCE hr.numbers;
		CREATE TABLE hr.journal (id int) PARTITION BY LIST (id); CREATE TABLE hr.journal_1 PARTITION OF hr.journal DEFAULT; ALTER TABLE hr.journal RENAME TO entries;
		CREATE FUNCTION hr.level(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
		CREATE FUNCTION hr.level(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'`)
	name := catalog.ParseName
	in := catalog.Policy{
		Tables:    []catalog.TablePolicy{{Table: name("public.patient")}, {Table: patients}, {Table: name("hr.visits")}, {Table: name("hr.journal")}},
		Readable:  []catalog.Name{wards, name("hr.stuff"), name("hr.numbers"), name("hr.level"), name("nowhere.at_all")},
		Functions: []catalog.Name{name("hr.level"), name("hr.levle"), name("hr.staff"), name("hr.else")},
	}
	report, err := inspect.Names(t.Context(), p.owner, in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report {
		got = append(got, strings.Join([]string{f.Code, f.Table.String(), f.What, f.Fix}, " | "))
	}
	want := []string{
		"table-missing | public.patient | there is no such relation | did you mean public.patients?",
		"table-missing | hr.visits | there is no such relation | did you mean public.visits?",
		"table-missing | hr.journal | there is no such relation | correct its name in the policy",
		"readable-missing | hr.stuff | there is no such relation | did you mean hr.staff?",
		"readable-missing | hr.numbers | there is no such relation | correct its name, or take it off readable",
		"readable-missing | hr.level | is a function, not a relation | list it under functions",
		"readable-missing | nowhere.at_all | there is no such relation | correct its name, or take it off readable",
		"function-missing | hr.levle | there is no such function | did you mean hr.level?",
		"function-missing | hr.staff | is a relation, not a function | take it off functions; a relation is listed under readable, if analysts may read it as it is",
		"function-missing | hr.else | there is no such function | correct its name, or take it off functions",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFixesNeverOpenRawRows: no finding advises to grant what shows rows of a protected
// table, not even one whose name is misspelled.
func TestFixesNeverOpenRawRows(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	execute(t, p.admin, "CREATE TABLE raised () INHERITS (patients)")
	p.in.Policy.Readable = append(p.in.Policy.Readable, public("copies"), public("raised"), public("journeys_1"))
	dangerous := func(report inspect.Report) {
		t.Helper()
		for _, f := range report {
			if strings.Contains(f.Fix, "GRANT SELECT") && f.Table != public("beds") {
				t.Errorf("dangerous advice: %v", f)
			}
		}
	}
	report := p.check()
	dangerous(report)
	raw := 0
	for _, f := range report {
		if f.Code == "readable-raw" {
			raw++
		}
	}
	if raw != 3 {
		t.Errorf("%d relations are reported as raw, want 3:\n%v", raw, report)
	}
	p.in.Policy.Readable = append(p.in.Policy.Readable, public("ages"))
	p.in.Policy.Tables[0].Table = public("patient")
	report = p.check()
	dangerous(report)
	for _, f := range report {
		if f.Code == inspect.CodeReadableGrant || f.Severity == inspect.Error && strings.Contains(f.Fix, "PUBLICATION") {
			t.Errorf("cannot be run while a table is missing: %v", f)
		}
	}
}

// TestSessionsThatMayMakeTemporaryTablesCan.
func TestSessionsThatMayMakeTemporaryTablesCan(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	p.in.TemporaryTables = true
	execute(t, p.admin, p.fill("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"))
	report := p.check()
	if !contains(report, inspect.CodeTemporaryGrant, "may not make temporary tables") {
		t.Errorf("got %v", report)
	}
	execute(t, p.admin, p.fill(`GRANT TEMPORARY ON DATABASE {database} TO "{reader}"`))
	if report := p.check(); contains(report, inspect.CodeTemporaryGrant, "") {
		t.Errorf("after the grant: %v", report)
	}
}
