package rewrite

import (
	"testing"
)

// TestPatternsOfRelations reads names as regclass does.
func TestPatternsOfRelations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a": "|a", "A": "|a", `"A"`: "|A", "a.b": "a|b", " a . b ": "a|b", "db.a.b": "a|b", "x.a.b": "error", "db.x.a.b": "error", "": "error",
		".": "error", "a.": "error", ".a": "error", `""`: "error", `"a""b"`: `|a"b`, `"a`: "error", `a"b`: "error", `a"b"`: "error", "a b": "error",
		`"a"b`: "error", `"a".b`: "a|b", "a\v.\fb": "a|b", "db.b": "db|b", `"DB".a.b`: "error",
	} {
		schema, name, ok := splitName(text, "db")
		got := schema + "|" + name
		if !ok {
			got = "error"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestQuotedIdentifiersAreCut ends identifiers at each place where a quotation mark may stand.
func TestQuotedIdentifiersAreCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"a"`: `a|`, `"a"b`: `a|b`, `"a"".b`: "error", `"a""`: "error", `"a"""`: `a"|`, `"a""b"c`: `a"b|c`, `""`: "|", `"""`: "error", `""""`: `"|`,
		`"`: "error", `"a`: "error",
	} {
		name, rest, ok := cutQuoted(text)
		got := name + "|" + rest
		if !ok {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is cut into %s, want %s", text, got, want)
		}
	}
}
