package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPseudonymForms(t *testing.T) {
	t.Parallel()
	typed := func(declared, base string, modifier int32) Column {
		return Column{Name: "id", Type: declared, BaseType: base, Modifier: modifier, Deterministic: true}
	}
	root, visits := Name{"public", "patients"}, Name{"public", "visits"}
	for _, c := range []struct {
		key, link Column
		want      PseudonymForm
		wrong     string
	}{
		{typed("bigint", "int8", -1), typed("bigint", "int8", -1), PseudonymForm{Bits: 63}, ""},
		{typed("bigint", "int8", -1), typed("integer", "int4", -1), PseudonymForm{Bits: 31}, ""},
		{typed("numeric", "numeric", -1), typed("integer", "int4", -1), PseudonymForm{Bits: 31}, ""},
		{typed("uuid", "uuid", -1), typed("uuid", "uuid", -1), PseudonymForm{Bits: 63, Digits: 32}, ""},
		{typed("text", "text", -1), typed("character varying(20)", "varchar", 24), PseudonymForm{Bits: 63, Digits: 16}, ""},
		{typed("text", "text", -1), typed("character varying(12)", "varchar", 16), PseudonymForm{Bits: 31, Digits: 8}, ""},
		{typed("text", "text", -1), typed("character varying(7)", "varchar", 11), PseudonymForm{}, "public.visits.patient: is a key in people, and a pseudonym cannot stand in a column of type character varying(7)"},
		{typed("text", "text", -1), typed("integer", "int4", -1), PseudonymForm{}, "public.visits.patient: is a key in people, and a pseudonym cannot stand in a column of type integer"},
		{typed("smallint", "int2", -1), typed("integer", "int4", -1), PseudonymForm{}, "public.patients.id: is a key in people, and a pseudonym cannot stand in a column of type smallint"},
		{typed("numeric(10,2)", "numeric", 655366), typed("integer", "int4", -1), PseudonymForm{}, "type numeric(10,2)"},
		{Column{Name: "id", Type: "patient_number", BaseType: "int4", Domain: true}, typed("integer", "int4", -1), PseudonymForm{}, "type patient_number"},
	} {
		c.link.Name = "patient"
		relations := map[Name]Relation{
			root:   {Name: root, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}, Columns: []Column{c.key}},
			visits: {Name: visits, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"patient"}, Columns: []Column{c.link}},
		}
		policies := map[Name]TablePolicy{root: {Table: root}, visits: {Table: visits}}
		p, problems := PublishPeople(People{Kind: "patient", Root: root, Key: []string{"id"}, Tables: []PeopleTable{{Table: visits, Person: []string{"patient"}}}}, policies, relations)
		said := fmt.Sprint(problems)
		if c.wrong != "" {
			if !strings.Contains(said, c.wrong) {
				t.Errorf("key %s, link %s: problems %v, want one with %q", c.key.Type, c.link.Type, said, c.wrong)
			}
			continue
		}
		if strings.Contains(said, "pseudonym") || !slices.Equal(p.Root.Membership.Own, []PseudonymForm{c.want}) || !slices.Equal(p.Tables[0].Membership.Of, p.Root.Membership.Own) {
			t.Errorf("key %s, link %s: %+v, problems %v", c.key.Type, c.link.Type, p.Root.Membership.Own, said)
		}
	}
}

func TestPseudonymExpressions(t *testing.T) {
	t.Parallel()
	for want, form := range map[string]PseudonymForm{
		"(p.own)::t": {Bits: 31},
		"pg_catalog.lpad(pg_catalog.to_hex(p.own), 8, '0')::t":                          {Bits: 31, Digits: 8},
		"(pg_catalog.lpad(pg_catalog.to_hex(p.own), 16, '0') || '8000000000000000')::t": {Bits: 63, Digits: 32},
	} {
		if got := form.SQL(PublishedColumn{Type: "t"}, "p.own"); got != want {
			t.Errorf("%+v is %s, want %s", form, got, want)
		}
	}
}

func TestColumnsOfTwoKeys(t *testing.T) {
	t.Parallel()
	root, visits := Name{"public", "patients"}, Name{"public", "visits"}
	column := func(name string) Column {
		return Column{Name: name, Type: "integer", BaseType: "int4", Deterministic: true}
	}
	relations := map[Name]Relation{
		root:   {Name: root, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"clinic", "id"}, Columns: []Column{column("clinic"), column("id")}},
		visits: {Name: visits, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"clinic", "visit"}, Columns: []Column{column("clinic"), column("patient"), column("visit")}},
	}
	policies := map[Name]TablePolicy{root: {Table: root}, visits: {Table: visits}}
	p := People{Kind: "patient", Root: root, Key: []string{"clinic", "id"}, Tables: []PeopleTable{{Table: visits, Person: []string{"clinic", "patient"}, Key: []string{"clinic", "visit"}}}}
	if _, problems := PublishPeople(p, policies, relations); !strings.Contains(fmt.Sprint(problems), "public.visits.clinic: belongs to two keys in people") {
		t.Errorf("problems %v", problems)
	}
}

func TestKeysOfMixedTypes(t *testing.T) {
	t.Parallel()
	root, visits := Name{"public", "patients"}, Name{"public", "visits"}
	number := Column{Name: "clinic", Type: "integer", BaseType: "int4", Deterministic: true}
	text := Column{Name: "id", Type: "text", BaseType: "text", Modifier: -1, Deterministic: true}
	relations := map[Name]Relation{
		root:   {Name: root, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"clinic", "id"}, Columns: []Column{number, text}},
		visits: {Name: visits, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"clinic", "id"}, Columns: []Column{number, text}},
	}
	p := People{Kind: "patient", Root: root, Key: []string{"clinic", "id"}, Tables: []PeopleTable{{Table: visits, Person: []string{"clinic", "id"}}}}
	publication, problems := PublishPeople(p, map[Name]TablePolicy{root: {Table: root}, visits: {Table: visits}}, relations)
	if said := fmt.Sprint(problems); strings.Contains(said, "a pseudonym") {
		t.Fatalf("problems %v", problems)
	}
	want := map[string]PseudonymForm{"clinic": {Bits: 31}, "id": {Bits: 31, Digits: 16}}
	for _, of := range append(publication.Tables, publication.Root) {
		for _, column := range of.Columns {
			if got := of.Membership.Form(column); got != want[column.Source] {
				t.Errorf("%v.%s: %+v, want %+v", of.Policy.Table, column.Source, got, want[column.Source])
			}
		}
	}

	p.Tables[0].Person = []string{"id", "clinic"}
	_, problems = PublishPeople(p, map[Name]TablePolicy{root: {Table: root}, visits: {Table: visits}}, relations)
	if !strings.Contains(fmt.Sprint(problems), "public.visits.id: is a key in people, and a pseudonym cannot stand in a column of type text") {
		t.Errorf("problems %v", problems)
	}
}
