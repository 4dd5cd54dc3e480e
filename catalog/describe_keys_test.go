package catalog

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// TestKeysAreNamedAsPostgreSQLNamesThem: names of constraints that have no other, which fit into
// an identifier.
func TestKeysAreNamedAsPostgreSQLNamesThem(t *testing.T) {
	long := strings.Repeat("t", 70)
	for _, c := range []struct{ table, columns, kind, want string }{
		{"visits", "", "pkey", "visits_pkey"},
		{"visits", "clinic_person", "fkey", "visits_clinic_person_fkey"},
		{long, "", "pkey", strings.Repeat("t", 58) + "_pkey"},
		{long, "person_id", "fkey", strings.Repeat("t", 48) + "_person_id_fkey"},
		{strings.Repeat("ä", 40), "", "pkey", strings.Repeat("ä", 29) + "_pkey"},
	} {
		if got := constraintName(c.table, c.columns, c.kind); got != c.want {
			t.Errorf("%s (%s) %s: %s, want %s", c.table, c.columns, c.kind, got, c.want)
		}
	}
}

// TestDescribedKeys: a table's own key, and the one that leads to its parent.
func TestDescribedKeys(t *testing.T) {
	persons, stays, orders := Name{"public", "persons"}, Name{"public", "stays"}, Name{"hospital", "orders"}
	kind := People{
		Root: persons, Key: []string{"clinic", "person"},
		Tables: []PeopleTable{
			{Table: stays, Person: []string{"clinic", "of"}, Key: []string{"stay"}},
			{Table: orders, Through: stays, By: []string{"stay_id"}},
		},
	}
	own := func(m *Membership, table Name) string {
		var said []string
		for _, k := range m.keys(table) {
			text := k.Name + "(" + strings.Join(k.Columns, ",") + ") " + k.Index()
			if k.Foreign() {
				text += " -> " + k.References.String()
			}
			said = append(said, text)
		}
		return strings.Join(said, "; ")
	}
	for at, want := range map[int]string{
		people.Root: "persons_pkey(clinic,person) key",
		0:           "stays_pkey(stay) key; stays_clinic_of_fkey(clinic,of) link -> public.persons",
		1:           "orders_stay_id_fkey(stay_id) link -> public.stays",
	} {
		if got := own(&Membership{People: kind, Table: at}, kind.Names()[at+1]); got != want {
			t.Errorf("table %d: %s, want %s", at, got, want)
		}
	}
	if keys := (*Membership)(nil).keys(persons); keys != nil {
		t.Errorf("a table of nobody has the keys %v", keys)
	}
}
