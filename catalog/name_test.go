package catalog

import (
	"slices"
	"testing"
)

// TestNamesAreReadAsTheyAreWritten reads names as operators write them, and as messages do.
func TestNamesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Name{
		"patients":             {"public", "patients"},
		"clinic.patients":      {"clinic", "patients"},
		`"patients"`:           {"public", "patients"},
		`"we.ird ""t"`:         {"public", `we.ird "t`},
		`clinic."a.b"`:         {"clinic", "a.b"},
		`"a.b".c`:              {"a.b", "c"},
		`"a.b"."c""d"`:         {"a.b", `c"d`},
		"Clinic.First Patient": {"Clinic", "First Patient"},
	} {
		name := ParseName(text)
		if name != want {
			t.Errorf("%s is %#v, want %#v", text, name, want)
		}
		if again := ParseName(name.String()); again != want {
			t.Errorf("%s is written %s, which is %#v", text, name, again)
		}
		if parts, ok := NameParts(name.String()); !ok || !slices.Equal(parts, []string{want.Schema, want.Relation}) {
			t.Errorf("%s has the parts %q, %v", name, parts, ok)
		}
		table, column, ok := ParseQualifiedColumn(QualifiedColumn(name, "a.b"))
		if table != want || column != "a.b" || !ok {
			t.Errorf("a column of %s is %#v, %q, %v", text, table, column, ok)
		}
	}
	for _, text := range []string{`"a`, `a"b`, `"a"b`, `a."b`, "", "a.", ".a", `""`, `"a".`} {
		if parts, ok := NameParts(text); ok {
			t.Errorf("%s has the parts %q", text, parts)
		}
	}
}
