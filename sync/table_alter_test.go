package sync

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// alteration is something that ALTER TABLE or its like can do to a table of the plain shape
// while its rows change.
type alteration struct {
	name, change string
	undo         string // empty where the table is not halted; else it goes on by itself after this
	accept       bool   // it is halted, and after undo, if any, until it is accepted
}

var alterations = []alteration{
	{"add_column", "ALTER TABLE %T ADD extra int; UPDATE %T SET extra = id", "", false},
	{"add_volatile", "ALTER TABLE %T ADD extra uuid DEFAULT gen_random_uuid()", "", false},
	{"drop_other", "ALTER TABLE %T DROP other", "", false},
	{"rename_other", "ALTER TABLE %T RENAME other TO another", "ALTER TABLE %T RENAME another TO other", false},
	{"retype_other", "ALTER TABLE %T ALTER other TYPE numeric", "ALTER TABLE %T ALTER other TYPE int", false},
	{"note_in_place", "ALTER TABLE %T ALTER note TYPE text USING note || '!'", "", false},
	{"age_in_place", "ALTER TABLE %T ALTER age TYPE int USING age + 1", "", false},
	{"illness_in_place", "ALTER TABLE %T ALTER illness TYPE text USING 'new ' || illness", "", false},
	{"key_in_place", "ALTER TABLE %T ALTER id TYPE int USING id + 1000", "", false},
	{"not_null", "ALTER TABLE %T ALTER age SET NOT NULL; ALTER TABLE %T ALTER illness DROP NOT NULL; UPDATE %T SET illness = NULL WHERE id % 4 = 1", "", false},
	{"vacuum_full", "VACUUM FULL %T", "", false},
	{"cluster", "CLUSTER %T USING %T_pkey", "", false},
	{"dropped_and_added", "BEGIN; ALTER TABLE %T DROP note; ALTER TABLE %T ADD note text; COMMIT", "", true},
	{"added_with_default", "BEGIN; ALTER TABLE %T DROP note; ALTER TABLE %T ADD note text DEFAULT 'all'; COMMIT", "", true},
	{"columns_swapped", "BEGIN; ALTER TABLE %T RENAME note TO x; ALTER TABLE %T RENAME illness TO note; ALTER TABLE %T RENAME x TO illness; COMMIT", "", true},
	{"other_takes_its_name", "BEGIN; ALTER TABLE %T RENAME age TO x; ALTER TABLE %T RENAME other TO age; COMMIT", "", true},
	{"there_and_back", "ALTER TABLE %T SET SCHEMA elsewhere; ALTER TABLE elsewhere.%T SET SCHEMA public", "", false},
	{"name_and_back", "ALTER TABLE %T RENAME TO %T_x; ALTER TABLE %T_x RENAME TO %T", "", false},
	{"column_and_back", "ALTER TABLE %T RENAME age TO x; ALTER TABLE %T RENAME x TO age", "", false},

	{"drop_age", "ALTER TABLE %T DROP age", "ALTER TABLE %T ADD age int DEFAULT 7", true},
	{"drop_note", "ALTER TABLE %T DROP note", "ALTER TABLE %T ADD note text", true},
	{"rename_illness", "ALTER TABLE %T RENAME illness TO disease", "ALTER TABLE %T RENAME disease TO illness", false},
	{"retype_age", "ALTER TABLE %T ALTER age TYPE bigint", "ALTER TABLE %T ALTER age TYPE int", false},
	{"retype_note", "ALTER TABLE %T ALTER note TYPE varchar(40)", "ALTER TABLE %T ALTER note TYPE text", false},
	{"renamed", "ALTER TABLE %T RENAME TO %T_x", "ALTER TABLE %T_x RENAME TO %T", false},
	{"moved", "ALTER TABLE %T SET SCHEMA elsewhere", "ALTER TABLE elsewhere.%T SET SCHEMA public", false},
	{"replaced", "ALTER TABLE %T RENAME TO %T_x; CREATE TABLE %T (LIKE %T_x INCLUDING ALL)", "GRANT SELECT ON %T TO PUBLIC; ALTER PUBLICATION kproxy DROP TABLE %T_x; ALTER PUBLICATION kproxy ADD TABLE %T", true},
	{"dropped", "DROP TABLE %T", "CREATE TABLE %T (id int PRIMARY KEY, age int, note text, illness text NOT NULL); GRANT SELECT ON %T TO PUBLIC; ALTER PUBLICATION kproxy ADD TABLE %T", true},
}

