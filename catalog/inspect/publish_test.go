package inspect_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// typedSource holds, in row 1, one value of every type that values are named for.
const typedSource = `
CREATE SCHEMA shut;
CREATE TYPE shut.mood AS ENUM ('yes', 'no', 'it''s');
CREATE DOMAIN shut.feeling AS shut.mood;
CREATE DOMAIN years AS smallint CHECK (VALUE < 200);
CREATE TABLE typed (id bigint PRIMARY KEY, age int,
  bool bool, int2 years, int4 int4, int8 int8, numeric numeric, cost numeric(6,2), float4 float4, float8 float8,
  date date, timestamp timestamp, timestamptz timestamptz, uuid uuid, mood shut.mood, feeling shut.feeling,
  fixed char(6), text text, varchar varchar(4), bytes bytea, inet inet, span interval);
CREATE TABLE persons (id bigint PRIMARY KEY, born date, height int);
INSERT INTO typed VALUES (1, 30, true, 5, 5, 5, 10.50, 10.5, 0.1, 1e21, '2024-01-01', '2024-01-01 12:00', '2024-01-01 12:00+00',
  'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'yes', 'no', 'flu', '05', 'TRUE', '\x0a', '10.0.0.1', '90 minutes');`

var typed = catalog.Name{Schema: "public", Relation: "typed"}

// spellings are values as an operator may write them, and the server's text for
// them; where a column is generalized by a hierarchy it is the text that
// replication sends.
var spellings = []struct{ column, written, canonical string }{
	{"bool", "TRUE", "t"},
	{"int2", "05", "5"},
	{"int4", " 5", "5"},
	{"int8", "+5", "5"},
	{"numeric", "1.05e1", "10.5"},
	{"cost", "10.5", "10.50"},
	{"float4", "1e-1", "0.1"},
	{"float8", "1000000000000000000000", "1e+21"},
	{"date", "2024-1-1", "2024-01-01"},
	{"timestamp", "2024-01-01T12:00", "2024-01-01 12:00:00"},
	{"timestamptz", "2024-01-01 14:00+02", "2024-01-01 12:00:00+00"},
	{"uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
	{"mood", "yes", "yes"},
	{"feeling", "no", "no"},
	{"fixed", "flu", "flu   "},
	{"text", "05", "05"},
	{"varchar", "TRUE", "TRUE"},
}

func typedPolicy(columns ...catalog.ColumnPolicy) catalog.TablePolicy {
	age := catalog.ColumnPolicy{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}
	return catalog.TablePolicy{
		Table: typed, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{K: 2}}, Columns: append([]catalog.ColumnPolicy{age}, columns...),
	}
}

func bounding(column string, values ...string) catalog.TablePolicy {
	policy := typedPolicy(catalog.ColumnPolicy{Name: column, Role: catalog.Sensitive})
	policy.Constraints = append(policy.Constraints, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: column, Values: values})
	return policy
}

func arranging(column string, spec hierarchy.Spec) catalog.TablePolicy {
	return typedPolicy(catalog.ColumnPolicy{Name: column, Role: catalog.QuasiIdentifying, Hierarchy: &spec})
}

// publisher publishes policies of the table typed, on a connection of the owner's
// whose own settings are unusual.
type publisher struct {
	*testing.T
	conn      *pgx.Conn
	relations []catalog.Relation
}

func newPublisher(t *testing.T) publisher {
	t.Helper()
	p := prepareBare(t)
	execute(t, p.admin, typedSource+p.fill(`GRANT SELECT ON typed, persons TO {owner}`))
	execute(t, p.owner, "SET DateStyle = 'German, DMY'; SET TimeZone = 'Asia/Tokyo'; SET extra_float_digits = -3; SET bytea_output = escape; SET IntervalStyle = iso_8601")
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return publisher{t, p.owner, relations}
}

func (p publisher) publish(policy catalog.TablePolicy) ([]catalog.Publication, []catalog.Problem) {
	p.Helper()
	publications, problems, err := inspect.Publish(p.Context(), p.conn, catalog.Policy{Tables: []catalog.TablePolicy{policy}}, p.relations)
	if err != nil {
		p.Fatal(err)
	}
	return publications, problems
}

