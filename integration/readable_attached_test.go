package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// attachedSite has protected tables to which readable relations, and what those read, can be
// attached.
func attachedSite() siteOptions {
	return sqlSite(`CREATE TABLE people (id int, y int, name text, age int, PRIMARY KEY (id, y)) PARTITION BY RANGE (y);
		CREATE TABLE people_1 PARTITION OF people FOR VALUES FROM (0) TO (10);
		INSERT INTO people SELECT i, i % 10, 'qvzcanary', i % 50 FROM generate_series(1, 300) i;
		CREATE TABLE staff (id int PRIMARY KEY, y int, name text, age int); INSERT INTO staff SELECT id, y, name, age FROM people;
		CREATE TABLE flat (id int NOT NULL, y int NOT NULL, name text, age int);
		CREATE TABLE heir (LIKE flat); CREATE TABLE parted (LIKE flat) PARTITION BY RANGE (y); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (20) TO (30);
		CREATE TABLE above (LIKE flat) PARTITION BY RANGE (y); CREATE TABLE below PARTITION OF above FOR VALUES FROM (20) TO (30);
		CREATE TABLE under (LIKE flat); CREATE VIEW over AS SELECT name FROM under; CREATE TABLE source (LIKE flat); CREATE MATERIALIZED VIEW filled AS SELECT name FROM source;
		CREATE TABLE codes (code int); INSERT INTO codes VALUES (1);
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, y: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
  public.staff:
    updates: immediate
    columns: {id: identifying, y: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
readable: [public.flat, public.heir, public.parted, public.below, public.over, public.filled, public.codes]
`)
}

// TestReadableIsAttached attaches readable relations, and what they read, to protected
// tables, as partitions and as inheriting tables: no statement shows a row that was inserted then,
// also under a snapshot from before, only that relation is refused, and it is served again when
// it is detached. What was a partition of a protected table stays so, and another takes its place,
// by CASCADE, as kproxy's view may still be over it.
func TestReadableIsAttached(t *testing.T) {
	t.Parallel()
	for relation, c := range map[string]struct{ table, attach, detach, fill, again string }{
		"flat": {"flat", "ALTER TABLE people ATTACH PARTITION flat FOR VALUES FROM (20) TO (30)", "ALTER TABLE people DETACH PARTITION flat", "", "DROP TABLE flat CASCADE; CREATE TABLE flat (LIKE heir)"},
		"heir": {"heir", "ALTER TABLE heir INHERIT staff", "ALTER TABLE heir NO INHERIT staff", "", ""},
		// The whole of it, with its partition.
		"parted": {"parted_1", "ALTER TABLE people ATTACH PARTITION parted FOR VALUES FROM (20) TO (30)", "ALTER TABLE people DETACH PARTITION parted", "", "DROP TABLE parted CASCADE; CREATE TABLE parted (LIKE heir)"},
		// What it is a partition of.
		"below":  {"below", "ALTER TABLE people ATTACH PARTITION above FOR VALUES FROM (20) TO (30)", "ALTER TABLE people DETACH PARTITION above", "", "DROP TABLE below CASCADE; CREATE TABLE below (LIKE heir)"},
		"over":   {"under", "ALTER TABLE under INHERIT staff", "ALTER TABLE under NO INHERIT staff", "", ""},
		"filled": {"source", "ALTER TABLE source INHERIT staff", "ALTER TABLE source NO INHERIT staff", "REFRESH MATERIALIZED VIEW filled", "TRUNCATE source; REFRESH MATERIALIZED VIEW filled"},
	} {
		t.Run(relation, func(t *testing.T) {
			t.Parallel()
			s := ready(t, attachedSite())
			admin := connect(t, s.admin)
			run := func(statements ...string) {
				t.Helper()
				execute(t, admin, strings.Join(statements, "; "), pgx.QueryExecModeSimpleProtocol)
			}
			served := func(relation string) {
				t.Helper()
				eventually(t, relation+" is served", func() bool {
					_, err := s.attempt(t, "SELECT count(*) >= 0 FROM "+relation)
					return err == nil
				})
			}
			served(relation)
			served("codes")
			stop := s.canaryPolls(t, "SELECT lower(t::text) FROM "+relation+" t")
			older := connect(t, s.url())
			for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM codes"} {
				execute(t, older, sql)
			}
			// Rows that are written as frozen are there for older snapshots, too.
			attach := strings.Join([]string{"BEGIN", "TRUNCATE " + c.table, c.attach, "COPY " + c.table + " FROM PROGRAM 'printf \"1\\t21\\tqvzcanary\\t1\\n\"' (FREEZE)", "COMMIT"}, "; ")
			executeDespiteDeadlocks(t, admin, attach)
			run("INSERT INTO "+c.table+" VALUES (2, 22, 'qvzcanary', 1)", c.fill)
			var texts []string
			rows, err := older.Query(t.Context(), "SELECT t::text FROM "+relation+" t")
			if err == nil {
				texts, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			if err == nil || len(texts) > 0 {
				t.Errorf("an older snapshot shows %q", texts)
			}
			eventually(t, relation+" is refused", func() bool {
				_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
				return err != nil && strings.Contains(err.Error(), "55000")
			})
			eventually(t, "status and check tell of it", func() bool {
				status, check := s.kproxy(t, "status"), s.kproxy(t, "check")
				return status.code == 3 && strings.Contains(status.stdout, "public."+relation) && strings.Contains(check.stdout, "public."+relation) && strings.Contains(check.stdout, "protected")
			})
			if out := s.kproxy(t, "status").stdout; strings.Contains(out, "nothing is served") {
				t.Errorf("status says %s", out)
			}
			if found, err := s.attempt(t, "SELECT count(*) = 1 FROM codes"); !found || err != nil {
				t.Errorf("another relation gives %t, %v", found, err)
			}
			if found, err := s.attempt(t, "SELECT count(*) > 0 FROM people"); !found || err != nil {
				t.Errorf("a protected table gives %t, %v", found, err)
			}
			if _, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation); err == nil || !strings.Contains(err.Error(), "55000") {
				t.Errorf("after the audit it gives %v", err)
			}
			if shown := stop(); shown != "" {
				t.Errorf("a reader got %s", shown)
			}
			run(c.detach)
			if c.again != "" {
				run(c.again)
				s.kproxy(t, "setup").must(t)
				s.kproxy(t, "accept", "public."+relation, "--yes").must(t)
			}
			served(relation)
		})
	}
}

// executeDespiteDeadlocks executes statements until they are not the victim of a deadlock: readers
// hold locks in another order.
func executeDespiteDeadlocks(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	eventually(t, "there is no deadlock", func() bool {
		_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if deadlock := (*pgconn.PgError)(nil); err != nil && (!errors.As(err, &deadlock) || deadlock.Code != "40P01") {
			t.Fatal(err)
		} else if err != nil {
			execute(t, conn, "ROLLBACK")
		}
		return err == nil
	})
}
