package catalog

import "testing"

// TestRefills tells changes by which a materialized view is filled with something else from
// other names.
func TestRefills(t *testing.T) {
	t.Parallel()
	identity := func(change func(copied, view, table *Identity)) Identity {
		table := Identity{OID: 3, Kind: "p", Columns: []ReadableColumn{{Number: 1, Name: "a"}}, Parts: []ReadablePart{{OID: 4, Numbers: []int16{1, 2}}}}
		view := Identity{OID: 2, Kind: "v", Definition: "SELECT a FROM t"}
		copied := Identity{OID: 1, Kind: "m", Definition: "SELECT t.* FROM v, t"}
		change(&copied, &view, &table)
		view.Reads = map[string]Identity{"public.t": table}
		copied.Reads = map[string]Identity{"public.v": view, "public.t": table}
		return copied
	}
	before := identity(func(_, _, _ *Identity) {})
	for name, test := range map[string]struct {
		change func(copied, view, table *Identity)
		want   bool
	}{
		"nothing":       {func(_, _, _ *Identity) {}, false},
		"its own names": {func(copied, _, _ *Identity) { copied.Definition = "SELECT u.* FROM v, u" }, false},
		"a view":        {func(_, view, _ *Identity) { view.Definition = "SELECT b FROM t" }, true},
		"another view":  {func(_, view, _ *Identity) { view.OID = 5 }, true},
		"another table": {func(_, _, table *Identity) { table.OID = 5 }, false}, // it cannot be, but for its name
		"a partition":   {func(_, _, table *Identity) { table.Parts[0].Numbers = []int16{2, 1} }, true},
		"more in whole rows": {func(_, _, table *Identity) {
			table.Columns = append(table.Columns, ReadableColumn{Number: 2, Name: "b"})
		}, true},
		"another name within": {func(_, _, table *Identity) { table.Columns[0].Name = "b" }, false},
	} {
		if got := before.Refills(identity(test.change)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
