package inspect_test

import (
	"slices"
	"testing"
)

// TestCheckFindsWhatIsWrongWithTheHelpers: what another role could put in their place keeps
// kproxy from serving, and so does a database that an earlier version has prepared.
func TestCheckFindsWhatIsWrongWithTheHelpers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ plant, code, words string }{
		{"DROP FUNCTION kproxy.tables() CASCADE", "helper", "kproxy.tables is missing"},
		{"DROP FUNCTION kproxy.overlap(int4range, int4range)", "helper", "kproxy.overlap is missing"},
		{"REVOKE EXECUTE ON FUNCTION kproxy.describe(text) FROM {reader}", "helper", "kproxy.describe is missing"},
		{"ALTER FUNCTION kproxy.certain(text, text) OWNER TO postgres", "helper-schema", "function kproxy.certain(text,text) lies in"},
		{"CREATE FUNCTION kproxy.certain(int) RETURNS text LANGUAGE sql AS 'SELECT 1'", "helper-schema", "kproxy.certain(integer)"},
		{"CREATE TABLE kproxy.mine (a int)", "helper-schema", "table kproxy.mine"},
		{"ALTER SCHEMA kproxy OWNER TO postgres", "helper-schema", "schema kproxy does not belong"},
		{"DROP SCHEMA kproxy CASCADE", "schema-missing", "no schema kproxy"},
		{"REVOKE USAGE ON SCHEMA kproxy FROM {reader}", "schema-usage", "schema kproxy"},
	} {
		p := prepare(t)
		if report := p.check().Errors(); len(report) > 0 {
			t.Fatalf("findings after set-up:\n%s", report)
		}
		execute(t, p.admin, p.fill(c.plant))
		if report := p.check().Errors(); !contains(report, c.code, c.words) {
			t.Errorf("%s: no finding %s with %q among:\n%s", c.plant, c.code, c.words, report)
		}
	}
}

// TestAuditAcceptsTheHelpers: what the reader may call and read there is no finding.
func TestAuditAcceptsTheHelpers(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	for _, f := range slices.Concat(p.audit().Errors(), p.check().Errors()) {
		t.Errorf("%s", f)
	}
}
