package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// typedSite has composite types in columns of protected tables and of readable relations, by
// themselves and within others, and in what views compute from tables that are not listed.
func typedSite() siteOptions {
	return sqlSite(`CREATE TYPE acct AS (x int, y text); CREATE DOMAIN account AS acct; CREATE TYPE holder AS (a acct[], n int); CREATE TYPE accts AS RANGE (subtype = acct);
		CREATE TYPE mood AS ENUM ('calm', 'wild'); CREATE TYPE feeling AS (m mood);
		CREATE TABLE plain (id int PRIMARY KEY, age int, a acct); INSERT INTO plain SELECT i, i % 9, ROW(i % 3, 'y')::acct FROM generate_series(1, 60) i;
		CREATE TABLE many (id int PRIMARY KEY, age int, a acct[]); INSERT INTO many SELECT i, i % 9, ARRAY[ROW(i % 3, 'y')::acct] FROM generate_series(1, 60) i;
		CREATE TABLE codes (a account); INSERT INTO codes SELECT ROW(1, 'y')::acct FROM generate_series(1, 9);
		CREATE TABLE spans (r accts); INSERT INTO spans VALUES (accts(ROW(1, 'a')::acct, ROW(2, 'b')::acct));
		CREATE TABLE holders (h holder) PARTITION BY LIST (((h).n)); CREATE TABLE holders_1 PARTITION OF holders FOR VALUES IN (1); INSERT INTO holders VALUES (ROW(ARRAY[ROW(1, 'y')::acct], 1)::holder);
		CREATE VIEW held AS SELECT h FROM holders; CREATE MATERIALIZED VIEW stored AS SELECT a FROM codes;
		CREATE TABLE vault (a acct, n int); INSERT INTO vault VALUES (ROW(1, 'y')::acct, 1);
		CREATE VIEW texts AS SELECT a::text AS t FROM vault; CREATE VIEW outer_texts AS SELECT count(*) AS n, max(t) AS t FROM texts;
		CREATE VIEW whole AS SELECT to_jsonb(v.*)::text AS t FROM vault v;
		CREATE TABLE letters (j jsonb); INSERT INTO letters VALUES ('{"x": 1, "y": "y", "z": "qvz"}');
		CREATE VIEW documents AS SELECT jsonb_populate_record(NULL::acct, j)::text AS t FROM letters;
		CREATE TABLE felt (f feeling); INSERT INTO felt VALUES (ROW('calm')::feeling); CREATE TABLE rows (r felt); INSERT INTO rows SELECT felt FROM felt;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.plain:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, a: sensitive}
    constraints: [{k: 3}]
  public.many:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, a: sensitive}
    constraints: [{k: 3}]
readable: [public.codes, public.spans, public.holders, public.held, public.stored, public.texts, public.outer_texts, public.whole, public.documents, public.felt, public.rows]
`)
}

