package integration

import (
	"strings"
	"testing"
)

// TestAudit gives the reader ways to raw rows while kproxy serves: check names
// each with the statement that takes it away, and serve refuses to start.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := canarySite(t)
	conn := connect(t, s.admin)
	second := s.edit(t, "second.yaml", s.address, freeAddress(t))
	role := "pg_read_server_files" // pg_read_all_data came with PostgreSQL 14
	for name, c := range map[string]struct{ grant, revoke, fix, says string }{
		"to the reader":       {"GRANT SELECT ON people TO " + s.reader, "REVOKE SELECT ON people FROM " + s.reader, `REVOKE`, `"people" FROM "` + s.reader + `"`},
		"to PUBLIC":           {"GRANT SELECT ON people TO PUBLIC", "REVOKE SELECT ON people FROM PUBLIC", `REVOKE`, `"people" FROM PUBLIC`},
		"of a column":         {"GRANT SELECT (name) ON people TO " + s.reader, "REVOKE SELECT (name) ON people FROM " + s.reader, "REVOKE", "name"},
		"of a view":           {"GRANT SELECT ON people_view TO PUBLIC", "REVOKE SELECT ON people_view FROM PUBLIC", "REVOKE", "people_view"},
		"of a materialized":   {"GRANT SELECT ON people_copy TO " + s.reader, "REVOKE SELECT ON people_copy FROM " + s.reader, "REVOKE", "people_copy"},
		"of a function":       {"GRANT EXECUTE ON FUNCTION people_names() TO PUBLIC", "REVOKE EXECUTE ON FUNCTION people_names() FROM PUBLIC", "REVOKE", "people_names"},
		"of the store":        {"GRANT USAGE ON SCHEMA kproxy_store TO " + s.reader, "REVOKE USAGE ON SCHEMA kproxy_store FROM " + s.reader, "REVOKE", "kproxy_store"},
		"of the store's rows": {"GRANT SELECT ON kproxy_store.records_1 TO " + s.reader, "REVOKE SELECT ON kproxy_store.records_1 FROM " + s.reader, "REVOKE", "records_1"},
		"of a role":           {"GRANT " + role + " TO " + s.reader, "REVOKE " + role + " FROM " + s.reader, "REVOKE", role},
		"of the owner":        {"GRANT " + s.owner + " TO " + s.reader, "REVOKE " + s.owner + " FROM " + s.reader, "REVOKE", s.owner},
		"of a large object":   {"GRANT SELECT ON LARGE OBJECT 424242 TO PUBLIC", "REVOKE SELECT ON LARGE OBJECT 424242 FROM PUBLIC", "REVOKE", "large object"},
	} {
		execute(t, conn, c.grant)
		o := s.kproxy(t, "check")
		if o.code != 1 || !strings.Contains(o.stdout, "error: ") || !strings.Contains(o.stdout, c.fix) || !strings.Contains(o.stdout, c.says) {
			t.Errorf("%s: check ended with %d\n%s%s", name, o.code, o.stdout, o.stderr)
		}
		s.serveFails(t, second).speaks(t, 1, 20, "not ready to be published", c.fix)
		execute(t, conn, c.revoke)
	}
	s.kproxy(t, "check").must(t)
}
