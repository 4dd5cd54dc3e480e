package sync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// journal is a table without a key.
func journal(name string) tableCase {
	c := person(name)
	c.ddl = "CREATE TABLE " + name + " (id int, age int, note text, illness text); ALTER TABLE " + name + " REPLICA IDENTITY FULL"
	return c
}

// TestReplicaIdentities changes rows and keys of tables that are identified in every way.
func TestReplicaIdentities(t *testing.T) {
	t.Parallel()
	composite := tableCase{
		ddl:     "CREATE TABLE %s (age int, b text, illness text NOT NULL, a text, note text, PRIMARY KEY (b, a))",
		numeric: []string{"age"}, sensitive: []string{"illness"}, insensitive: []string{"note"},
	}
	pair := func(name, more string) tableCase {
		c := composite
		c.name, c.ddl = name, strings.ReplaceAll(fmt.Sprintf(c.ddl, name)+more, "%T", name)
		return c
	}
	numbers := tableCase{
		name: "numbers", ddl: "CREATE TABLE numbers (id numeric PRIMARY KEY, age int, note text, illness text NOT NULL)",
		numeric: []string{"age"}, sensitive: []string{"illness"}, insensitive: []string{"note"},
	}
	floats := numbers
	floats.name, floats.ddl = "floats", strings.NewReplacer("numbers", "floats", "numeric", "float8").Replace(numbers.ddl)
	b := tablesBench(t,
		person("by_default"),
		person("by_index").with("ALTER TABLE by_index DROP CONSTRAINT by_index_pkey; ALTER TABLE by_index ADD code text NOT NULL DEFAULT ''; CREATE UNIQUE INDEX by_code ON by_index (code, id); ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_code"),
		person("by_all").with("ALTER TABLE by_all REPLICA IDENTITY FULL"),
		journal("by_nothing_else"),
		person("deferred").with("ALTER TABLE deferred DROP CONSTRAINT deferred_pkey, ADD PRIMARY KEY (id) DEFERRABLE, REPLICA IDENTITY FULL"),
		pair("pairs", ""), pair("full_pairs", "; ALTER TABLE %T REPLICA IDENTITY FULL"),
		numbers, floats,
	)
	plain := []string{"by_default", "by_index", "by_all", "by_nothing_else", "deferred"}
	s, stop := b.run()
	again := func() {
		t.Helper()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = b.run()
	}
	step := func(name, sql string, tables ...string) {
		t.Run(name, func(t *testing.T) {
			b := b.within(t)
			for _, table := range tables {
				b.script(strings.ReplaceAll(sql, "%T", table))
			}
			b.settled(s)
		})
	}
	b.fillPersons(20, plain...)
	b.settled(s)
	step("update", "UPDATE %T SET age = age + 1, note = NULL WHERE id % 3 = 0", plain...)
	step("key update", "UPDATE %T SET id = id + 1000 WHERE id % 4 = 0", plain...)
	again()
	step("chain", "BEGIN; UPDATE %T SET id = 2000 WHERE id = 1; UPDATE %T SET id = 1 WHERE id = 2; UPDATE %T SET id = 2 WHERE id = 3; UPDATE %T SET id = 3 WHERE id = 2000; COMMIT", plain...)
	step("delete and insert", "BEGIN; DELETE FROM %T WHERE id = 1; INSERT INTO %T (id, age, illness) VALUES (1, 7, 'new'); UPDATE %T SET age = 8 WHERE id = 1; DELETE FROM %T WHERE id = 1; INSERT INTO %T (id, age, illness) VALUES (1, 9, 'newer'); COMMIT", plain...)
	step("no change", "UPDATE %T SET age = age", plain...)
	step("swap in one statement", "UPDATE deferred SET id = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 WHEN 3 THEN 5 ELSE 3 END WHERE id IN (1, 2, 3, 5)", "deferred")
	step("shift of all keys", "UPDATE deferred SET id = id + 1; UPDATE deferred SET id = id - 1", "deferred")
	step("index key", "UPDATE by_index SET code = 'c' || id; UPDATE by_index SET code = code || 'x', id = id + 1 WHERE id % 2 = 0", "by_index")

	again()
	step("equal rows", `INSERT INTO %T SELECT 77, 7, NULL, 'flu' FROM generate_series(1, 3); INSERT INTO %T SELECT 77, 7, '', 'flu' FROM generate_series(1, 3)`, "by_nothing_else")
	again()
	step("one of them deleted", `DELETE FROM %T WHERE ctid = (SELECT min(ctid) FROM %T WHERE id = 77 AND note IS NULL)`, "by_nothing_else")
	step("one of them updated", `UPDATE %T SET note = 'only one' WHERE ctid = (SELECT min(ctid) FROM %T WHERE id = 77 AND note IS NULL)`, "by_nothing_else")
	step("one of the empty updated to NULL", `UPDATE %T SET note = NULL WHERE ctid = (SELECT min(ctid) FROM %T WHERE id = 77 AND note = '')`, "by_nothing_else")
	step("all NULL", `INSERT INTO %T SELECT FROM generate_series(1, 4); DELETE FROM %T WHERE ctid = (SELECT max(ctid) FROM %T WHERE id IS NULL)`, "by_nothing_else")
	step("long equal rows", `ALTER TABLE %T ALTER note SET STORAGE EXTERNAL; INSERT INTO %T SELECT 78, 7, repeat('long', 3000), 'flu' FROM generate_series(1, 3);
		UPDATE %T SET age = 8 WHERE ctid = (SELECT max(ctid) FROM %T WHERE id = 78); DELETE FROM %T WHERE ctid = (SELECT max(ctid) FROM %T WHERE id = 78 AND age = 7)`, "by_nothing_else")

	pairs := []string{"pairs", "full_pairs"}
	step("awkward texts", `INSERT INTO %T (a, b, age, illness) VALUES ('', '', 1, 'x'), ('1:a', '', 2, 'y'), ('', '1:a', 3, 'x'), ('a', 'B', 4, 'y'), ('A', 'b', 5, 'x'), ('A', 'B', 6, 'y'), ('a', 'b', 7, 'x'),
		(E'\t', E'\n', 8, 'y'), (E'\\N', E'\\.', 9, 'x'), ('a ', ' a', 10, 'y'), ('ä', U&'a\0308', 11, 'x'), (U&'a\0308', 'ä', 12, 'y'), ('"', '''', 13, 'x'), ('{NULL}', 'NULL', 14, 'y')`, pairs...)
	again()
	step("awkward keys changed", `UPDATE %T SET age = age + 1; UPDATE %T SET a = b, b = a WHERE a <> b AND a > b AND NOT EXISTS (SELECT FROM %T o WHERE (o.a, o.b) = (%T.b, %T.a)); DELETE FROM %T WHERE a = 'a' AND b = 'B'`, pairs...)
	step("case only", `UPDATE %T SET a = upper(a) || 'q', b = lower(b)|| 'Q' WHERE a = 'a' AND b = 'b'; UPDATE %T SET a = lower(a) WHERE a = 'Aq'`, pairs...)
	step("zeros", `INSERT INTO %T SELECT i, i, NULL, 'illness ' || i % 4 FROM generate_series(0, 12) i`, "numbers", "floats")
	step("trailing zeros", `UPDATE numbers SET id = (id::text || '.00')::numeric; UPDATE numbers SET age = age + 1; UPDATE numbers SET id = trim_scale(id), note = 'trimmed' WHERE age > 5`, "numbers")
	step("negative zero", `UPDATE floats SET id = '-0' WHERE id = 0; UPDATE floats SET age = 5 WHERE id = 0; UPDATE floats SET id = 'NaN' WHERE id = 5; UPDATE floats SET id = 'infinity' WHERE id = 6;
		UPDATE floats SET age = age + 1; UPDATE floats SET id = 0 WHERE id = 0; UPDATE floats SET id = 1e-300 WHERE id = 'NaN'`, "floats")
	again()
	step("after a restart", "UPDATE %T SET age = age + 1; DELETE FROM %T WHERE id > 100", append(plain, "numbers")...)
}

