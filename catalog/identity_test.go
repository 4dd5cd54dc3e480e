package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// leaf is a partition of the clinic's table.
func leaf(name string, identity byte, key ...string) catalog.Leaf {
	return catalog.Leaf{
		Name: catalog.Name{Schema: "public", Relation: name}, Kind: catalog.KindTable, Parent: clinic, Key: key, ReplicaIdentity: identity,
	}
}

// whole is a leaf without a key, whose rows identify themselves.
func whole(name string) catalog.Leaf {
	l := leaf(name, 'f', "value", "age", "id")
	l.KeyRepeats = true
	return l
}

func TestLeavesAgreeOnAKey(t *testing.T) {
	t.Parallel()
	foreign := leaf("far", 'n')
	foreign.Kind = catalog.KindForeignTable
	for name, c := range map[string]struct {
		primary, own, unique []string
		leaves               []catalog.Leaf
		want                 string
		fix                  []string // of the only problem, where the leaves do not agree
	}{
		"none yet":                      {primary: []string{"id", "age"}, want: "[id age] false"},
		"none yet, and no primary key":  {own: []string{"id"}, want: "[id] false"},
		"none yet, and nothing":         {want: "[] false", fix: []string{"\"clinic\" REPLICA IDENTITY FULL;\n-- or ADD PRIMARY KEY"}},
		"the primary key":               {primary: []string{"id", "age"}, leaves: []catalog.Leaf{leaf("a", 'd', "id", "age"), leaf("b", 'f', "id", "age")}, want: "[id age] false"},
		"an index of all":               {unique: []string{"age", "id"}, leaves: []catalog.Leaf{leaf("a", 'i', "id", "age"), leaf("b", 'i', "age", "id")}, want: "[id age] false"},
		"a wider index on each":         {unique: []string{"id"}, leaves: []catalog.Leaf{leaf("a", 'i', "id", "age"), leaf("b", 'i', "id", "age")}, want: "[id age] false"},
		"an index beside a primary key": {primary: []string{"id", "age"}, unique: []string{"value"}, leaves: []catalog.Leaf{leaf("a", 'i', "value"), leaf("b", 'i', "value")}, want: "[value] false"},
		"whole rows that have keys":     {leaves: []catalog.Leaf{leaf("a", 'f', "id"), leaf("b", 'f', "id")}, want: "[id age value] true"},
		"an index on each that is not unique in all": {
			unique: []string{"id", "age"}, leaves: []catalog.Leaf{leaf("a", 'i', "id"), leaf("b", 'd', "id")}, want: "[] false",
			fix: []string{`"a" REPLICA IDENTITY FULL;`, "\"b\" REPLICA IDENTITY FULL;\n-- or"},
		},
		"whole rows":                 {leaves: []catalog.Leaf{whole("a"), whole("b")}, want: "[id age value] true"},
		"whole rows, one with a key": {leaves: []catalog.Leaf{whole("a"), leaf("b", 'f', "id")}, want: "[id age value] true"},
		"nothing in one": {
			primary: []string{"id"}, leaves: []catalog.Leaf{leaf("a", 'd', "id"), leaf("b", 'n')}, want: "[] false",
			fix: []string{`ALTER TABLE "public"."b" REPLICA IDENTITY DEFAULT`},
		},
		"another index in two": {
			primary: []string{"id"}, leaves: []catalog.Leaf{leaf("a", 'i', "value"), leaf("b", 'i', "age"), leaf("c", 'd', "id")}, want: "[] false",
			fix: []string{"\"a\" REPLICA IDENTITY DEFAULT;\nALTER TABLE \"public\".\"b\" REPLICA IDENTITY DEFAULT"},
		},
		"different keys": {
			leaves: []catalog.Leaf{leaf("a", 'd', "id"), leaf("b", 'i', "age"), leaf("c", 'f', "id")}, want: "[] false",
			fix: []string{`"a" REPLICA IDENTITY FULL;`, "\"b\" REPLICA IDENTITY FULL;\n-- or ALTER TABLE \"public\".\"clinic\" ADD PRIMARY KEY"},
		},
		"no key in one": {
			leaves: []catalog.Leaf{whole("a"), leaf("b", 'd')}, want: "[] false", fix: []string{`ALTER TABLE "public"."b" REPLICA IDENTITY FULL`},
		},
		"whole rows and a key": {
			leaves: []catalog.Leaf{whole("a"), leaf("b", 'd', "id")}, want: "[] false", fix: []string{`ALTER TABLE "public"."b" REPLICA IDENTITY FULL`},
		},
		"a foreign table": {
			primary: []string{"id"}, leaves: []catalog.Leaf{leaf("a", 'd', "id"), foreign}, want: "[id] false",
			fix: []string{`ALTER TABLE "public"."clinic" DETACH PARTITION "public"."far"`},
		},
	} {
		r := clinicTable(column("value", "text"))
		r.Kind, r.HasChildren, r.PrimaryKey, r.Leaves = catalog.KindPartitionedTable, len(c.leaves) > 0, c.primary, c.leaves
		r.Key = c.own
		unique := [][]string{{"value", "age", "id"}}
		if c.unique != nil {
			unique = append(unique, c.unique)
		}
		r.Key, r.KeyRepeats = r.CommonKey(unique)
		if got := fmt.Sprintf("%v %t", r.Key, r.KeyRepeats); got != c.want {
			t.Errorf("%s: the key is %s, want %s", name, got, c.want)
		}
		_, problems := catalog.Publish(clinicPolicy("value"), r)
		if (len(problems) > 0) != (len(c.fix) > 0) || len(problems) > 1 {
			t.Errorf("%s: problems %v", name, problems)
			continue
		}
		for _, part := range c.fix {
			if !strings.Contains(problems[0].Fix, part) {
				t.Errorf("%s: the fix is %s", name, problems[0].Fix)
			}
		}
	}
}