// published publishes what has no problem.
func (p publisher) published(policy catalog.TablePolicy) catalog.Publication {
	p.Helper()
	publications, problems := p.publish(policy)
	if len(problems) > 0 || len(publications) != 1 {
		p.Fatalf("%d publications, problems %v", len(publications), problems)
	}
	return publications[0]
}

func TestValuesOfConstraintsAreTheServers(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	for _, s := range spellings {
		policy := bounding(s.column, s.written)
		publication := p.published(policy)
		if got := publication.Policy.Constraints[1].Values; !slices.Equal(got, []string{s.canonical}) {
			t.Errorf("%s: %q is taken for %q, want %q", s.column, s.written, got, s.canonical)
		}
		if policy.Constraints[1].Values[0] != s.written {
			t.Errorf("%s: the operator's policy is changed", s.column)
		}
		report, err := inspect.Advise(t.Context(), p.conn, catalog.Policy{Tables: []catalog.TablePolicy{policy}}, []catalog.Publication{publication})
		if err != nil {
			t.Fatal(err)
		}
		if contains(report, "value-absent", "") {
			t.Errorf("%s: %q is in the table, but\n%s", s.column, s.written, report)
		}
	}
}

// TestValuesOfPeopleAreTheServers has constraints over several tables whose lists of values have one
// length: each gets the values of its own column.
func TestValuesOfPeopleAreTheServers(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	sensitive := func(name string) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.Sensitive}
	}
	root := catalog.Name{Schema: "public", Relation: "persons"}
	alpha := func(column string, alpha float64, value string) privacy.Spec {
		return privacy.Spec{Model: privacy.AlphaK, Alpha: alpha, Of: column, Values: []string{value}}
	}
	kind := catalog.People{
		Kind: "person", Root: root, Key: []string{"id"}, Knows: catalog.Knowledge{All: true}, Tables: []catalog.PeopleTable{{Table: typed, Person: []string{"id"}}},
		Constraints: []privacy.Spec{
			alpha("public.typed.cost", 0.5, "10.5"),
			{Model: privacy.K, K: 2},
			alpha("public.persons.height", 0.5, "+180"),
			alpha("public.typed.int4", 0.5, "05"), alpha("public.typed.cost", 0.6, "1e1"), alpha("public.typed.date", 0.5, "2024-1-1"),
		},
	}
	policy := catalog.Policy{People: []catalog.People{kind}}
	for _, of := range []catalog.TablePolicy{
		{Table: root, Method: "rounded-partition", Columns: []catalog.ColumnPolicy{{Name: "born", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Date}}, sensitive("height")}},
		{Table: typed, Method: "rounded-partition", Columns: []catalog.ColumnPolicy{sensitive("cost"), sensitive("int4"), sensitive("date")}},
	} {
		policy.Tables = append(policy.Tables, kind.Member(of, of.Table))
	}
	publications, problems, err := inspect.Publish(t.Context(), p.conn, policy, p.relations)
	if err != nil || len(problems) > 0 || len(publications) != 2 {
		t.Fatalf("%d publications, problems %v, %v", len(publications), problems, err)
	}
	for _, publication := range publications {
		var got []string
		for _, c := range publication.Membership.People.Constraints {
			got = append(got, strings.Join(c.Values, ","))
		}
		if want := []string{"10.50", "", "180", "5", "10.00", "2024-01-01"}; !slices.Equal(got, want) {
			t.Errorf("%v: values %q, want %q", publication.Policy.Table, got, want)
		}
	}
}