// inGroups runs a test for a few alterations at a time, all of which one database has: each
// of them has every table of its database looked at afresh.
func inGroups(t *testing.T, test func(t *testing.T, alterations []alteration)) {
	for group := range slices.Chunk(alterations, 7) {
		t.Run("from "+group[0].name, func(t *testing.T) {
			t.Parallel()
			test(t, group)
		})
	}
}

// alteredTables is a bench with a table for each alteration.
func alteredTables(t *testing.T, alterations []alteration) *bench {
	t.Helper()
	var cases []tableCase
	for _, a := range alterations {
		cases = append(cases, person(a.name).with("ALTER TABLE "+a.name+" ADD other int DEFAULT 5"))
	}
	b := tablesBench(t, cases...)
	b.script("CREATE SCHEMA elsewhere")
	for _, a := range alterations {
		b.fillPersons(16, a.name)
	}
	return b
}

func onTable(sql, table string) string { return strings.ReplaceAll(sql, "%T", table) }

// touch changes rows of a table by columns that it may have, or not at all.
func (b *bench) touch(table string) {
	for _, sql := range []string{
		"UPDATE %T SET age = age + 1 WHERE id % 3 = 0", "UPDATE %T SET note = note || '.' WHERE id % 5 = 0", "DELETE FROM %T WHERE id % 7 = 3",
		"INSERT INTO %T (id, age, illness) SELECT 1 + max(id), 30, 'more' FROM %T",
	} {
		_, _ = b.source.Exec(b.t.Context(), onTable(sql, table))
	}
}

// TestAlteredTables alters tables while kproxy applies. What the stream does not tell is
// found and made good, or halts the table until a reload.
func TestAlteredTables(t *testing.T) {
	t.Parallel()
	inGroups(t, testAlteredTables)
}

func testAlteredTables(t *testing.T, alterations []alteration) {
	b := alteredTables(t, alterations)
	s, _ := b.run()
	b.settled(s)
	var done []string
	for _, a := range alterations {
		t.Run(a.name, func(t *testing.T) {
			b := b.within(t)
			b.touch(a.name)
			b.script(onTable(a.change, a.name))
			b.touch(a.name)
			if a.undo == "" && !a.accept {
				b.healsWithFix(s, a.name)
			} else {
				status := b.halts(s, a.name)
				t.Logf("halted: %s (%s)", status.Problem, status.Fix)
				b.script(onTable(a.undo, a.name))
				b.touch(a.name)
			}
			if a.accept {
				b.accept(s, a.name)
			}
			await(t, a.name+" goes on", func() bool { return s.Status().Tables[publicTable(a.name)].State == Published })
			b.heals(s, a.name)
			b.touch(a.name)
			b.settled(s, a.name)
			done = append(done, a.name)
		})
	}
	b.settled(s, append(done, "beat")...)
}

// TestTablesAlteredWhileDown alters all tables while kproxy is down.
func TestTablesAlteredWhileDown(t *testing.T) {
	t.Parallel()
	inGroups(t, testTablesAlteredWhileDown)
}

