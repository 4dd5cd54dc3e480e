package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestMirroredShape publishes a table that is not protected: the listed columns, in the table's order,
// as they are, and the key is stored besides.
func TestMirroredShape(t *testing.T) {
	t.Parallel()
	relation := catalog.Relation{
		OID: 7, Name: catalog.Name{Schema: "public", Relation: "wards"}, Kind: catalog.KindTable, Key: []string{"code"}, ReplicaIdentity: 'd',
		Columns: []catalog.Column{
			{Name: "code", Number: 1, Type: "text", BaseType: "text"},
			{Name: "name", Number: 2, Type: "text", BaseType: "text"},
			{Name: "made", Number: 3, Type: "text", BaseType: "text", Generated: true},
			{Name: "chief", Number: 4, Type: "text", BaseType: "text"},
			{Name: "floor", Number: 5, Type: "integer", BaseType: "int4"},
			{Name: "of", Number: 6, Type: "regclass", BaseType: "regclass", NamesObjects: true},
		},
	}
	p, problems := catalog.Publish(catalog.MirrorTable(relation.Name, []string{"floor", "name"}), relation)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var shown []string
	for _, c := range p.Columns {
		if c.Part != catalog.Copy || c.Source != c.Name {
			t.Errorf("%+v is not as it is", c)
		}
		shown = append(shown, c.Name)
	}
	if !slices.Equal(shown, []string{"name", "floor"}) {
		t.Errorf("shown are %v", shown)
	}
	for _, test := range []struct {
		columns []string
		problem string
	}{
		{nil, "lists no column"},
		{[]string{"missing"}, "no such column"},
		{[]string{"made"}, "generated column"},
		{[]string{"of"}, "other sessions may not be able to read"},
	} {
		_, problems := catalog.Publish(catalog.MirrorTable(relation.Name, test.columns), relation)
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), test.problem) {
			t.Errorf("%v: %v", test.columns, problems)
		}
	}
	relation.Key = nil
	if _, problems := catalog.Publish(catalog.MirrorTable(relation.Name, []string{"name"}), relation); len(problems) != 1 || !strings.Contains(problems[0].What, "cannot be identified") {
		t.Errorf("rows that nothing tells apart: %v", problems)
	}
}

// TestPoliciesAreDivided tells protected tables from mirrored ones.
func TestPoliciesAreDivided(t *testing.T) {
	t.Parallel()
	name := func(of string) catalog.Name { return catalog.Name{Schema: "public", Relation: of} }
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: name("people"), Updates: catalog.Updates{Mode: catalog.Guarded}}, catalog.MirrorTable(name("wards"), []string{"a"})}}
	if got := policy.Mirrored(); !slices.Equal(got, []catalog.Name{name("wards")}) {
		t.Errorf("mirrored are %v", got)
	}
	if got := policy.Protecting().Tables; len(got) != 1 || got[0].Table != name("people") || len(policy.Tables) != 2 {
		t.Errorf("protected are %v", got)
	}
}
