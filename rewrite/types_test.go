package rewrite

import (
	"testing"
)

// TestPlainTypes tells texts, and arrays of them, from what only looks like them.
func TestPlainTypes(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]string{
		"text": "text", "varchar": "text", "pg_catalog.text": "text", "varchar(3)": "", "text[]": "array", "varchar[]": "array", "varchar(3)[]": "",
		"name": "", "int": "", "int[]": "", "bpchar": "", "char": "", "text[][]": "array", "public.text": "text",
	} {
		tree, err := parse("SELECT 1::" + typ)
		if err != nil {
			t.Fatal(err)
		}
		of := tree.GetStmts()[0].GetStmt().GetSelectStmt().GetTargetList()[0].GetResTarget().GetVal().GetTypeCast().GetTypeName()
		got := ""
		if isText(of) {
			got = "text"
		}
		if isTextArray(of) {
			got += "array"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", typ, got, want)
		}
	}
	if isText(nil) || isTextArray(nil) {
		t.Error("no type is a text")
	}
}
