package catalog

import (
	"strings"
	"testing"
)

// TestRefills tells changes by which a materialized view is filled with something else from
// other names.
func TestRefills(t *testing.T) {
	t.Parallel()
	identity := func(change func(copied, view, table *Identity)) Identity {
		table := Identity{OID: 3, Kind: "p", Columns: []ReadableColumn{{Number: 1, Name: "a"}}, Parts: []ReadablePart{{OID: 4, Numbers: []int16{1, 2}}}}
		view := Identity{OID: 2, Kind: "v", Definition: "SELECT a FROM t", Types: []UserType{{OID: 20000, Name: "mood", Labels: []EnumLabel{{OID: 30000, Label: "calm"}}}}}
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
		"a label":             {func(_, view, _ *Identity) { view.Types[0].Labels = []EnumLabel{{OID: 30000, Label: "mild"}} }, true},
		"another name within": {func(_, _, table *Identity) { table.Columns[0].Name = "b" }, false},
	} {
		if got := before.Refills(identity(test.change)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestCopiesDeepDown has a materialized view lie under views, and its source under others.
func TestCopiesDeepDown(t *testing.T) {
	t.Parallel()
	deep := func(definition string, columns ...ReadableColumn) Identity {
		table := Identity{OID: 6, Kind: "r", Columns: columns}
		bottom := Identity{OID: 5, Kind: "v", Definition: definition, Reads: map[string]Identity{"public.t": table}}
		middle := Identity{OID: 4, Kind: "v", Definition: "SELECT a FROM bottom", Reads: map[string]Identity{"public.bottom": bottom}}
		copied := Identity{OID: 3, Kind: "m", Reads: map[string]Identity{"public.middle": middle}}
		return Identity{OID: 2, Kind: "v", Reads: map[string]Identity{"public.copied": copied, "public.other": {OID: 7, Kind: "r"}}}
	}
	a, b := ReadableColumn{Number: 1, Name: "a"}, ReadableColumn{Number: 2, Name: "b"}
	before := deep("SELECT t.* FROM t", a)
	if !before.Copies() || !(Identity{Kind: "m"}).Copies() || (Identity{Kind: "v", Reads: map[string]Identity{"public.t": {Kind: "r"}}}).Copies() {
		t.Error("what holds copies is not known")
	}
	if before.Refills(deep("SELECT t.* FROM t", a)) || !before.Refills(deep("SELECT u.* FROM u", a)) {
		t.Error("another definition at the bottom is no other filling, or the same one is")
	}
	changes := strings.Join(before.Changes(deep("SELECT t.* FROM t", a, b)), "; ")
	if !strings.Contains(changes, "of public.copied, which it reads: of public.middle, which it reads: ") || !strings.Contains(changes, "column b was added") {
		t.Errorf("a column more in whole rows: %q", changes)
	}
	if changes := deep("SELECT a FROM t", a).Changes(deep("SELECT a FROM t", a, b)); len(changes) > 0 {
		t.Errorf("a column more that nobody reads: %q", changes)
	}
	doubted := before
	doubted.Doubted = true
	if changes := doubted.Changes(before); len(changes) != 1 || !strings.Contains(changes[0], "refresh it first") {
		t.Errorf("of a doubt is told %q", changes)
	}
	if changes := doubted.Changes(doubted); len(changes) > 0 {
		t.Errorf("a doubt that was accepted is told again: %q", changes)
	}
}
