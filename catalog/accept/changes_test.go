package accept

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// patients has id, age, diag, name and note; the policy names all but note.
func patients() Table {
	t := Table{OID: 20000}
	for i, name := range []string{"id", "age", "diag", "name", "note"} {
		t.Columns = append(t.Columns, Column{Number: int16(i + 1), Name: name, Type: "text", TypeOID: 25, Modifier: -1, Collation: 100})
	}
	t.Types = []Type{{OID: 30000, Name: "public.mood", Labels: []Label{{OID: 1, Label: "calm"}, {OID: 2, Label: "wild"}}}}
	t.Types = append(t.Types,
		Type{OID: 30001, Name: "public.pair", Fields: []Column{{Number: 1, Name: "a", Type: "integer", TypeOID: 23}, {Number: 2, Name: "b", Type: "text", TypeOID: 25}}},
		Type{OID: 30002, Name: "public.empty"})
	t.Leaves = []Leaf{{OID: 20001, Columns: []LeafColumn{{1, "name"}, {3, "id"}, {4, "age"}, {5, "diag"}, {6, "note"}}}}
	return t
}

func named(column string) bool { return column != "note" }

func altered(change func(*Table)) Table {
	t := patients()
	change(&t)
	return t
}

// sent is what the stream says of a table, or of its partition.
func sent(columns ...string) []Sent {
	var all []Sent
	for _, name := range columns {
		all = append(all, Sent{name, 25, -1})
	}
	return all
}

func TestChanges(t *testing.T) {
	t.Parallel()
	rename := func(number int16, to string) func(*Table) {
		return func(t *Table) {
			for i := range t.Columns {
				if t.Columns[i].Number == number {
					t.Columns[i].Name = to
				}
			}
		}
	}
	both := func(one, two func(*Table)) func(*Table) { return func(t *Table) { one(t); two(t) } }
	drop := func(number int16) func(*Table) {
		return func(t *Table) {
			t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return c.Number == number })
		}
	}
	add := func(name string) func(*Table) {
		return func(t *Table) {
			t.Columns = append(t.Columns, Column{Number: 6, Name: name, Type: "text", TypeOID: 25, Modifier: -1, Collation: 100})
		}
	}
	for name, c := range map[string]struct {
		change func(*Table)
		told   string // empty where nothing changes
		holds  bool
	}{
		"nothing":                  {func(*Table) {}, "", true},
		"swapped":                  {both(rename(3, "name"), rename(4, "diag")), "column 4 was name text, is now diag text", false},
		"unnamed renamed":          {rename(5, "remark"), "column 5 was note text, is now remark text", false},
		"unnamed dropped":          {drop(5), "", false},
		"needed dropped":           {drop(4), "column 4, name text, was dropped", false},
		"unnamed dropped and back": {both(drop(5), add("note")), "column 6 has its name", false},
		"dropped and back":         {both(drop(3), add("diag")), "column 6 has its name", false},
		"added":                    {add("email"), "", true},
		"collation":                {func(t *Table) { t.Columns[2].Collation = 950 }, "another collation", false},
		"modifier":                 {func(t *Table) { t.Columns[2].Modifier = 14 }, "column 3", false},
		"another table":            {func(t *Table) { t.OID++ }, "another one has its name", false},
		"label renamed":            {func(t *Table) { t.Types[0].Labels = []Label{{OID: 1, Label: "calm"}, {OID: 2, Label: "mad"}} }, `label "wild" of type public.mood is now "mad"`, true},
		"labels reordered":         {func(t *Table) { t.Types[0].Labels = []Label{{OID: 2, Label: "wild"}, {OID: 1, Label: "calm"}} }, "another place", true},
		"label added before": {func(t *Table) {
			t.Types[0].Labels = []Label{{OID: 3, Label: "sad"}, {OID: 1, Label: "calm"}, {OID: 2, Label: "wild"}}
		}, "", true},
		"field renamed": {func(t *Table) { t.Types[1].Fields[1].Name = "c" }, "field 2 of type public.pair was b text, is now c text", true},
		"field retyped": {func(t *Table) { t.Types[1].Fields[1].TypeOID = 23 }, "field 2 of type public.pair", true},
		"field dropped": {func(t *Table) { t.Types[1].Fields = t.Types[1].Fields[:1] }, "field 2 of type public.pair, b text, was dropped", true},
		"field added": {func(t *Table) {
			t.Types[1].Fields = append(t.Types[1].Fields, Column{Number: 3, Name: "z", Type: "text", TypeOID: 25})
		}, "field 3 of type public.pair, z text, was added", true},
		"all fields new": {func(t *Table) {
			t.Types[2].Fields = []Column{{Number: 1, Name: "z", Type: "text", TypeOID: 25}}
		}, "field 1 of type public.empty, z text, was added", true},
		"another type": {func(t *Table) { t.Types = append(t.Types, Type{OID: 30003, Fields: t.Types[1].Fields}) }, "", true},
		"partition renumbered": {func(t *Table) {
			t.Leaves = []Leaf{{OID: 20001, Columns: []LeafColumn{{1, "diag"}, {3, "id"}, {4, "age"}, {5, "name"}, {6, "note"}}}}
		}, "while it was detached", true},
		"replaced in the table": {both(both(drop(3), add("diag")), func(t *Table) {
			t.Leaves = []Leaf{{OID: 20001, Columns: []LeafColumn{{1, "name"}, {3, "id"}, {4, "age"}, {6, "note"}, {7, "diag"}}}}
		}), "column 3, diag text, was dropped, and column 6 has its name, now diag text", false},
		"swapped in the table": {both(both(rename(3, "name"), rename(4, "diag")), func(t *Table) {
			t.Leaves = []Leaf{{OID: 20001, Columns: []LeafColumn{{1, "diag"}, {3, "id"}, {4, "age"}, {5, "name"}, {6, "note"}}}}
		}), "column 3 was diag text, is now name text; column 4 was name text, is now diag text", false},
		"another partition": {func(t *Table) { t.Leaves = append(t.Leaves, Leaf{OID: 20002}) }, "", true},
	} {
		now := altered(c.change)
		changes := strings.Join(patients().Changes(now, named), "; ")
		if (c.told == "") != (changes == "") || !strings.Contains(changes, c.told) {
			t.Errorf("%s: %q, not %q", name, changes, c.told)
		}
		if strings.HasSuffix(name, "in the table") && changes != c.told {
			t.Errorf("%s: %q is not all", name, c.told)
		}
		if holds := patients().Holds(now); holds != c.holds {
			t.Errorf("%s: holds is %v", name, holds)
		}
	}
}

func TestDescribes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		leaf     uint32
		columns  string
		describe bool
	}{
		{0, "id age diag name note", true},
		{0, "id age diag name note email", true},
		{0, "id age name diag note", false},
		{0, "id age diag name", false},
		{0, "id age email diag name note", false},
		{20001, "name id age diag note", true},
		{20001, "id age diag name note", false},
		{20009, "id age diag name note", false},
	} {
		if got := patients().Describes(c.leaf, sent(strings.Fields(c.columns)...)); got != c.describe {
			t.Errorf("%d, %s: %v", c.leaf, c.columns, got)
		}
	}
}

func TestIdentitySurvivesStorage(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(patients())
	if err != nil {
		t.Fatal(err)
	}
	var back Table
	if err := json.Unmarshal(text, &back); err != nil || !back.Equal(patients()) {
		t.Errorf("%v: %s", err, text)
	}
}
