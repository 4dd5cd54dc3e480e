package inspect_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog/inspect"
)

// writable are rights to write that no session with temporary tables may have.
var writable = []struct{ plant, words string }{
	{"GRANT INSERT ON wards TO {reader}", "public.wards {reader} has INSERT"},
	{"GRANT UPDATE (beds) ON wards TO PUBLIC", "public.wards PUBLIC has UPDATE (beds)"},
	{"CREATE ROLE {reader}_w; GRANT DELETE, TRUNCATE ON wards TO {reader}_w; GRANT {reader}_w TO {reader}", "public.wards {reader}_w has DELETE, TRUNCATE"},
	{"CREATE TABLE own (a int); ALTER TABLE own OWNER TO {reader}", "public.own {reader} has OWNER"},
	{"CREATE SEQUENCE numbers; GRANT USAGE ON SEQUENCE numbers TO {reader}", "public.numbers {reader} has USAGE"},
}

func TestAuditFindsWhatSessionsWithTemporaryTablesMayWrite(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	writes := func() (found []inspect.Finding) {
		t.Helper()
		report, err := inspect.Audit(t.Context(), p.owner, p.in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report {
			if f.Code == "reader-writes" || f.Code == "reader-writable" || f.Code == "database-temporary" {
				found = append(found, f)
			}
		}
		return found
	}
	p.in.TemporaryTables = true
	execute(t, p.admin, p.fill("GRANT TEMPORARY ON DATABASE {database} TO {reader}; ALTER ROLE {reader} RESET default_transaction_read_only"))
	if found := writes(); len(found) > 0 {
		t.Fatalf("of what is to be: %v", found)
	}
	for _, w := range writable {
		execute(t, p.admin, p.fill(w.plant))
		found := writes()
		if len(found) != 1 || found[0].Severity != inspect.Error {
			t.Fatalf("%s: %v", w.plant, found)
		}
		if text := strings.ReplaceAll(found[0].Table.String()+" "+found[0].What, `"`, ""); !strings.HasPrefix(text, p.fill(w.words)) {
			t.Errorf("%s: %s", w.plant, text)
		}
		execute(t, p.admin, found[0].Fix)
		if left := writes(); len(left) > 0 {
			t.Errorf("%s: after the fix %s: %v", w.plant, found[0].Fix, left)
		}
	}
	p.in.TemporaryTables = false
	if found := writes(); len(found) != 2 && len(found) != 3 {
		t.Errorf("where they are refused: %v", found)
	}
}
