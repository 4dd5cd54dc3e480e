package catalog

import (
	"slices"
	"strings"
	"testing"
)

// TestPartsAreKept follows a relation, and one that a view reads, whose parts are altered, come
// and go.
func TestPartsAreKept(t *testing.T) {
	t.Parallel()
	table := ReadableRelation{
		OID: 1, Name: Name{"public", "t"}, Kind: KindPartitionedTable, Columns: []ReadableColumn{{Number: 1, Name: "a"}, {Number: 3, Name: "b"}},
		Parts: []ReadablePart{{10, []int16{1, 0, 3}}, {11, []int16{5, 0, 2}}},
	}
	view := ReadableRelation{OID: 2, Name: Name{"public", "v"}, Kind: KindView, Definition: "SELECT", Reads: []Name{table.Name}}
	gone := func(oid OID) bool { return oid == 99 }
	with := func(parts ...ReadablePart) [2]Identity {
		now := table
		now.Parts = parts
		under := map[Name]ReadableRelation{table.Name: now}
		return [2]Identity{IdentityOf(now, under), IdentityOf(view, under)}
	}
	accepted := with(table.Parts...)
	for name, c := range map[string]struct {
		parts []ReadablePart
		told  string
	}{
		"nothing":       {table.Parts, ""},
		"another":       {append([]ReadablePart{{12, []int16{3, 0, 1}}}, table.Parts...), ""},
		"gone":          {table.Parts[:1], ""},
		"column added":  {[]ReadablePart{{10, []int16{1, 0, 3, 4}}, {11, []int16{5, 0, 2, 7}}}, ""},
		"swapped":       {[]ReadablePart{{10, []int16{3, 0, 1}}, table.Parts[1]}, "identifier 10 had"},
		"other column":  {[]ReadablePart{table.Parts[0], {11, []int16{5, 0, 6}}}, "identifier 11 had"},
		"swapped later": {[]ReadablePart{{10, []int16{1, 0, 3}}, {11, []int16{5, 0, 4, 2}}}, "identifier 11 had"},
	} {
		now := with(c.parts...)
		for i, before := range accepted {
			stored, err := ParseIdentity(before.String())
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Join(stored.Changes(now[i]), "; "); (told == "") != (c.told == "") || !strings.Contains(told, c.told) {
				t.Errorf("%s: %q, not %q", name, told, c.told)
			}
			// A part that was taken off is known when it comes back; what never was there is taken.
			without := with(c.parts[1:]...)[i]
			if told := stored.Knowing(without, gone).Changes(now[i]); (len(told) == 0) != (c.told == "") {
				t.Errorf("%s, after a while: %q", name, told)
			}
		}
	}
	for i, before := range accepted {
		earlier := with()[i] // of a store that knew no parts
		if told := earlier.Changes(before); len(told) > 0 {
			t.Errorf("parts that were not known have changed: %q", told)
		}
		taken := earlier.Knowing(with(ReadablePart{99, nil}, table.Parts[1], table.Parts[0])[i], gone)
		if taken.String() != before.String() {
			t.Errorf("%s is not %s", taken, before)
		}
		if all := taken.AllParts(); len(all) != 2 || all[0] != 10 || all[1] != 11 {
			t.Errorf("its parts are %v", all)
		}
		if other := (Identity{OID: 7}).Knowing(before, gone); len(other.AllParts()) > 0 {
			t.Errorf("another relation has the parts: %s", other)
		}
	}
}

// TestIdentitiesDiffer compares relations with what they were, where they are others.
func TestIdentitiesDiffer(t *testing.T) {
	t.Parallel()
	columns := []ReadableColumn{{Number: 1, Name: "a", Type: "integer", TypeOID: 23}}
	inner := Identity{OID: 1, Kind: string(KindTable), Columns: columns}
	view := Identity{OID: 2, Kind: string(KindView), Columns: columns, Definition: "SELECT a", Reads: map[string]Identity{"s.t": inner}}
	other := func(i Identity, change func(*Identity)) Identity { change(&i); return i }
	over := func(i Identity) Identity {
		return other(view, func(v *Identity) { v.Reads = map[string]Identity{"s.t": i} })
	}
	protected := Identity{OverProtected: true}
	for name, c := range map[string]struct {
		before, now Identity
		told        string
	}{
		"the same":              {view, view, ""},
		"another number":        {inner, other(inner, func(i *Identity) { i.OID = 9 }), "table 1 was accepted, and table 9 has its name"},
		"another number, other": {inner, other(inner, func(i *Identity) { i.OID, i.Columns = 9, nil }), "table 1 was accepted, and table 9 has its name"},
		"another kind":          {inner, other(inner, func(i *Identity) { i.Kind = string(KindView) }), "table 1 was accepted, and view 1 has its name"},
		"another definition":    {view, other(view, func(i *Identity) { i.Definition = "SELECT 1" }), "its definition is another one"},
		"another one under":     {view, over(other(inner, func(i *Identity) { i.OID = 9 })), "of s.t, which it reads: table 1 was accepted, and table 9 has its name"},
		"over protected tables": {protected, protected, ""},
		"no longer":             {protected, view, "a view over protected tables was accepted, and view 2 has its name"},
		"from now on":           {view, protected, "view 2 was accepted, and a view over protected tables has its name"},
		"a user's type under": {
			view, over(other(inner, func(i *Identity) {
				i.Columns = []ReadableColumn{{Number: 1, Name: "a", Type: "mood", TypeOID: firstUserType}}
			})), "of s.t, which it reads: column a is of type mood, and was integer",
		},
	} {
		if told := strings.Join(c.before.Changes(c.now), "; "); told != c.told {
			t.Errorf("%s: %q, not %q", name, told, c.told)
		}
	}
}

// TestIdentitiesAreCompleted has what an earlier version kept known in full, and what was known
// left as it is.
func TestIdentitiesAreCompleted(t *testing.T) {
	t.Parallel()
	now := Identity{
		OID: 1, Kind: string(KindTable), Types: []UserType{{OID: 30000}},
		Columns: []ReadableColumn{{Number: 2, Name: "b", TypeOID: 25}, {Number: 1, Name: "a", TypeOID: 23}, {Number: 3, Name: "c", TypeOID: 20}},
	}
	never := func(OID) bool { return false }
	before := Identity{OID: 1, Kind: string(KindTable), Columns: []ReadableColumn{{Number: 1, Name: "a"}, {Number: 2, Name: "b", TypeOID: 99}, {Number: 4, Name: "d"}}}
	text := before.String()
	known := before.Knowing(now, never)
	var types []OID
	for _, c := range known.Columns {
		types = append(types, c.TypeOID)
	}
	if want := []OID{23, 99, 0}; !slices.Equal(types, want) || len(known.Types) != 1 || before.String() != text {
		t.Errorf("types %v are known, not %v, with %v; what was kept is %s", types, want, known.Types, before)
	}
	if known := (Identity{OID: 1}).Knowing(now, never); !slices.Equal(known.Columns, now.Columns) {
		t.Errorf("columns %v are known", known.Columns)
	}
	if known := before.Knowing(Identity{OID: 2, Types: now.Types}, never); known.Types != nil {
		t.Errorf("types %v of another relation are known", known.Types)
	}
	served := before.Served(now.Columns)
	if len(served) != 2 || served[0].Name != "b" || served[1].Name != "a" {
		t.Errorf("%v are served", served)
	}
}