func TestValuesOfHierarchiesAreTheServers(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	more := []struct{ column, written, canonical string }{
		{"bytes", `\012`, `\x0a`}, {"inet", "10.0.0.1/32", "10.0.0.1"}, {"span", "90 min", "01:30:00"},
	}
	for _, s := range append(more, spellings...) {
		order := p.published(arranging(s.column, hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{s.written}}))
		if got := order.Attributes[1].Spec.Order; !slices.Equal(got, []string{s.canonical}) {
			t.Errorf("%s: an order of %q is taken for %q, want %q", s.column, s.written, got, s.canonical)
		}
		taxonomy := []hierarchy.Node{{Label: "05 group", Children: []hierarchy.Node{{Label: s.written}}}}
		policy := arranging(s.column, hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: taxonomy})
		want := []hierarchy.Node{{Label: "05 group", Children: []hierarchy.Node{{Label: s.canonical}}}}
		if got := p.published(policy).Attributes[1].Spec.Taxonomy; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: a taxonomy of %q is taken for %v", s.column, s.written, got)
		}
		if taxonomy[0].Children[0].Label != s.written {
			t.Errorf("%s: the operator's taxonomy is changed", s.column)
		}
		// It is the text that the server writes.
		execute(t, p.conn, "BEGIN; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL TimeZone = 'UTC'; SET LOCAL extra_float_digits = 1; "+
			"SET LOCAL bytea_output = hex; SET LOCAL IntervalStyle = postgres")
		var text string
		err := p.conn.QueryRow(t.Context(), fmt.Sprintf("SELECT format('%%s', %s) FROM public.typed", catalog.QuoteIdentifier(s.column))).Scan(&text)
		execute(t, p.conn, "ROLLBACK")
		if err != nil || text != s.canonical && s.column != "numeric" { // which keeps each value's own scale
			t.Errorf("%s: the row has %q, %v", s.column, text, err)
		}
	}
}

func TestValuesThatTheTypeDoesNotHaveAreRefused(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	for _, c := range []struct {
		policy catalog.TablePolicy
		column string
		what   string
		fix    string
	}{
		{bounding("mood", "yes", "Yes"), "mood", "of mood names 'Yes', which is no value of type shut.mood: its labels are yes, no, it's", "one of the labels"},
		{bounding("feeling", "it's not"), "feeling", "names 'it''s not', which is no value of type shut.feeling: its labels are yes", "one of the labels"},
		{bounding("bool", "t", "maybe"), "bool", "names 'maybe', which is no value of type boolean", "true or false"},
		{bounding("int4", "1", "2", "3.0", "4", "5"), "int4", "names '3.0', which is no value of type integer", "such as 5"},
		{bounding("int2", "70000"), "int2", `names '70000', which is no value of type public.years: `, "such as 5"},
		{bounding("date", "2024-02-30"), "date", "names '2024-02-30', which is no value of type date", "such as 2024-01-31"},
		{bounding("date", "2024-01-01", "Today"), "date", "names 'Today', which is another value every day", "such as 2024-01-31"},
		{bounding("uuid", ""), "uuid", "names '', which is no value of type uuid", "such as 123e4567"},
		{bounding("cost", "10.555"), "cost", "names '10.555', which no column of type numeric(6,2) holds: it would be cut to '10.56'", "can hold"},
		{bounding("fixed", "influenza"), "fixed", "names 'influenza', which no column of type character(6) holds", "can hold"},
		{bounding("int4", "05", "6", "5"), "int4", "names '5', which is the same value of type integer as '05'", "leave one of them out"},
		{arranging("int4", hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"1", "two", "3"}}), "int4", "its hierarchy names 'two'", "such as 5"},
		{
			arranging("mood", hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{{Label: "any", Children: []hierarchy.Node{{Label: "NO"}, {Label: "yes"}}}}}),
			"mood", "its hierarchy names 'NO', which is no value", "one of the labels",
		},
		{arranging("inet", hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{{Label: "10.0.0"}}}), "inet", "its hierarchy names '10.0.0'", "SELECT '...'::inet"},
	} {
		publications, problems := p.publish(c.policy)
		if len(publications) > 0 || len(problems) != 1 {
			t.Errorf("%s: %d publications, problems %v", c.column, len(publications), problems)
			continue
		}
		got := problems[0]
		if got.Table != typed || got.Column != c.column || !strings.Contains(got.What, c.what) || !strings.Contains(got.Fix, c.fix) {
			t.Errorf("%s: %+v", c.column, got)
		}
	}
	// All at once, each mistake beside the right values of every list.
	policy := bounding("int4", "1", "x", "2", "y", "3")
	policy.Columns = append(policy.Columns, arranging("bool", hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"no", "YES"}}).Columns[1])
	policy.Columns[2].Hierarchy.Order = append(policy.Columns[2].Hierarchy.Order, "z")
	if _, problems := p.publish(policy); len(problems) != 3 {
		t.Errorf("three mistakes give %v", problems)
	}
}

