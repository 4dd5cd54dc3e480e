package sync

import (
	"strings"
	"testing"
)

// TestUnchangedToast leaves long values out of the stream in columns of every role: what
// the store holds of them stays.
func TestUnchangedToast(t *testing.T) {
	t.Parallel()
	long := func(name, more string) tableCase {
		return tableCase{
			name: name,
			ddl: strings.ReplaceAll(`CREATE TABLE %T (id int, name text, age int, zip text, note text, illness text NOT NULL, person text, beside text, PRIMARY KEY (id, name));
				ALTER TABLE %T ALTER name SET STORAGE EXTERNAL, ALTER zip SET STORAGE EXTERNAL, ALTER note SET STORAGE EXTERNAL, ALTER illness SET STORAGE EXTERNAL, ALTER person SET STORAGE EXTERNAL;`+more, "%T", name),
			numeric: []string{"age"}, categorical: []string{"zip"}, sensitive: []string{"illness"}, insensitive: []string{"note", "beside"}, subject: "person",
		}
	}
	guarded := long("guarded", "")
	guarded.guarded = true
	whole := long("whole", "ALTER TABLE %T DROP CONSTRAINT %T_pkey, REPLICA IDENTITY FULL")
	tables := []string{"plain", "every", "whole", "guarded"}
	b := tablesBench(t, long("plain", ""), long("every", "ALTER TABLE %T REPLICA IDENTITY FULL"), whole, guarded)
	each := func(sql string) {
		b.t.Helper()
		for _, table := range tables {
			b.script(strings.ReplaceAll(sql, "%T", table))
		}
	}
	const rows = `SELECT i, i || repeat('k', 2300), i % 60, i % 3 || repeat('z', 9000), i || repeat('n', 9000), i % 4 || repeat('i', 9000), i % 7 || repeat('p', 9000), 'b' FROM generate_series(`
	each("INSERT INTO %T " + rows + "1, 24) i")
	s, stop := b.run()
	again := func() {
		t.Helper()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = b.run()
	}
	step := func(name, sql string) {
		t.Run(name, func(t *testing.T) {
			b := b.within(t)
			each(sql)
			b.settled(s)
		})
	}
	step("published", "SELECT")
	step("another column changes", "UPDATE %T SET beside = 'c' WHERE id % 2 = 0")
	again()
	step("after a restart", "UPDATE %T SET beside = 'd'; UPDATE %T SET age = age + 1 WHERE id % 3 = 0")
	step("after an insert in one transaction", "BEGIN; INSERT INTO %T "+rows+"101, 112) i; UPDATE %T SET beside = 'e', age = age + 1 WHERE id > 100; UPDATE %T SET zip = 'short' WHERE id > 108; COMMIT")
	step("short key beside", "UPDATE %T SET id = id + 1000 WHERE id % 4 = 1")
	step("long key", "UPDATE %T SET name = 'x' || name WHERE id % 4 = 2")
	again()
	step("long and short key", "UPDATE %T SET name = 'y' || name, id = id + 2000 WHERE id % 4 = 3; UPDATE %T SET beside = 'f'")
	step("one long value each", `UPDATE %T SET zip = '1' || zip WHERE id % 5 = 0; UPDATE %T SET note = '1' || note WHERE id % 5 = 1; UPDATE %T SET illness = '1' || illness WHERE id % 5 = 2;
		UPDATE %T SET person = '1' || person WHERE id % 5 = 3; UPDATE %T SET illness = illness || '2', note = note || '2' WHERE id % 5 = 4`)
	step("several times in one transaction", "BEGIN; UPDATE %T SET beside = 'g'; UPDATE %T SET note = 'h' || note WHERE id % 2 = 1; UPDATE %T SET beside = 'i'; UPDATE %T SET note = NULL WHERE id % 6 = 1; UPDATE %T SET age = 30; COMMIT")
	step("deleted and the same again", "BEGIN; CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM %T WHERE id % 2 = 0; DELETE FROM %T WHERE id % 2 = 0; INSERT INTO %T SELECT * FROM kept; UPDATE %T SET beside = 'j'; COMMIT")
	again()
	step("deleted", "DELETE FROM %T WHERE id % 3 = 0; UPDATE %T SET beside = 'k'")
	step("spilled", "BEGIN; INSERT INTO %T SELECT i, 'k', 30, 'z', 'n', i % 4 || 'i', i % 7 || 'p', '' FROM generate_series(10000, 10200) i; UPDATE %T SET beside = 'l'; COMMIT")
}
