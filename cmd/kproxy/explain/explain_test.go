package explain

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

const explainedConfig = `upstream:
  owner: {host: h, database: d, user: o}
  reader: {user: r}
auth_query: {query: SELECT f($1)}
tables:
  public.t:
    updates: immediate
    constraints: [{k: 5}]
    columns: {age: {role: quasi-identifying, hierarchy: numeric}}
readable: [public.u, other.v]
temporary_tables: allow
limits:
  max_tokens: 1000
  max_depth: 20
`

// Every refusal has a reason that leads to what causes it.
func TestExplainSaysWhy(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("k.yaml", []byte(explainedConfig))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ sql, state, why string }{
		{"SELECT * FROM unknown", "42P01", "the configuration does not name it"},
		{"SELECT pg_read_file('x')", "42501", "no setting opens it"},
		{"SELECT * FROM kproxy_store.records_1", "42P01", "kproxy's own"},
		{"SELECT * FROM kproxy_release_public.t", "42P01", "kproxy's own"},
		{"SELECT * FROM pg_catalog.pg_authid", "42501", "what tools need"},
		{"SELECT * FROM pg_authid", "42501", "what tools need"},
		{"SET ROLE postgres", "42501", "the reader role of its user"},
		{"SET session_replication_role = replica", "42501", "docs/sql.md lists"},
		{"SELECT no_such_function(1)", "42883", "functions that the configuration lists"},
		{"SELECT 1 WHERE", "42601", "grammar"},
		{"SELECT '" + strings.Repeat("x", 2<<20) + "'", "54000", "k.yaml:12"},
		{"SELECT " + strings.Repeat("1,", 2000) + "1", "54001", "limits.max_tokens (k.yaml:13)"},
		{"SELECT " + strings.Repeat("(", 40) + "1" + strings.Repeat(")", 40), "54001", "limits.max_depth (k.yaml:14)"},
		{"SELECT * FROM t FOR UPDATE", "", "."},
		{"DELETE FROM t", "", ""},
	} {
		all, err := Run(t.Context(), c, []string{test.sql}, Options{User: "ann", Offline: true})
		if err != nil || len(all) != 1 {
			t.Fatal(err)
		}
		r := all[0].Refusal
		if r == nil || all[0].Allowed || r.By != "kproxy" || r.Why == "" || !strings.HasPrefix(r.SQLState, test.state) || test.why != "." && !strings.Contains(r.Why, test.why) {
			t.Errorf("%.40s: %+v", test.sql, r)
		}
	}
}

// Statements are explained as those of one session.
func TestExplainFollowsTheSession(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("k.yaml", []byte(explainedConfig))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Run(t.Context(), c, []string{
		"SELECT * FROM v", "SET search_path TO other, public", "SELECT * FROM v", "CREATE TEMP TABLE mine AS SELECT age FROM t", "SELECT * FROM mine",
	}, Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Allowed || !all[1].Allowed || len(all[1].Effects) != 1 {
		t.Errorf("%+v", all[:2])
	}
	if !all[2].Allowed || all[2].Reads[0] != (Read{Relation: "other.v", As: "readable", Place: "k.yaml:10"}) {
		t.Errorf("%+v", all[2])
	}
	if !all[3].Allowed || all[3].Reads[0].As != "protected" || !all[4].Allowed {
		t.Errorf("%+v", all[3:])
	}
	if all, err := Run(t.Context(), c, []string{"SELECT * FROM v"}, Options{Offline: true, SearchPath: "other"}); err != nil || !all[0].Allowed {
		t.Errorf("%v, %+v", err, all)
	}
}
