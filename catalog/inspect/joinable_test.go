package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// keyed are tables with keys of all kinds, which refer to each other.
const keyed = `CREATE SCHEMA keyed; GRANT USAGE ON SCHEMA keyed TO {owner};
		CREATE TABLE keyed.hospitals (no int PRIMARY KEY);
		CREATE TABLE keyed.persons (no int PRIMARY KEY);
		CREATE TABLE keyed.root (id int PRIMARY KEY, card text UNIQUE, mail text, a int, b int, half int, age int,
			ward int REFERENCES keyed.hospitals, person int REFERENCES keyed.persons, boss int REFERENCES keyed.root, UNIQUE (a, b));
		CREATE UNIQUE INDEX ON keyed.root (lower(mail));
		CREATE UNIQUE INDEX ON keyed.root (half) WHERE half > 0;
		CREATE TABLE keyed.child (id int, part int, owner int REFERENCES keyed.root, card text REFERENCES keyed.root (card), person int REFERENCES keyed.persons,
			ward int REFERENCES keyed.hospitals, age int, PRIMARY KEY (id, part)) PARTITION BY RANGE (id);
		CREATE TABLE keyed.child_1 PARTITION OF keyed.child FOR VALUES FROM (0) TO (10);
		CREATE UNIQUE INDEX ON keyed.child_1 (age);
		CREATE TABLE keyed.pair (a int, b int, age int, FOREIGN KEY (a, b) REFERENCES keyed.root (a, b));
		GRANT SELECT ON ALL TABLES IN SCHEMA keyed TO {owner}`

// TestPublishedKeys refuses columns that are published although they are a key of the table,
// or join it with another protected one, each unless the policy acknowledges it by name.
func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, p.fill(keyed))
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "keyed", Relation: relation} }
	table := func(relation string, raw ...string) catalog.TablePolicy {
		policy := catalog.TablePolicy{
			Table: name(relation), Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{K: 2}},
			Columns: []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}},
		}
		for i, column := range raw {
			policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: column, Role: []catalog.Role{catalog.Sensitive, catalog.Insensitive}[i%2]})
		}
		return policy
	}
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	found := func(readable []catalog.Name, tables ...catalog.TablePolicy) []string {
		t.Helper()
		report, err := inspect.PublishedKeys(t.Context(), p.owner, catalog.Policy{Tables: tables, Readable: readable}, relations)
		if err != nil {
			t.Fatal(err)
		}
		columns := []string{}
		for _, f := range report {
			if f.Severity != inspect.Error || f.Code != inspect.CodePublishedKey {
				t.Errorf("%s", f)
			}
			columns = append(columns, f.Table.Relation+"."+f.Column)
		}
		slices.Sort(columns)
		return columns
	}
	both := []catalog.TablePolicy{table("root", "id", "card", "person", "ward", "boss"), table("child", "owner", "card", "person", "ward")}
	byAge := table("child")
	byAge.Columns[0] = catalog.ColumnPolicy{Name: "age", Role: catalog.Sensitive}
	acknowledged := table("root", "id", "card")
	acknowledged.Joinable = []string{"card"}
	for _, c := range []struct {
		what     string
		readable []catalog.Name
		tables   []catalog.TablePolicy
		want     []string
	}{
		{"nothing", nil, []catalog.TablePolicy{table("root"), table("child")}, nil},
		{"a key of its own", nil, []catalog.TablePolicy{table("root", "id", "card", "mail", "half", "person")}, []string{"root.card", "root.half", "root.id", "root.mail"}},
		{"part of a key", nil, []catalog.TablePolicy{table("root", "a"), table("child", "part")}, nil},
		{"a whole key of several columns", nil, []catalog.TablePolicy{table("root", "a", "b"), table("child", "id", "part")}, []string{"child.id", "child.part", "root.a", "root.b"}},
		{"a key of a partition", nil, []catalog.TablePolicy{byAge}, []string{"child.age"}},
		{"a reference to what is not protected", nil, []catalog.TablePolicy{table("child", "owner", "person")}, nil},
		{"a reference to the table itself", nil, []catalog.TablePolicy{table("root", "boss")}, []string{"root.boss"}},
		{"what another table refers to", nil, []catalog.TablePolicy{table("root", "card"), table("child")}, []string{"root.card"}},
		{"part of what another table refers to", nil, []catalog.TablePolicy{table("root", "a"), table("pair")}, []string{"root.a"}},
		{"all kinds", []catalog.Name{name("hospitals")}, both, []string{
			"child.card", "child.owner", "child.person", "root.boss", "root.card", "root.id", "root.person",
		}},
		{"a shared reference to what readers do not see", nil, both, []string{
			"child.card", "child.owner", "child.person", "child.ward", "root.boss", "root.card", "root.id", "root.person", "root.ward",
		}},
		{"a shared reference to a mirrored table, with its key", nil, append(slices.Clone(both), catalog.MirrorTable(name("hospitals"), []string{"no"})), []string{
			"child.card", "child.owner", "child.person", "root.boss", "root.card", "root.id", "root.person",
		}},
		{"acknowledged", nil, []catalog.TablePolicy{acknowledged}, []string{"root.id"}},
	} {
		if got := found(c.readable, c.tables...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	p.in.Policy.Tables = append(p.in.Policy.Tables, acknowledged, catalog.MirrorTable(name("pair"), []string{"a"}))
	p.in.Policy.Readable = []catalog.Name{name("child"), name("hospitals")}
	if n := strings.Count(p.check().String(), "keyed.root, which is protected, and is served as it is"); n != 2 {
		t.Errorf("check tells %d times that a readable or mirrored relation refers to a protected table:\n%s", n, p.check())
	}
	if report := p.check(); !contains(report, inspect.CodePublishedKey, "is unique in the table") {
		t.Errorf("check says nothing of it:\n%s", report)
	}
}