// TestNoIdentityIsRefused keeps tables out whose changed rows could not be found.
func TestNoIdentityIsRefused(t *testing.T) {
	t.Parallel()
	b := tablesBench(t)
	b.script("CREATE TABLE nothing (id int PRIMARY KEY, age int); ALTER TABLE nothing REPLICA IDENTITY NOTHING; CREATE TABLE keyless (id int, age int)")
	relations, err := inspect.Relations(t.Context(), b.source, b.config.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range relations {
		if r.Name.Relation == "beat" {
			continue
		}
		policy := tableCase{name: r.Name.Relation, numeric: []string{"age"}}.policy()
		_, problems := catalog.Publish(policy, r)
		if len(problems) != 1 || !strings.Contains(problems[0].What, "cannot be identified") || !strings.Contains(problems[0].Fix, "REPLICA IDENTITY") {
			t.Errorf("%s: %v", r.Name, problems)
		}
	}
}

// TestIdentityChanges changes how rows are identified while kproxy applies: it goes on
// rightly, or that table alone is halted and a reload heals it.
func TestIdentityChanges(t *testing.T) {
	t.Parallel()
	indexed := func(name string) tableCase {
		c := person(name)
		return c.with("ALTER TABLE " + name + " ADD code text NOT NULL DEFAULT gen_random_uuid()::text; CREATE UNIQUE INDEX " + name + "_code ON " + name + " (code); ALTER TABLE " + name + " ADD tag uuid NOT NULL DEFAULT gen_random_uuid(); CREATE UNIQUE INDEX " + name + "_tag ON " + name + " (tag)")
	}
	type change struct{ name, before, change string }
	changes := []change{
		{"default_full", "", "REPLICA IDENTITY FULL"},
		{"full_default", "REPLICA IDENTITY FULL", "REPLICA IDENTITY DEFAULT"},
		{"default_index", "", "REPLICA IDENTITY USING INDEX %T_code"},
		{"index_default", "REPLICA IDENTITY USING INDEX %T_code", "REPLICA IDENTITY DEFAULT"},
		{"index_index", "REPLICA IDENTITY USING INDEX %T_code", "REPLICA IDENTITY USING INDEX %T_tag"},
		{"index_full", "REPLICA IDENTITY USING INDEX %T_code", "REPLICA IDENTITY FULL"},
		{"full_index", "REPLICA IDENTITY FULL", "REPLICA IDENTITY USING INDEX %T_code"},
		{"key_replaced", "", "DROP CONSTRAINT %T_pkey, ADD PRIMARY KEY (code)"},
		{"full_key_dropped", "REPLICA IDENTITY FULL", "DROP CONSTRAINT %T_pkey"},
		{"full_key_added", "DROP CONSTRAINT %T_pkey, REPLICA IDENTITY FULL", "ADD PRIMARY KEY (code)"},
		{"full_nokey_default", "DROP CONSTRAINT %T_pkey, REPLICA IDENTITY FULL", "ADD PRIMARY KEY (id), REPLICA IDENTITY DEFAULT"},
	}
	work := func(b *bench, table string, round int) {
		b.script(strings.ReplaceAll(fmt.Sprintf(`UPDATE %%T SET age = age + 1; UPDATE %%T SET id = id + 100 WHERE id %% 3 = %[1]d; UPDATE %%T SET code = code || 'x' WHERE id %% 4 = %[1]d;
			UPDATE %%T SET tag = gen_random_uuid() WHERE id %% 5 = %[1]d; DELETE FROM %%T WHERE id %% 7 = 3; INSERT INTO %%T (id, age, illness) SELECT i, i, 'x' || i FROM generate_series(%[1]d * 1000 + 1, %[1]d * 1000 + 9) i`, round),
			"%T", table))
	}
	// Few at a time: each has every table of its database looked at afresh.
	for changes := range slices.Chunk(changes, 4) {
		t.Run("from "+changes[0].name, func(t *testing.T) {
			t.Parallel()
			var cases []tableCase
			for _, c := range changes {
				table := indexed(c.name)
				if c.before != "" {
					table = table.with("ALTER TABLE " + c.name + " " + strings.ReplaceAll(c.before, "%T", c.name))
				}
				cases = append(cases, table)
			}
			b := tablesBench(t, cases...)
			for _, c := range changes {
				b.fillPersons(12, c.name)
			}
			s, _ := b.run()
			b.settled(s)
			for _, c := range changes {
				t.Run(c.name, func(t *testing.T) {
					b := b.within(t)
					work(b, c.name, 1)
					b.script("ALTER TABLE " + c.name + " " + strings.ReplaceAll(c.change, "%T", c.name))
					work(b, c.name, 2)
					b.healsWithFix(s, c.name)
					work(b, c.name, 3)
					b.healsWithFix(s, c.name)
					work(b, c.name, 4)
					b.settled(s, c.name)
				})
			}
		})
	}
}
