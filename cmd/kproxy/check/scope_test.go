package check

import (
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// TestFindingsOfSingleTables stop those alone; what concerns the reader stops all.
func TestFindingsOfSingleTables(t *testing.T) {
	t.Parallel()
	a, other := catalog.Name{Schema: "public", Relation: "a"}, catalog.Name{Schema: "public", Relation: "other"}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: a}}}
	report := inspect.Report{
		{Code: "policy", Table: a, Column: "age", What: "is gone", Fix: "mend it"},
		{Code: "raw-grant", Table: a, What: "can be read"},
		{Code: "policy", Table: other, What: "is no table of ours"},
		{Code: codePublication, What: "does not exist"},
		{Code: codePublication, Table: a, What: "does not hold the table", Fix: "mend it"},
	}
	parts := Divide(policy, report)
	broken := parts.Broken
	if len(parts.All) != 3 || len(broken) != 1 || len(broken[a]) != 2 || len(parts.Functions) != 0 {
		t.Fatalf("got %+v", parts)
	}
	if what, fix := Problem(broken[a]); what != "column age: is gone; does not hold the table" || fix != "mend it" {
		t.Errorf("%q, %q", what, fix)
	}
}

// TestRawReadablesStopAlone: a listed relation that comes to show protected rows is refused, and
// nothing else is.
func TestRawReadablesStopAlone(t *testing.T) {
	t.Parallel()
	codes := catalog.Name{Schema: "public", Relation: "codes"}
	report := inspect.Report{{Code: inspect.CodeReadableRaw, Table: codes, What: "it holds rows of public.people"}}
	if parts := Divide(catalog.Policy{Readable: []catalog.Name{codes}}, report); len(parts.All) != 0 || len(parts.Broken[codes]) != 1 {
		t.Errorf("listed: %+v", parts)
	}
	if parts := Divide(catalog.Policy{}, report); len(parts.All) != 1 {
		t.Errorf("not listed: %+v", parts)
	}
}
