package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestAddedFieldsAreNotServed adds fields to composite types, whose values lie in columns of
// protected tables and of readable relations, by themselves and within others: all of them are
// refused until the field is dropped again, or accepted.
func TestAddedFieldsAreNotServed(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TYPE acct AS (x int, y text); CREATE DOMAIN account AS acct; CREATE TYPE holder AS (a acct[], n int);
		CREATE TYPE mood AS ENUM ('calm', 'wild'); CREATE TYPE feeling AS (m mood);
		CREATE TABLE plain (id int PRIMARY KEY, age int, a acct); INSERT INTO plain SELECT i, i % 9, ROW(i % 3, 'y')::acct FROM generate_series(1, 60) i;
		CREATE TABLE many (id int PRIMARY KEY, age int, a acct[]); INSERT INTO many SELECT i, i % 9, ARRAY[ROW(i % 3, 'y')::acct] FROM generate_series(1, 60) i;
		CREATE TABLE codes (a account); INSERT INTO codes VALUES (ROW(1, 'y')::acct); CREATE VIEW held AS SELECT ROW(ARRAY[a::acct], 1)::holder AS h FROM codes;
		CREATE TABLE felt (f feeling); INSERT INTO felt VALUES (ROW('calm')::feeling); CREATE TABLE rows (r felt); INSERT INTO rows SELECT felt FROM felt`, `tables:
  public.plain:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, a: sensitive}
    constraints: [{k: 3}]
  public.many:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, a: sensitive}
    constraints: [{k: 3}]
readable: [public.codes, public.held, public.felt, public.rows]
`))
	admin := connect(t, s.admin)
	run := func(sql string) { t.Helper(); execute(t, admin, sql, pgx.QueryExecModeSimpleProtocol) }
	for _, c := range []struct {
		change, says, back string
		relations          []string
	}{
		{
			"BEGIN; ALTER TYPE acct ADD ATTRIBUTE z text CASCADE; UPDATE plain SET a.z = 'qvz'; UPDATE many SET a[1].z = 'qvz'; COMMIT", "z text, was added",
			"ALTER TYPE acct DROP ATTRIBUTE z CASCADE", []string{"plain", "many", "codes", "held"},
		},
		{"ALTER TYPE acct RENAME ATTRIBUTE y TO w CASCADE", "is now w text", "ALTER TYPE acct RENAME ATTRIBUTE w TO y CASCADE", []string{"plain", "many", "codes", "held"}},
		{"ALTER TYPE mood RENAME VALUE 'calm' TO 'mild'", `is now "mild"`, "ALTER TYPE mood RENAME VALUE 'mild' TO 'calm'", []string{"felt", "rows"}},
		{"ALTER TABLE felt ADD z text DEFAULT 'qvz'", "z text, was added", "ALTER TABLE felt DROP z", []string{"rows"}},
	} {
		var stops []func() string
		for _, relation := range c.relations {
			if relation == "plain" || relation == "many" {
				stops = append(stops, s.canaryPolls(t, "SELECT t::text FROM "+relation+" t"))
			}
		}
		run(c.change)
		for _, relation := range c.relations {
			eventually(t, relation+" is refused after "+c.change, func() bool {
				_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
				return err != nil && strings.Contains(err.Error(), "55000")
			})
		}
		if out := s.kproxy(t, "status"); out.code != 3 || strings.Count(out.stdout, c.says) < len(c.relations) {
			t.Errorf("%s: status ends with %d:\n%s", c.change, out.code, out.stdout)
		}
		run(c.back)
		for _, relation := range c.relations {
			eventually(t, relation+" is served after "+c.back, func() bool {
				found, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
				return err == nil && found
			})
		}
		for _, stop := range stops {
			if shown := stop(); shown != "" {
				t.Errorf("%s: a reader got %s", c.change, shown)
			}
		}
	}
	run("ALTER TYPE mood ADD VALUE 'sad'") // nobody has it
	run("ALTER TYPE acct ADD ATTRIBUTE z text CASCADE")
	eventually(t, "plain is refused", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM plain")
		return err != nil
	})
	if o := s.kproxy(t, "accept", "--yes"); o.code != 0 || strings.Count(o.stdout, "z text, was added") != 4 || strings.Contains(o.stdout, "felt") {
		t.Errorf("accept ends with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	for _, sql := range []string{"SELECT count((a).z) = 0 FROM plain", "SELECT count((a).z) = 0 FROM codes", "SELECT count((h).a[1].z) = 0 FROM held"} {
		eventually(t, sql, func() bool {
			found, err := s.attempt(t, sql)
			return err == nil && found
		})
	}
}
