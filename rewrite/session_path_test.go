package rewrite

import (
	"strings"
	"testing"
)

// TestSearchPathsAreRead reads what SET and the startup message may give, as
// SplitIdentifierString of PostgreSQL's varlena.c does.
func TestSearchPathsAreRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxIdentifierBytes)
	for text, want := range map[string]string{
		"": "", " \t\n\r\f": "", "a": "a", " a ": "a", "a,b": "a|b", "a , b": "a|b", "A,B": "a|b", `"A"`: "A", `"A" , b`: "A|b",
		`"a""b"`: `a"b`, `"a,b"`: "a,b", `""`: "", `"$user", public`: "$user|public", "a\tb": "error", "a b": "error", "a,": "error",
		",a": "error", ",": "error", `"a`: "error", `"a"b`: "error", `"a""`: "error", "a,,b": "error", "ä": "ä", "ÄB": "Äb", `a"b`: `a"b`,
		long: long, long + "y": long, strings.Repeat("é", 32): strings.Repeat("é", 31), "x" + strings.Repeat("é", 31): "x" + strings.Repeat("é", 31),
		`"` + long + `yz", b`: long + "|b",
	} {
		got, err := splitPath(text)
		said := strings.Join(got, "|")
		if err != nil {
			said = "error"
		}
		if said != want {
			t.Errorf("the path %q is %q, want %q", text, said, want)
		}
	}
	if got := clip(strings.Repeat("\x80", maxIdentifierBytes+1)); got != "" {
		t.Errorf("what is no character is clipped to %q", got)
	}
	if got, err := splitPath("  "); got != nil || err != nil {
		t.Errorf("an empty path is %q, %v", got, err)
	}
	full := strings.Repeat("a,", maxPathBytes/2-1) + "bc"
	if got, err := splitPath(full); err != nil || len(got) != maxPathBytes/2 {
		t.Errorf("a path of %d bytes is %d schemas, %v", len(full), len(got), err)
	}
	if _, err := splitPath(full + "d"); err == nil {
		t.Error("a path of one byte too many is read")
	}
}

// TestNamesAreQuoted quotes what PostgreSQL's quote_identifier does.
func TestNamesAreQuoted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "a", "z": "z", "_": "_", "a0": "a0", "a9_z": "a9_z", "": `""`, "0": `"0"`, "9a": `"9a"`, "A": `"A"`, "aB": `"aB"`, "Z": `"Z"`,
		"a b": `"a b"`, `a"b`: `"a""b"`, "ä": `"ä"`, "a$": `"a$"`, "`": "\"`\"", "{": `"{"`, "a{": `"a{"`, "a/": `"a/"`, "a:": `"a:"`, "a`": "\"a`\"",
		"select": `"select"`, "table": `"table"`, "int": `"int"`, "left": `"left"`, "abort": "abort", "name": "name", "none": `"none"`,
	} {
		if got := quoteWhereNeeded(name); got != want {
			t.Errorf("%s is written %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]bool{"select": true, "abort": false, "a": false, "left": true, "none": true, "a b": true, "": true, "'": true} {
		if got := keyword(name); got != want {
			t.Errorf("%q is a keyword: %v, want %v", name, got, want)
		}
	}
	for text, want := range map[string]string{"ABZ": "abz", "@[`{az": "@[`{az", "ÄÉ": "ÄÉ", "": ""} {
		if got := lowerASCII(text); got != want {
			t.Errorf("%q is folded to %q, want %q", text, got, want)
		}
	}
}

// TestPathsLeadToSchemas has the schemas of a path each once, the user's in the place of
// $user, and none for what is empty.
func TestPathsLeadToSchemas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ user, path, want string }{
		{"ann", `"$user", public`, "ann|public"},
		{"", `"$user", public`, "public"},
		{"public", `"$user", public`, "public"},
		{"ann", "a, b, a, c, b", "a|b|c"},
		{"ann", `"", a`, "a"},
		{"ann", "", ""},
		{"ann", "a b", ""}, // which cannot be set
	} {
		s := &Session{user: test.user, path: setting{now: value{text: test.path}}}
		if got := strings.Join(s.schemas(), "|"); got != test.want {
			t.Errorf("the path %s of %s leads to %s, want %s", test.path, test.user, got, test.want)
		}
	}
}
