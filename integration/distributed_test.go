package integration

import (
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

const distributedSchema = `
CREATE TABLE people (id int PRIMARY KEY, name text, age int, zip text, illness text);
INSERT INTO people SELECT i, 'name ' || i, i % 80, (10000 + i % 50)::text, 'illness ' || i % 7 FROM generate_series(1, 3000) i;
CREATE TABLE wards (zip text PRIMARY KEY, town text);
INSERT INTO wards SELECT (10000 + i)::text, 'town ' || i % 5 FROM generate_series(0, 49) i;`

const distributedPolicy = `
mirrored:
  public.wards: {columns: [zip, town]}
tables:
  public.people:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 5}, {l: 2, of: illness}]
    columns:
      id: identifying
      name: identifying
      age: {role: quasi-identifying, hierarchy: numeric}
      zip: {role: quasi-identifying, hierarchy: prefix}
      illness: sensitive
`

// TestDistributed serves a release on two workers of Citus: clients' statements run there, changes follow, the release is
// verified, and nothing of Citus is open to clients.
func TestDistributed(t *testing.T) {
	t.Parallel()
	o := sqlSite(distributedSchema, distributedPolicy)
	o.cluster, o.settings = pgtest.Citus(t, 2), "release: {distribute: citus}"
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	p := s.serve(t)
	source, conn := connect(t, s.admin), connect(t, s.url())

	plan := psql(t, s.url(), "EXPLAIN (COSTS OFF) SELECT illness, count(*) FROM people GROUP BY 1").must(t).stdout
	if !strings.Contains(plan, "Citus Adaptive") || !strings.Contains(plan, "Task Count: 4") || strings.Contains(plan, "packed_") {
		t.Errorf("groups are counted by\n%s", plan)
	}
	execute(t, source, "DELETE FROM people WHERE id % 10 = 3; UPDATE people SET age = age + 1, illness = 'new' WHERE id % 7 = 1; UPDATE wards SET town = 'moved' WHERE zip = '10001'")
	left := scalar[int](t, source, "SELECT count(*) FROM people")
	eventually(t, "the changes are published", func() bool {
		return scalar[int](t, conn, "SELECT count(*) FROM people") == left && scalar[int](t, conn, "SELECT count(*) FROM wards WHERE town = 'moved'") == 1
	})
	for query, want := range map[string]int{
		"SELECT count(*) FROM people WHERE age BETWEEN 0 AND 200 AND illness = 'new'":                scalar[int](t, source, "SELECT count(*) FROM people WHERE illness = 'new'"),
		"SELECT count(DISTINCT illness) FROM people":                                                 scalar[int](t, source, "SELECT count(DISTINCT illness) FROM people"),
		"SELECT count(*) FROM people LEFT JOIN wards USING (zip)":                                    left,
		"WITH g AS (SELECT illness, count(*) AS n FROM people GROUP BY 1) SELECT sum(n)::int FROM g": left,
	} {
		if got := scalar[int](t, conn, query); got != want {
			t.Errorf("%s: %d, not %d", query, got, want)
		}
	}
	for _, refused := range []string{
		"SELECT run_command_on_workers('SELECT 1')", "SELECT * FROM run_command_on_all_nodes('SELECT 1')", "SELECT master_run_on_worker(ARRAY['a'], ARRAY[1], ARRAY['SELECT 1'], true)",
		"SELECT read_intermediate_result('a', 'text')", "SELECT citus_version()", "SELECT * FROM citus_tables", "SELECT * FROM citus_shards", "SELECT * FROM pg_catalog.citus_stat_activity",
		"SELECT * FROM pg_dist_node", "SELECT * FROM pg_catalog.pg_dist_shard", "SELECT * FROM pg_dist_transaction", "SELECT * FROM kproxy_store.packed_1", "SELECT * FROM kproxy_store.packed_1_102008",
		"SET citus.enable_ddl_propagation = off", "SELECT set_config('citus.use_secondary_nodes', 'always', false)", "SHOW citus.node_conninfo",
	} {
		if out := psql(t, s.url(), refused); out.code == 0 {
			t.Errorf("%s: %s", refused, out.stdout)
		}
	}
	s.kproxy(t, "verify").must(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	s.serve(t)
	if got := scalar[int](t, connect(t, s.url()), "SELECT count(*) FROM people"); got != left {
		t.Errorf("%d rows after a restart, not %d", got, left)
	}

	// One without the setting would read what workers may not have committed.
	whole := s.config
	s.config = s.edit(t, "whole.yaml", "release: {distribute: citus}", "")
	if out := s.kproxy(t, "check"); out.code == 0 || !strings.Contains(out.stdout+out.stderr, "[citus]") {
		t.Errorf("without distribute: %d, %s", out.code, out.stdout)
	}
	s.config = whole
}
