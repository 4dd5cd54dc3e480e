package rewrite

import (
	"errors"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestPlansOfViews keeps from plans what is under readable relations: rows that a filter removes and
// estimates. Those of protected tables, before and after in the same text too, stay as they are.
func TestPlansOfViews(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	policy := catalog.Policy{Readable: []catalog.Name{name("rota"), name("wards")}, Tables: []catalog.TablePolicy{{Table: name("people")}}}
	relations := []catalog.Relation{{Name: name("people"), Kind: catalog.KindTable}, {Name: name("rota"), Kind: catalog.KindView}, {Name: name("wards"), Kind: catalog.KindTable}}
	for sql, want := range map[string]string{
		"EXPLAIN ANALYZE SELECT * FROM rota":                                "",
		"EXPLAIN ANALYZE SELECT * FROM people":                              "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT * FROM kproxy_release_public.people",
		"EXPLAIN SELECT * FROM rota":                                        "EXPLAIN (COSTS OFF) SELECT * FROM kproxy_release_public.rota",
		"EXPLAIN (COSTS) SELECT * FROM public.rota":                         "EXPLAIN (COSTS OFF) SELECT * FROM kproxy_release_public.rota",
		"EXPLAIN SELECT * FROM people":                                      "EXPLAIN SELECT * FROM kproxy_release_public.people",
		"EXPLAIN ANALYZE SELECT * FROM wards":                               "",
		"EXPLAIN SELECT * FROM wards":                                       "EXPLAIN (COSTS OFF) SELECT * FROM kproxy_release_public.wards",
		"EXPLAIN ANALYZE SELECT (SELECT 1 FROM rota LIMIT 1)":               "",
		"EXPLAIN ANALYZE WITH r AS (SELECT * FROM rota) TABLE wards":        "",
		"EXPLAIN ANALYZE WITH rota AS (SELECT 1) SELECT * FROM rota":        "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) WITH rota AS (SELECT 1) SELECT * FROM rota",
		"SELECT * FROM rota; EXPLAIN SELECT * FROM people":                  "SELECT * FROM kproxy_release_public.rota; EXPLAIN SELECT * FROM kproxy_release_public.people",
		"EXPLAIN SELECT 1 FROM people; SELECT 1 FROM rota":                  "EXPLAIN SELECT 1 FROM kproxy_release_public.people; SELECT 1 FROM kproxy_release_public.rota",
		"EXPLAIN ANALYZE SELECT * FROM wards JOIN rota ON true":             "",
		"EXPLAIN ANALYZE SELECT * FROM wards WHERE EXISTS (TABLE rota)":     "",
		"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM wards UNION TABLE rota": "",
	} {
		r := New(Options{Database: "clinic"})
		r.SetSnapshot(catalog.NewSnapshot(policy, relations, nil))
		statement, err := r.Rewrite(sql, nil)
		var refusal *Refusal
		switch {
		case want == "" && (!errors.As(err, &refusal) || refusal.SQLState() != statePrivilege):
			t.Errorf("%s: %+v, %v", sql, statement, err)
		case want != "" && (err != nil || strings.NewReplacer(" rota", "", " wards", "", " people", "").Replace(statement.SQL) != strings.NewReplacer(" rota", "", " wards", "", " people", "").Replace(want)):
			t.Errorf("%s becomes\n%+v, %v\nnot\n%s", sql, statement, err, want)
		}
	}
}
