package catalog

import (
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