func testTablesAlteredWhileDown(t *testing.T, alterations []alteration) {
	b := alteredTables(t, alterations)
	s, stop := b.run()
	b.settled(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	for _, a := range alterations {
		b.touch(a.name)
		b.script(onTable(a.change, a.name))
		b.touch(a.name)
	}
	s, _ = b.run()
	for _, a := range alterations {
		if a.undo != "" || a.accept {
			await(t, a.name+" is halted", func() bool { return s.Status().Tables[publicTable(a.name)].State == Halted })
		} else {
			b.heals(s, a.name)
		}
	}
	b.settled(s, "beat")
	for _, a := range alterations {
		if a.undo != "" {
			b.script(onTable(a.undo, a.name))
		}
	}
	for _, a := range alterations {
		if a.accept {
			b.accept(s, a.name)
		}
		await(t, a.name+" goes on", func() bool { return s.Status().Tables[publicTable(a.name)].State == Published })
	}
	b.heals(s)
	for _, a := range alterations {
		b.touch(a.name)
	}
	b.settled(s)
}

// TestTypesChange changes the types of columns without a word in the stream.
func TestTypesChange(t *testing.T) {
	t.Parallel()
	typed := func(name string) tableCase {
		return tableCase{
			name: name, ddl: "CREATE TABLE " + name + " (id int PRIMARY KEY, age int, mood mood, note ward, illness mood NOT NULL)",
			numeric: []string{"age"}, categorical: []string{"mood"}, sensitive: []string{"illness"}, insensitive: []string{"note"},
		}
	}
	first := person("first").with("CREATE TYPE mood AS ENUM ('a', 'b', 'c'); CREATE DOMAIN ward AS text CHECK (value <> '')")
	b := tablesBench(t, first, typed("renamed"), typed("added"), typed("loosened"), typed("tightened"))
	names := []string{"renamed", "added", "loosened", "tightened"}
	fill := func(from int, labels string) {
		for _, name := range names {
			b.script(onTable(strings.NewReplacer("%F", strconv.Itoa(from), "%L", labels).Replace(
				`INSERT INTO %T SELECT i, i % 40, (ARRAY[%L])[1 + i % 3]::mood, 'x' || i % 3, (ARRAY[%L])[1 + i / 3 % 3]::mood FROM generate_series(%F, %F + 19) i`), name))
		}
	}
	fill(0, "'a', 'b', 'c'")
	s, _ := b.run()
	b.settled(s)
	// Two labels of one value must not count as two for the diversity.
	b.script("ALTER TYPE mood RENAME VALUE 'c' TO 'z'")
	fill(1000, "'a', 'b', 'z'")
	for _, name := range names { // a label that is renamed may mean something else
		await(t, name+" is halted", func() bool { return s.Status().Tables[publicTable(name)].State == Halted })
		b.accept(s, name)
	}
	for _, name := range names {
		await(t, name+" is published afresh", func() bool {
			status := s.Status().Tables[publicTable(name)]
			return status.State == Published && !status.Preparing
		})
	}
	for _, name := range names {
		await(t, name+" shows the new label alone", func() (gone bool) {
			b.scan([]any{&gone}, "SELECT count(*) = 0 FROM "+viewOf(name)+" WHERE mood LIKE '%c%' OR illness::text = 'c'")
			return gone
		})
	}
	b.heals(s)
	b.script("ALTER TYPE mood ADD VALUE 'd' BEFORE 'a'")
	fill(2000, "'d', 'b', 'z'")
	b.heals(s)
	b.script("ALTER DOMAIN ward DROP CONSTRAINT ward_check")
	b.script("UPDATE loosened SET note = '' WHERE id % 3 = 0; UPDATE tightened SET note = 'bad' WHERE id % 3 = 0")
	b.heals(s)
	// Rows that are there already need not satisfy a constraint that was not validated.
	b.script("ALTER DOMAIN ward ADD CONSTRAINT good CHECK (value <> 'bad') NOT VALID")
	// The store has the domain as well, and cannot take such a row again.
	b.script("UPDATE tightened SET age = age + 1")
	b.halts(s, "tightened")
	b.script("ALTER DOMAIN ward DROP CONSTRAINT good")
	b.reload(s)
	b.heals(s)
}
