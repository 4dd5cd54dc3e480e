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
