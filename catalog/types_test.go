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