func TestTablesWithoutAKeyAreRefusedWithTheStatementThatMendsThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		identity  byte
		primary   []string
		what, fix string
	}{
		"default":           {'d', nil, "neither a primary key", "REPLICA IDENTITY FULL;\n-- or ADD PRIMARY KEY"},
		"nothing":           {'n', nil, "is NOTHING", "REPLICA IDENTITY FULL;\n-- or ADD PRIMARY KEY"},
		"nothing, but keys": {'n', []string{"id"}, "not the primary key", `ALTER TABLE "public"."clinic" REPLICA IDENTITY DEFAULT`},
		"a dropped index":   {'i', nil, "is gone", "REPLICA IDENTITY FULL"},
	} {
		r := clinicTable(column("value", "text"))
		r.Key, r.ReplicaIdentity, r.PrimaryKey = nil, c.identity, c.primary
		_, problems := catalog.Publish(clinicPolicy("value"), r)
		if len(problems) != 1 || !strings.Contains(problems[0].What, c.what) || !strings.Contains(problems[0].Fix, c.fix) ||
			!strings.Contains(problems[0].What, "UPDATE and DELETE fail at the source") {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// Without a key, rows are told apart by their columns' texts.
func TestTextsThatChangeByThemselvesIdentifyNothing(t *testing.T) {
	t.Parallel()
	loose := column("value", "text")
	loose.Deterministic = false
	naming := func(sqlType string) catalog.Column {
		c := column("value", sqlType)
		c.NamesObjects = true
		return c
	}
	for name, test := range map[string]struct {
		column catalog.Column
		fits   bool
	}{
		"text": {loose, true}, "json": {column("value", "json"), true}, "xml": {column("value", "xml"), true}, "point": {column("value", "point"), true},
		"a user's": {column("value", "public.citext"), true}, "float8": {column("value", "float8"), true},
		"a relation's name": {naming("regclass"), false}, "a pair of names": {naming("public.pair"), false}, "money": {column("value", "money"), false}, "prices": {column("value", "_money"), false},
	} {
		r := clinicTable(test.column)
		r.Key, r.KeyRepeats, r.ReplicaIdentity = r.Replicated(), true, 'f'
		policy := clinicPolicy("value")
		policy.Constraints = policy.Constraints[:1]
		_, problems := catalog.Publish(policy, r)
		if test.fits != (len(problems) == 0) || !test.fits && (len(problems) != 1 || problems[0].Column != "value") {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestGeneratedColumnsAreNoKey(t *testing.T) {
	t.Parallel()
	made := column("made", "int4")
	made.Generated = true
	r := clinicTable(column("value", "text"))
	r.Columns = append(r.Columns, made)
	if got := r.Replicated(); !slices.Equal(got, []string{"id", "age", "value"}) {
		t.Errorf("replicated are %q", got)
	}
	r.Key, r.PrimaryKey = []string{"id", "made"}, []string{"id", "made"}
	if _, problems := catalog.Publish(clinicPolicy("value"), r); len(problems) != 1 || problems[0].Column != "made" {
		t.Error(problems)
	}
}
