package catalog

import "testing"

// TestTypesOfWithdrawnTables: clients may name the types of what they can read, and no others.
func TestTypesOfWithdrawnTables(t *testing.T) {
	t.Parallel()
	zip, table, codes := Name{"public", "zip"}, Name{"public", "people"}, Name{"public", "codes"}
	column := func(of Name) Column { return Column{Name: "zip", UserType: of, BaseType: "text"} }
	relations := []Relation{
		{Name: table, Kind: KindTable, Columns: []Column{column(zip)}},
		{Name: codes, Kind: KindTable, Columns: []Column{column(zip)}},
	}
	policy := Policy{Tables: []TablePolicy{{Table: table, Columns: []ColumnPolicy{{Name: "zip", Role: Sensitive}}}}, Readable: []Name{codes}}
	for _, c := range []struct {
		withdrawn map[Name]string
		want      [3]bool // zip, people, codes
	}{
		{nil, [3]bool{true, true, true}},
		{map[Name]string{table: "why"}, [3]bool{true, false, true}},
		{map[Name]string{table: "why", codes: "why"}, [3]bool{}},
	} {
		s := NewSnapshot(policy, relations, c.withdrawn)
		for i, name := range []Name{zip, table, codes} {
			if _, found := s.Type(name.Schema, name.Relation); found != c.want[i] {
				t.Errorf("without %v, type %s: %t", c.withdrawn, name, found)
			}
		}
	}
}

// TestRowTypesAreThoseOfTheAudience: a row type has the columns of who names it, in statements and in the definitions of views.
func TestRowTypesAreThoseOfTheAudience(t *testing.T) {
	t.Parallel()
	people, visits := Name{"public", "people"}, Name{"public", "visits"}
	relations := []Relation{{Name: people, Kind: KindTable}, {Name: visits, Kind: KindTable}}
	policy := Policy{
		Tables:    []TablePolicy{{Table: people, Audiences: []AudiencePolicy{{Audience: "press"}}}, {Table: visits}},
		Audiences: []Audience{{Name: "press", Roles: []string{"press"}}},
	}
	own := NewSnapshot(policy, relations, nil)
	seen, _ := policy.For("press")
	for what, c := range map[string]struct {
		in             *Snapshot
		people, visits Name
	}{
		"of the table's own readers": {own, Published(people), Published(visits)},
		"of the audience":            {NewSnapshot(seen, relations, nil), PublishedFor("press", people), Name{}},
		"in a view":                  {own.InDefinition(map[Name]Resolution{people: {Target: Published(people)}}), Published(people), Published(visits)},
		"in a readable view":         {own.InDefinition(map[Name]Resolution{people: {Target: people}}), Published(people), Published(visits)},
		"in a view of the audience":  {own.InDefinition(map[Name]Resolution{people: {Target: PublishedFor("press", people)}}), PublishedFor("press", people), Name{}},
	} {
		for name, want := range map[Name]Name{people: c.people, visits: c.visits} {
			if got, _ := c.in.Type(name.Schema, name.Relation); got != want {
				t.Errorf("%s, %s is %s, not %s", what, name, got, want)
			}
		}
	}
}
