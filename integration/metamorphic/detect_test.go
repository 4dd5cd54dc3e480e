package metamorphic

import (
	"context"
	"strings"
	"testing"
)

// channels are ways in which PostgreSQL itself tells of what is hidden. Past the program
// each must be seen, which proves that the comparison can fail.
var channels = map[string]string{
	"foreign keys stamp rows":         "SELECT xmax FROM public.icd10",
	"the age of a row counts writes":  "SELECT (t.xmin).age FROM public.icd10 t",
	"transactions are counted":        "SELECT txid_current()",
	"the log grows":                   "SELECT pg_current_wal_lsn()",
	"sizes and estimates":             "SELECT relname, relpages, reltuples FROM pg_class WHERE relname IN ('journal', 'qvzrel_vault', 'patients')",
	"files":                           "SELECT relfilenode FROM pg_class WHERE relname IN ('donors', 'patients')",
	"numbers of objects":              "SELECT max(oid) FROM pg_class",
	"names of relations":              "SELECT relname FROM pg_class ORDER BY oid",
	"names of roles":                  "SELECT rolname FROM pg_roles ORDER BY oid",
	"names of databases":              "SELECT datname FROM pg_database ORDER BY oid",
	"names of functions":              "SELECT count(*) FROM pg_proc",
	"comments":                        "SELECT description FROM pg_description ORDER BY 1",
	"labels":                          "SELECT enumlabel FROM pg_enum ORDER BY oid",
	"defaults":                        "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef ORDER BY oid",
	"sequences":                       "SELECT * FROM pg_sequence ORDER BY seqrelid",
	"locks":                           "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock'",
	"prepared transactions":           "SELECT gid FROM pg_prepared_xacts",
	"installed extensions":            "SELECT name, installed_version FROM pg_available_extensions ORDER BY name",
	"publications":                    "SELECT pubname FROM pg_publication ORDER BY 1",
	"operators":                       "SELECT max(oid) FROM pg_operator",
	"casts":                           "SELECT count(*) FROM pg_cast",
	"an error names what there is":    "SELECT * FROM hidden_child",
	"a number has a name":             "SELECT 'hidden_child'::regclass",
	"a lock keeps somebody waiting":   "SELECT pg_try_advisory_lock(42)",
	"privileges of others":            "SELECT relacl FROM pg_class WHERE relname = 'icd10'",
	"a row of a catalog has a writer": "SELECT xmin FROM pg_class WHERE relname = 'patients'",
}

// detects proves that the comparison sees what is there to be seen: the channels, past the
// program, and a change of what is published, through it.
func detects(t *testing.T, left, right *world) {
	for _, w := range []*world{left, right} { // what setup takes from the reader role
		seen := mutation{name: "a grant", sql: "GRANT SELECT ON icd10 TO " + reader}
		if err := seen.apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	var list []observable
	names := make(map[string]string)
	for name, text := range channels {
		o := one("channel", simple, text)
		names[o.String()] = name
		list = append(list, o)
	}
	c := compareThrough(left, right, list, true)
	for _, d := range c.differences(t) {
		delete(names, d.observable.String())
	}
	for _, name := range names {
		t.Errorf("past the program, the comparison does not see: %s", name)
	}
	right.release()
	visible := []observable{
		one("visible", simple, "SELECT * FROM icd10"), one("visible", inBinary, "SELECT max(title) FROM icd10"),
		one("visible", simple, "COPY (SELECT title FROM icd10) TO STDOUT"), one("visible", simple, "SELECT 1/(title <> 'told')::int FROM icd10"),
		one("visible", inBinary, "SELECT obj_description('icd10'::regclass)"),
	}
	c = compareThrough(left, right, visible, false)
	if found := c.differences(t); len(found) > 0 {
		t.Errorf("what is published differs already: %s", found[0])
	}
	changed := mutation{name: "a visible change", sql: "UPDATE icd10 SET title = 'told' WHERE code = 'D13'; COMMENT ON TABLE icd10 IS 'told'"}
	if err := changed.apply(context.WithoutCancel(t.Context()), right); err != nil {
		t.Fatal(err)
	}
	if err := right.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := c.differences(t); len(found) != len(visible) {
		var seen []string
		for _, d := range found {
			seen = append(seen, d.observable.String())
		}
		t.Errorf("of a visible change, only this is seen: %s", strings.Join(seen, "; "))
	}
	waits(t, left, right)
}

// waits proves that a reader whom something keeps waiting tells the worlds apart, however often
// they are compared.
func waits(t *testing.T, left, right *world) {
	t.Helper()
	lock := mutation{name: "a lock", sql: "BEGIN; LOCK TABLE lockers", held: true}
	if err := lock.apply(t.Context(), right); err != nil {
		t.Fatal(err)
	}
	c := compareThrough(left, right, []observable{one("visible", simple, "SELECT FROM lockers")}, false)
	if found := c.differences(t); len(found) != 1 || !found[0].late() {
		t.Errorf("a reader waits in one world, and the comparison finds %d differences", len(found))
	}
}
