package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestRenamedTablesStayProtected renames protected tables. No listed view over them, and nothing
// readable that they are attached to, shows a row of theirs: not at once, not after the operator
// was asked to accept it, and not when another table has the name and is accepted.
func TestRenamedTablesStayProtected(t *testing.T) {
	t.Parallel()
	const columns = "(id int NOT NULL, y int NOT NULL, name text, age int)"
	s := ready(t, sqlSite(`CREATE TABLE people (id int PRIMARY KEY, y int NOT NULL, name text, age int); CREATE TABLE staff (LIKE people INCLUDING ALL);
		INSERT INTO people SELECT i, i % 10, 'qvzcanary', i % 50 FROM generate_series(1, 300) i; INSERT INTO staff TABLE people;
		CREATE TABLE pub `+columns+` PARTITION BY RANGE (y); CREATE TABLE base `+columns+`; CREATE TABLE codes (code int);
		CREATE VIEW computed AS SELECT age, max(name) AS name FROM people GROUP BY age; CREATE VIEW whole AS SELECT to_jsonb(p) AS row FROM people p;
		CREATE VIEW paired AS SELECT p.age, s.age AS other FROM people p, staff s WHERE p.age = s.age; CREATE VIEW over AS SELECT name FROM pub;
		CREATE MATERIALIZED VIEW filled AS SELECT name FROM people; REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people: &people
    updates: immediate
    columns: {id: identifying, y: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
  public.staff: *people
readable: [public.pub, public.base, public.over, public.computed, public.whole, public.paired, public.filled, public.codes]
`))
	admin := connect(t, s.admin)
	run := func(statements string) {
		t.Helper()
		execute(t, admin, statements, pgx.QueryExecModeSimpleProtocol)
	}
	eventually(t, "the view is served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) > 0 FROM whole")
		return err == nil && found
	})
	run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + s.owner)
	var stops []func() string
	for _, relation := range []string{"over", "base", "whole"} {
		stops = append(stops, s.canaryPolls(t, "SELECT lower(t::text) FROM "+relation+" t"))
	}
	refused := func(when string, relations ...string) {
		t.Helper()
		for _, relation := range relations {
			eventually(t, relation+" is refused "+when, func() bool {
				_, err := s.attempt(t, "SELECT count(*) >= 0 FROM "+relation)
				return err != nil && strings.Contains(err.Error(), "55000")
			})
		}
		eventually(t, "status and check tell of it "+when, func() bool {
			status, check := s.kproxy(t, "status").stdout, s.kproxy(t, "check").stdout
			return !slices.ContainsFunc(relations, func(relation string) bool {
				return !strings.Contains(status, "public."+relation) || !strings.Contains(check, "public."+relation)
			})
		})
	}
	run("ALTER TABLE people RENAME TO was")
	refused("when its table is renamed", "computed", "whole", "paired", "filled")
	if out := s.kproxy(t, "check").stdout; strings.Contains(out, "list public.was") {
		t.Errorf("check says\n%s", out)
	}
	s.kproxy(t, "accept", "public.computed", "public.whole", "public.paired", "public.filled", "--yes")
	run(`BEGIN; CREATE TABLE people (id int PRIMARY KEY, y int NOT NULL, name text, age int); INSERT INTO people SELECT i, 1, 'qvzcanary', 1 FROM generate_series(1, 9) i;
		ALTER TABLE pub ATTACH PARTITION was FOR VALUES FROM (0) TO (10);
		ALTER TABLE staff RENAME TO staff_was; ALTER TABLE staff_was INHERIT base; CREATE TABLE staff (LIKE people INCLUDING ALL); COMMIT`)
	refused("when such a table is attached to it", "pub", "base", "over")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "accept", "public.people", "public.staff", "--yes").must(t)
	eventually(t, "the new table is served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) = 9 FROM people")
		return err == nil && found
	})
	refused("when another table has the name", "computed", "whole", "paired", "filled", "pub", "base", "over")
	if found, err := s.attempt(t, "SELECT count(*) = 0 FROM codes"); !found || err != nil {
		t.Errorf("another relation gives %t, %v", found, err)
	}
	for _, stop := range stops {
		if shown := stop(); shown != "" {
			t.Errorf("a reader got %s", shown)
		}
	}
}