// TestAddedFieldsAreNotServed has fields of composite types come, go and change their names.
// No reader gets a value of an added field at any moment, whatever was prepared or opened before,
// and all that shows the type is refused until the change is taken back, or accepted.
func TestAddedFieldsAreNotServed(t *testing.T) {
	t.Parallel()
	s := ready(t, typedSite())
	admin := connect(t, s.admin)
	run := func(sql string) { t.Helper(); execute(t, admin, sql, pgx.QueryExecModeSimpleProtocol) }
	const add = `ALTER TYPE acct ADD ATTRIBUTE z text CASCADE; UPDATE plain SET a.z = 'qvz'; UPDATE many SET a[1].z = 'qvz'; UPDATE codes SET a.z = 'qvz';
		UPDATE spans SET r = accts(ROW(1, 'a', 'qvz')::acct, ROW(2, 'b', 'qvz')::acct); UPDATE holders SET h.a[1].z = 'qvz'; UPDATE vault SET a.z = 'qvz'`
	protected := []string{"plain", "many"}
	readable := []string{"codes", "spans", "holders", "held", "stored", "texts", "outer_texts", "whole"}
	both := append(append([]string{}, protected...), readable...)
	for _, c := range []struct {
		change, says, back string
		relations          []string
		adds               bool
	}{
		{"BEGIN; " + add + "; COMMIT", "z text, was added", "ALTER TYPE acct DROP ATTRIBUTE z CASCADE", both, true},
		{
			"BEGIN; ALTER TYPE acct ADD ATTRIBUTE v text CASCADE; ALTER TYPE acct DROP ATTRIBUTE v CASCADE; " + add + "; COMMIT", "z text, was added",
			"ALTER TYPE acct DROP ATTRIBUTE z CASCADE", both, true,
		},
		{"ALTER TYPE acct RENAME ATTRIBUTE y TO w CASCADE", "is now w text", "ALTER TYPE acct RENAME ATTRIBUTE w TO y CASCADE", both, false},
		{"ALTER TYPE mood RENAME VALUE 'calm' TO 'mild'", `is now "mild"`, "ALTER TYPE mood RENAME VALUE 'mild' TO 'calm'", []string{"felt", "rows"}, false},
		{"BEGIN; ALTER TABLE felt ADD z text; UPDATE felt SET z = 'qvz'; UPDATE rows SET r.z = 'qvz'; COMMIT", "z text, was added", "ALTER TABLE felt DROP z", []string{"rows"}, true},
	} {
		for _, relation := range c.relations {
			eventually(t, relation+" is served before "+c.change, func() bool {
				found, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
				return err == nil && found
			})
		}
		again, stop := s.hammer(t, c.relations)
		run(c.change)
		if shown, refused := again(); shown != "" || c.adds && !refused {
			t.Errorf("%s: sessions from before got %q, and one was refused: %t", c.change, shown, refused)
		}
		for _, relation := range c.relations {
			eventually(t, relation+" is refused after "+c.change, func() bool {
				_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
				return err != nil && strings.Contains(err.Error(), "55000")
			})
		}
		eventually(t, "status tells of "+c.change, func() bool {
			out := s.kproxy(t, "status")
			return out.code == 3 && strings.Count(out.stdout, c.says) >= len(c.relations)
		})
		if shown := stop(); shown != "" {
			t.Errorf("%s: a reader got %q", c.change, shown)
		}
		run(c.back)
		if slices.Contains(c.relations, "stored") { // which may hold values from then
			run("REFRESH MATERIALIZED VIEW stored")
			s.kproxy(t, "accept", "--yes", "public.stored").must(t)
		}
		for _, relation := range c.relations {
			eventually(t, relation+" is served after "+c.back, func() bool {
				found, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
				return err == nil && found
			})
		}
	}
	if out := s.kproxy(t, "status"); !strings.Contains(out.stdout, "its definition calls jsonb_populate_record") {
		t.Errorf("status says\n%s", out.stdout)
	}
	run("ALTER TYPE mood ADD VALUE 'sad'") // nobody has it
	run("ALTER TYPE acct ADD ATTRIBUTE z text CASCADE; ALTER TABLE vault ADD secret text; UPDATE vault SET secret = 'qvz'")
	eventually(t, "plain is refused", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM plain")
		return err != nil
	})
	o := s.kproxy(t, "accept", "--yes")
	if o.code != 0 || strings.Count(o.stdout, "z text, was added") < 10 || strings.Contains(o.stdout, "felt") || !strings.Contains(o.stdout, "which it reads: column secret was added") {
		t.Errorf("accept ends with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	for _, sql := range []string{
		"SELECT count((a).z) = 0 FROM plain", "SELECT count((a).z) = 0 FROM codes", "SELECT count((h).a[1].z) = 0 FROM held",
		"SELECT count(t) = 1 FROM texts WHERE t = '(1,y,)'", "SELECT count(t) = 1 FROM whole WHERE t LIKE '%secret%'",
	} {
		eventually(t, sql, func() bool {
			found, err := s.attempt(t, sql)
			return err == nil && found
		})
	}
}