func TestCheckRefusesValuesThatTheTypeDoesNotHave(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	columns := &p.in.Policy.Tables[0].Columns
	*columns = append(*columns, catalog.ColumnPolicy{Name: "sex", Role: catalog.Sensitive})
	constraints := &p.in.Policy.Tables[0].Constraints
	*constraints = append(*constraints, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "sex", Values: []string{"F"}})
	if report := p.check().Errors(); len(report) != 1 || !contains(report, "policy", "its labels are f, m") {
		t.Errorf("findings:\n%s", report)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	advise := func(policy catalog.TablePolicy) inspect.Report {
		t.Helper()
		report, err := inspect.Advise(t.Context(), p.conn, catalog.Policy{Tables: []catalog.TablePolicy{policy}}, []catalog.Publication{p.published(policy)})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Errors()) > 0 {
			t.Errorf("advice is an error:\n%s", report)
		}
		immediate := policy.Updates.Mode == catalog.Immediate
		if contains(report, "updates-immediate", "whoever polls counts") != immediate {
			t.Errorf("%v updates:\n%s", policy.Updates.Mode, report)
		}
		return slices.DeleteFunc(report, func(f inspect.Finding) bool { return f.Code == "updates-immediate" })
	}
	if report := advise(bounding("bool", "TRUE", "FALSE")); len(report) != 3 || !contains(report, "too-few", "fewer than 2 rows") ||
		!contains(report, "infeasible", "alpha can be 1 at the least") ||
		!contains(report, "value-absent", "of bool names what no row of the table has now: 'FALSE'") {
		t.Errorf("of one row:\n%s", report)
	}
	if report := advise(bounding("varchar", "TRUE too", "TRUE")); !contains(report, "value-absent", "has now: 'TRUE too'") || contains(report, "value-absent", "'TRUE'") {
		t.Errorf("a longer text than the column holds:\n%s", report)
	}
	parts := arranging("text", hierarchy.Spec{Kind: hierarchy.Suppression})
	parts.Constraints = []privacy.Spec{{K: 1, Over: []string{"text"}}, {K: 1, Over: []string{"age"}}}
	if report := advise(parts); len(report) != 1 || !contains(report, "parts", "2 parts that are protected apart from each other: age | text") {
		t.Errorf("of two parts:\n%s", report)
	}
	parts.Updates = catalog.Updates{Mode: catalog.Guarded}
	if report := advise(parts); len(report) != 1 || !contains(report, "guarded-whole", "make parts of it: age | text; 1-anonymity of all of them is kept besides") {
		t.Errorf("of two parts, guarded:\n%s", report)
	}
	parts.Updates.Within, parts.Updates.Batch = time.Hour, 2
	if report := advise(parts); !contains(report, "guarded-within", "batches of 2 records, and no smaller ones are ever tried") {
		t.Errorf("of batches that are full at once:\n%s", report)
	}
	parts.Updates.Batch = 3
	if report := advise(parts); contains(report, "guarded-within", "") {
		t.Errorf("of batches that can be smaller:\n%s", report)
	}
	parts.Updates = catalog.Updates{Mode: catalog.Immediate}
	parts.Constraints = append(parts.Constraints, privacy.Spec{K: 1})
	if report := advise(parts); len(report) != 0 {
		t.Errorf("of one part:\n%s", report)
	}
	persons := bounding("text", "05")
	persons.Subject = "uuid"
	persons.Constraints[0].K = 1
	if report := advise(persons); len(report) != 1 || !contains(report, "infeasible", "alpha can be 1 at the least") {
		t.Errorf("of one person:\n%s", report)
	}
	persons.Constraints[0].K = 2
	if report := advise(persons); !contains(report, "too-few", "fewer than 2 persons") {
		t.Errorf("of one person, for two:\n%s", report)
	}
}
