package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// guests are two tables about the same 300 persons, who have four or five records in each,
// and nothing declares it. A number from 0 to 1 that seems random is hash(text) of it.
const guests = `CREATE SCHEMA held; GRANT USAGE ON SCHEMA held TO {owner};
	CREATE FUNCTION pg_temp.any_of(n int, VARIADIC of anyarray) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT (hashtextextended(of::text, 1) & 1048575)::int % n';
	CREATE TABLE held.stays (id int, guest text, born date, age int, sex text, zip text, region text, country text,
		room text, city text, parents text, rare text, mood boolean, twice int, price int);
	INSERT INTO held.stays SELECT i, 'G' || g, date '1950-01-01' + pg_temp.any_of(20000, 'born', g::text), 20 + pg_temp.any_of(50, 'age', g::text) + i / 300,
			CASE pg_temp.any_of(2, 'sex', g::text) WHEN 0 THEN 'f' ELSE 'm' END, 'Z' || pg_temp.any_of(40, 'zip', g::text), 'R' || c % 8, 'all',
			'type ' || pg_temp.any_of(12, 'room', i::text), 'C' || c, CASE WHEN g % 2 = 0 THEN 'none' ELSE 'P' || g END,
			CASE WHEN i < 6 THEN 'rare ' || i % 3 END, pg_temp.any_of(3, 'mood', i::text) = 0, i % 750, pg_temp.any_of(90, 'price', i::text)
		FROM generate_series(0, 1349) i, LATERAL (SELECT i % 300, pg_temp.any_of(160, 'city', i::text)) x(g, c);
	CREATE TABLE held.bills (guest varchar(9), age int, sex text, zip text, method text);
	INSERT INTO held.bills SELECT guest, age, sex, zip, 'method ' || pg_temp.any_of(5, 'method', id::text) FROM held.stays WHERE id < 1200;
	GRANT SELECT ON ALL TABLES IN SCHEMA held TO {owner}`

// rolesOf is a policy for a table of which some columns are quasi-identifying and some are
// published as they are.
func rolesOf(relation, quasi, raw string) catalog.TablePolicy {
	policy := catalog.TablePolicy{
		Table: catalog.Name{Schema: "held", Relation: relation}, Method: "rounded-partition",
		Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{K: 4}},
	}
	for column := range strings.FieldsSeq(quasi) {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: column, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Suppression}})
	}
	for i, column := range strings.Fields(raw) {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: column, Role: []catalog.Role{catalog.Sensitive, catalog.Insensitive}[i%2]})
	}
	return policy
}

// telling are the findings of a policy, as code table.column, with the quasi-identifiers that
// the column tells.
func (p prepared) telling(tables ...catalog.TablePolicy) []string {
	p.t.Helper()
	relations, err := inspect.Relations(p.t.Context(), p.owner, p.in.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	report, err := inspect.Joinable(p.t.Context(), p.owner, catalog.Policy{Tables: tables}, relations)
	if err != nil {
		p.t.Fatal(err)
	}
	found := []string{}
	for _, f := range report {
		what := fmt.Sprintf("%s %s.%s", f.Code, f.Table.Relation, f.Column)
		if _, after, tells := strings.Cut(f.What, "same value of it have the same value of "); tells {
			end := strings.IndexAny(after, ":") // of the one
			if i := strings.Index(after, ", as those"); i >= 0 {
				end = i
			}
			what += " tells " + after[:end]
		}
		if (f.Severity == inspect.Error) != (f.Code == inspect.CodeNearlyUnique) {
			p.t.Errorf("%s", f)
		}
		found = append(found, what)
	}
	slices.Sort(found)
	return found
}

// TestTellingColumns warns of columns that bring the records of a person together, or tell a
// quasi-identifier, and of no others.
func TestTellingColumns(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, p.fill(guests))
	stays := func(quasi, raw string) catalog.TablePolicy { return rolesOf("stays", quasi, raw) }
	counted := stays("born sex zip", "guest")
	counted.Subject = "guest"
	known := stays("born sex zip", "guest")
	known.Joinable = []string{"guest"}
	for _, c := range []struct {
		what   string
		tables []catalog.TablePolicy
		want   []string
	}{
		{"the number of a person", []catalog.TablePolicy{stays("born sex zip", "guest room")}, []string{"repeated-key stays.guest tells born, sex, zip"}},
		{"where some of what is known of the person changes", []catalog.TablePolicy{stays("age sex zip", "guest")}, []string{"repeated-key stays.guest tells sex, zip"}},
		{"where one thing is known", []catalog.TablePolicy{stays("zip", "room guest")}, []string{"repeated-key stays.guest tells zip"}},
		{"where one of several is the same", []catalog.TablePolicy{stays("age zip", "guest")}, []string{"repeated-key stays.guest tells zip"}},
		{"where that is what many have", []catalog.TablePolicy{stays("age sex", "guest")}, []string{"tells-quasi-identifier stays.guest tells sex"}},
		{"where half of the records have none", []catalog.TablePolicy{stays("born sex zip", "parents")}, []string{"repeated-key stays.parents tells born, sex, zip"}},
		{"a finer name of what is generalized", []catalog.TablePolicy{stays("born region", "city")}, []string{"tells-quasi-identifier stays.city tells region"}},
		{"what is known says nothing of anybody", []catalog.TablePolicy{stays("country", "guest city")}, nil},
		{"what persons do", []catalog.TablePolicy{stays("born sex zip region", "room mood price")}, nil},
		{"values that chance has agree", []catalog.TablePolicy{stays("sex", "rare")}, nil},
		{"a subject is counted", []catalog.TablePolicy{counted}, []string{"nearly-unique stays.guest"}},
		{"acknowledged", []catalog.TablePolicy{known}, nil},
		{"a graver finding", []catalog.TablePolicy{stays("zip sex", "twice")}, []string{"nearly-unique stays.twice"}},
		{"nothing published", []catalog.TablePolicy{stays("born sex zip", "")}, nil},
		{"in two tables", []catalog.TablePolicy{stays("born sex zip", "guest room"), rolesOf("bills", "sex zip", "method guest")}, []string{
			"equal-columns stays.guest", "repeated-key bills.guest tells sex, zip", "repeated-key stays.guest tells born, sex, zip",
		}},
		{"acknowledged in one of two", []catalog.TablePolicy{known, rolesOf("bills", "sex zip", "method guest")}, []string{
			"equal-columns stays.guest", "repeated-key bills.guest tells sex, zip",
		}},
		{"a number without more in the other", []catalog.TablePolicy{stays("born sex zip", "guest"), rolesOf("bills", "age", "guest")}, []string{
			"repeated-key stays.guest tells born, sex, zip",
		}},
	} {
		if got := p.telling(c.tables...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestTellingSample has the same said of large tables, of which some values are drawn, and
// whatever types the columns have.
func TestTellingSample(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, p.fill(`CREATE SCHEMA held; GRANT USAGE ON SCHEMA held TO {owner};
		CREATE TABLE held.stays (guest int, born timestamptz, height numeric, gone point, room int);
		INSERT INTO held.stays SELECT g, timestamptz '1950-01-01 12:00+00' + g * 7919 % 20000 * interval '1 day', round(g % 70, i % 3), CASE WHEN g % 3 = 0 THEN NULL ELSE point(g, i) END, i % 90
			FROM generate_series(0, 59999) i, LATERAL (SELECT i * 7919 % 10007) x(g);
		GRANT SELECT ON ALL TABLES IN SCHEMA held TO {owner}`))
	want := []string{"repeated-key stays.guest tells born, height"}
	if got := p.telling(rolesOf("stays", "born height gone", "guest room")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
