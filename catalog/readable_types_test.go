package catalog

import (
	"slices"
	"strings"
	"testing"
)

// TestTypesAreKept compares a table, a view of whole rows of it, and a view over that, with what
// they were when they were accepted, by this version and by one that kept no types.
func TestTypesAreKept(t *testing.T) {
	t.Parallel()
	pair := UserType{OID: 30001, Name: "pair", Fields: []TypedColumn{{Number: 1, Name: "a", TypeOID: 23}}}
	wider := UserType{OID: 30001, Name: "pair", Fields: []TypedColumn{{Number: 1, Name: "a", TypeOID: 23}, {Number: 2, Name: "z", Type: "text", TypeOID: 25}}}
	accepted := ReadableRelation{
		OID: 1, Name: Name{"public", "t"}, Kind: KindTable, Types: []UserType{pair},
		Columns: []ReadableColumn{{Number: 1, Name: "p", Type: "pair", TypeOID: 30001}, {Number: 2, Name: "n", Type: "integer", TypeOID: 23}},
	}
	view := ReadableRelation{OID: 2, Name: Name{"public", "v"}, Kind: KindView, Definition: "SELECT to_jsonb(t.*) FROM t", Reads: []Name{accepted.Name}}
	over := ReadableRelation{OID: 3, Name: Name{"public", "o"}, Kind: KindView, Definition: "SELECT j FROM v", Reads: []Name{view.Name}}
	of := func(table ReadableRelation) [3]Identity {
		under := map[Name]ReadableRelation{table.Name: table, view.Name: view}
		return [3]Identity{IdentityOf(table, under), IdentityOf(view, under), IdentityOf(over, under)}
	}
	never := func(OID) bool { return false }
	for name, c := range map[string]struct {
		alter func(*ReadableRelation)
		told  [3]string // of the table, and of the views
		added string    // under the views
	}{
		"nothing":     {func(*ReadableRelation) {}, [3]string{}, ""},
		"field added": {func(r *ReadableRelation) { r.Types = []UserType{wider} }, [3]string{"z text, was added", "z text, was added", "z text, was added"}, ""},
		"column added": {func(r *ReadableRelation) {
			r.Columns = append(slices.Clone(r.Columns), ReadableColumn{Number: 3, Name: "new"})
		}, [3]string{}, "column new was added"},
		"column dropped": {func(r *ReadableRelation) { r.Columns = r.Columns[:1] }, [3]string{"column n is gone"}, ""},
		"column renamed": {func(r *ReadableRelation) { r.Columns = slices.Clone(r.Columns); r.Columns[1].Name = "m" }, [3]string{"is called m"}, ""},
		"another type of the name": {
			func(r *ReadableRelation) { r.Columns = slices.Clone(r.Columns); r.Columns[0].TypeOID = 30009 },
			[3]string{"another type pair", "another type pair", "another type pair"},
			"",
		},
		"a type of PostgreSQL's own": {
			func(r *ReadableRelation) {
				r.Columns = slices.Clone(r.Columns)
				r.Columns[1].TypeOID, r.Columns[1].Type = 20, "bigint"
			},
			[3]string{"and was integer"},
			"",
		},
	} {
		table := accepted
		c.alter(&table)
		now := of(table)
		for i, before := range of(accepted) {
			stored, err := ParseIdentity(before.String())
			if err != nil || stored.String() != before.String() {
				t.Fatalf("%s is stored as %s: %v", before, stored, err)
			}
			if told := strings.Join(stored.Changes(now[i]), "; "); (told == "") != (c.told[i] == "") || !strings.Contains(told, c.told[i]) {
				t.Errorf("%s: %q, not %q", name, told, c.told[i])
			}
			if added := strings.Join(stored.AddedUnder(now[i]), "; "); i > 0 && ((added == "") != (c.added == "") || !strings.Contains(added, c.added)) {
				t.Errorf("%s: added are %q, not %q", name, added, c.added)
			}
		}
	}
	// A store of an earlier version kept neither types nor columns under views.
	for i, before := range []string{`{"oid":1,"kind":"r","columns":[{"number":1,"name":"p","type":"pair"}]}`, `{"oid":2,"kind":"v","definition":"SELECT to_jsonb(t.*) FROM t","reads":{"public.t":{"oid":1,"kind":"r"}}}`} {
		stored, err := ParseIdentity(before)
		if err != nil || stored.String() != before {
			t.Fatalf("%s becomes %s: %v", before, stored, err)
		}
		now := of(accepted)[i]
		if told := stored.Changes(now); len(told) > 0 {
			t.Errorf("what was not known has changed: %q", told)
		}
		if known := stored.Knowing(now, never); len(known.AllTypes()) != 1 || len(known.Added(now)) != 1-i {
			t.Errorf("%s is known as %s", before, known)
		}
	}
}