// TestRenamedLabelsUnderLocks renames a label while a transaction has the table under listed
// views to itself. What shows the label is refused as soon as ever, all else is served, and
// nothing that cannot be read is accepted.
func TestRenamedLabelsUnderLocks(t *testing.T) {
	t.Parallel()
	s := ready(t, typedSite())
	admin, locker := connect(t, s.admin), connect(t, s.admin)
	eventually(t, "felt and texts are served", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM felt, texts")
		return err == nil
	})
	execute(t, locker, "BEGIN; CREATE OR REPLACE VIEW texts AS SELECT a::text AS t FROM vault WHERE n > 0; LOCK TABLE vault", pgx.QueryExecModeSimpleProtocol)
	execute(t, admin, "ALTER TYPE mood RENAME VALUE 'calm' TO 'mild'")
	eventually(t, "felt is refused", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM felt")
		return err != nil && strings.Contains(err.Error(), "55000")
	})
	if _, err := s.attempt(t, "SELECT count(*) > 0 FROM codes, holders, plain"); err != nil {
		t.Errorf("others are not served: %v", err)
	}
	for _, command := range []string{"check", "status"} {
		if out := s.kproxy(t, command); !strings.Contains(out.stdout, `is now "mild"`) {
			t.Errorf("%s says\n%s%s", command, out.stdout, out.stderr)
		}
	}
	if out := s.kproxy(t, "check"); !strings.Contains(out.stdout, "holds an ACCESS EXCLUSIVE lock on public.") {
		t.Errorf("check says\n%s%s", out.stdout, out.stderr)
	}
	if out := s.kproxy(t, "accept", "--yes", "public.texts"); out.code == 0 || !strings.Contains(out.stderr, "holds an ACCESS EXCLUSIVE lock on public.") {
		t.Errorf("accept ends with %d:\n%s%s", out.code, out.stdout, out.stderr)
	}
	execute(t, locker, "COMMIT")
	eventually(t, "texts is refused as another view", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM texts")
		out := s.kproxy(t, "status")
		return err != nil && strings.Contains(out.stdout, "its definition is another one")
	})
	execute(t, admin, "ALTER TYPE mood RENAME VALUE 'mild' TO 'calm'; CREATE OR REPLACE VIEW texts AS SELECT a::text AS t FROM vault", pgx.QueryExecModeSimpleProtocol)
	eventually(t, "all is served again", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM felt, texts, whole")
		return err == nil
	})
}

// TestAddedColumnsOfWholeRows adds a column to a table of which a listed view shows whole rows.
func TestAddedColumnsOfWholeRows(t *testing.T) {
	t.Parallel()
	s := ready(t, typedSite())
	admin := connect(t, s.admin)
	stop := s.canaryPolls(t, "SELECT t FROM whole")
	execute(t, admin, "ALTER TABLE vault ADD secret text; UPDATE vault SET secret = 'qvz'; CREATE OR REPLACE VIEW texts AS SELECT a::text AS t FROM vault WHERE n > 0", pgx.QueryExecModeSimpleProtocol)
	eventually(t, "a look has seen it", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM texts")
		return err != nil
	})
	if found, err := s.attempt(t, "SELECT count(*) = 1 FROM whole WHERE t NOT LIKE '%secret%'"); err != nil || !found {
		t.Errorf("whole: %v, %v", found, err)
	}
	if shown := stop(); shown != "" {
		t.Errorf("a reader got %s", shown)
	}
}

// hammer has sessions read relations: some without a pause, others by prepared statements, by cursors that
// were opened before, and under snapshots from before. Again has the last three read once more,
// and gives a raw value that one of them got, if any, and whether one was refused; stop ends the
// others, and gives such a value.
func (s *site) hammer(t *testing.T, relations []string) (again func() (shown string, refused bool), stop func() string) {
	t.Helper()
	var stops []func() string
	var later []func() ([]string, error)
	for _, relation := range relations {
		sql := "SELECT t::text FROM " + relation + " t"
		switch relation {
		case "codes", "rows":
			stops = append(stops, s.canaryPolls(t, sql))
		case "texts":
			stops = append(stops, s.canaryPolls(t, sql, pgx.QueryExecModeCacheStatement))
		}
		prepared, cursor, older := connect(t, s.url()), connect(t, s.url()), connect(t, s.url())
		execute(t, prepared, "PREPARE before AS "+sql)
		for range 7 { // the plan is kept
			execute(t, prepared, "EXECUTE before")
		}
		execute(t, cursor, "BEGIN")
		execute(t, cursor, "DECLARE before CURSOR FOR "+sql)
		execute(t, cursor, "FETCH 1 FROM before")
		execute(t, older, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		execute(t, older, "SELECT count(*) FROM plain")
		for conn, sql := range map[*pgx.Conn]string{prepared: "EXECUTE before", cursor: "FETCH ALL FROM before", older: sql} {
			later = append(later, func() ([]string, error) {
				rows, err := conn.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
				if err != nil {
					return nil, err
				}
				return pgx.CollectRows(rows, pgx.RowTo[string])
			})
		}
	}
	again = func() (shown string, refused bool) {
		for _, read := range later {
			texts, err := read()
			refused = refused || err != nil
			for _, text := range texts {
				if strings.Contains(text, "qvz") {
					shown = text
				}
			}
		}
		return shown, refused
	}
	return again, func() (shown string) {
		for _, stop := range stops {
			shown += stop()
		}
		return shown
	}
}
