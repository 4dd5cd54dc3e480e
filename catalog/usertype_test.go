package catalog

import (
	"slices"
	"strings"
	"testing"
)

// TestTypeChanges alters an enumeration and a composite type, and wants each change told.
func TestTypeChanges(t *testing.T) {
	t.Parallel()
	label := func(oid OID, text string) EnumLabel { return EnumLabel{OID: oid, Label: text} }
	field := func(number int16, name, typ string, oid OID) TypedColumn {
		return TypedColumn{Number: number, Name: name, Type: typ, TypeOID: oid}
	}
	a, b := field(1, "a", "integer", 23), field(2, "b", "text", 25)
	accepted := []UserType{
		{OID: 30000, Name: "mood", Labels: []EnumLabel{label(1, "sad"), label(2, "ok"), label(3, "glad")}},
		{OID: 30001, Name: "pair", Fields: []TypedColumn{a, b}},
	}
	of := func(labels []EnumLabel, fields ...TypedColumn) []UserType {
		return []UserType{{OID: 29999, Name: "other"}, {OID: 30001, Name: "pair", Fields: fields}, {OID: 30000, Name: "mood", Labels: labels}}
	}
	labels := accepted[0].Labels
	for name, c := range map[string]struct {
		now  []UserType
		told string
	}{
		"nothing":             {of(labels, a, b), ""},
		"types are gone":      {nil, ""},
		"label added":         {of([]EnumLabel{label(4, "low"), labels[0], labels[1], label(5, "fine"), labels[2]}, a, b), ""},
		"label renamed":       {of([]EnumLabel{labels[0], label(2, "fair"), labels[2]}, a, b), `label "ok" of type mood is now "fair"`},
		"labels swapped":      {of([]EnumLabel{labels[1], labels[0], labels[2]}, a, b), `label "ok" of type mood has another place among the others`},
		"last label first":    {of([]EnumLabel{labels[2], labels[0], labels[1]}, a, b), `label "glad" of type mood has another place among the others`},
		"first label last":    {of([]EnumLabel{labels[1], labels[2], labels[0]}, a, b), `label "ok" of type mood has another place among the others; label "glad" of type mood has another place among the others`},
		"first label is gone": {of([]EnumLabel{labels[2], labels[1]}, a, b), `label "sad" of type mood is gone; label "glad" of type mood has another place among the others`},
		"field called anew":   {of(labels, field(1, "z", "integer", 23), b), "field 1 of type pair was a integer, is now z integer"},
		"type called anew":    {of(labels, field(1, "a", "number", 23), b), ""},
		"type of the name":    {of(labels, field(1, "a", "integer", 99), b), "field 1 of type pair was a integer, is now a integer"},
		"first field dropped": {of(labels, b), "field 1 of type pair, a integer, was dropped"},
		"all fields dropped":  {of(labels), "field 1 of type pair, a integer, was dropped; field 2 of type pair, b text, was dropped"},
		"field added":         {of(labels, a, b, field(4, "c", "text", 25)), "field 4 of type pair, c text, was added"},
	} {
		if told := strings.Join(TypeChanges(accepted, c.now), "; "); told != c.told {
			t.Errorf("%s: %q, not %q", name, told, c.told)
		}
	}
	if told := TypeChanges(append(of(nil), accepted[0], UserType{OID: 1}), of(labels[1:])); len(told) != 1 {
		t.Errorf("of two types, one of which has changed, %q is told", told)
	}
}

func TestUniqueTypes(t *testing.T) {
	t.Parallel()
	var given []UserType
	for _, oid := range []OID{3, 1, 2, 3, 1, 1} {
		given = append(given, UserType{OID: oid})
	}
	var left []OID
	for _, y := range UniqueTypes(given) {
		left = append(left, y.OID)
	}
	if want := []OID{1, 2, 3}; !slices.Equal(left, want) {
		t.Errorf("%v are left, not %v", left, want)
	}
}
