package sync

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestPartitions does to the partitions of tables what PostgreSQL can.
func TestPartitions(t *testing.T) {
	t.Parallel()
	parted := func(name, more string) tableCase {
		c := person(name)
		c.ddl = onTable(`CREATE TABLE %T (id int, age int, note text, illness text NOT NULL, PRIMARY KEY (id)) PARTITION BY RANGE (id);
			CREATE TABLE %T_1 PARTITION OF %T FOR VALUES FROM (0) TO (100);
			CREATE TABLE %T_2 (gone int, illness text NOT NULL, note text, gone_too text, id int NOT NULL, age int);
			ALTER TABLE %T_2 DROP gone, DROP gone_too;
			ALTER TABLE %T ATTACH PARTITION %T_2 FOR VALUES FROM (100) TO (200);
			CREATE TABLE %T_3 PARTITION OF %T FOR VALUES FROM (200) TO (400) PARTITION BY LIST (id);
			CREATE TABLE %T_3_odd PARTITION OF %T_3 FOR VALUES IN (201, 203, 205, 207, 209, 211);
			CREATE TABLE %T_3_rest PARTITION OF %T_3 DEFAULT;
			CREATE TABLE %T_rest PARTITION OF %T DEFAULT;`+more, name)
		return c
	}
	guarded := parted("guarded", "")
	guarded.guarded = true
	keyless := parted("keyless", `ALTER TABLE %T DROP CONSTRAINT %T_pkey; ALTER TABLE %T REPLICA IDENTITY FULL; ALTER TABLE %T_1 REPLICA IDENTITY FULL; ALTER TABLE %T_2 REPLICA IDENTITY FULL;
		ALTER TABLE %T_3_odd REPLICA IDENTITY FULL; ALTER TABLE %T_3_rest REPLICA IDENTITY FULL; ALTER TABLE %T_rest REPLICA IDENTITY FULL`)
	b := tablesBench(t, parted("plain", ""), keyless, guarded)
	tables := []string{"plain", "keyless", "guarded"}
	each := func(sql string) {
		b.t.Helper()
		for _, table := range tables {
			b.script(onTable(sql, table))
		}
	}
	const rows = "INSERT INTO %T (id, age, note, illness) SELECT i, i % 60, repeat('n', 20), 'illness ' || i % 4 FROM generate_series"
	for _, from := range []string{"(10, 20)", "(110, 120)", "(201, 211)", "(500, 510)"} {
		each(rows + from + " i")
	}
	s, stop := b.run()
	b.settled(s)
	for _, step := range []struct{ name, sql string }{
		{"changes", "UPDATE %T SET age = age + 1 WHERE id % 3 = 0; DELETE FROM %T WHERE id % 10 = 7; INSERT INTO %T (id, age, illness) VALUES (50, 1, 'x'), (150, 2, 'y'), (250, 3, 'x'), (550, 4, 'y')"},
		{"rows move", "UPDATE %T SET id = id + 130 WHERE id BETWEEN 10 AND 14; UPDATE %T SET id = id - 480, age = 9 WHERE id > 505"},
		{"rows move and back", "BEGIN; UPDATE %T SET id = id + 1000 WHERE id = 16; UPDATE %T SET age = 44 WHERE id = 1016; UPDATE %T SET id = 16 WHERE id = 1016; COMMIT"},
		{"by the leaf's name", "UPDATE %T_2 SET note = 'leaf' WHERE id % 2 = 0; DELETE FROM %T_3_rest WHERE id % 4 = 0; INSERT INTO %T_1 (id, age, illness) VALUES (99, 1, 'z')"},
		{"new empty leaf", "CREATE TABLE %T_4 PARTITION OF %T FOR VALUES FROM (2000) TO (3000); ALTER TABLE %T_4 REPLICA IDENTITY FULL"},
		{"rows of the new leaf", "INSERT INTO %T (id, age, illness) SELECT i, i % 50, 'new ' || i % 3 FROM generate_series(2000, 2011) i; UPDATE %T SET age = 3 WHERE id = 2003"},
		{"new leaf in one transaction", "BEGIN; CREATE TABLE %T_5 PARTITION OF %T FOR VALUES FROM (3000) TO (4000); ALTER TABLE %T_5 REPLICA IDENTITY FULL; INSERT INTO %T (id, age, illness) SELECT i, i % 50, 'new ' || i % 3 FROM generate_series(3000, 3011) i; COMMIT; UPDATE %T SET age = 3 WHERE id > 3003"},
		{"truncated leaf", "TRUNCATE %T_5; INSERT INTO %T (id, age, illness) VALUES (3001, 5, 'x')"},
		{"truncated subtree", "TRUNCATE %T_3"},
		{"detached", "ALTER TABLE %T DETACH PARTITION %T_2; UPDATE %T_2 SET age = 0"},
		{"attached with rows", "UPDATE %T_2 SET note = 'while away'; DELETE FROM %T_2 WHERE id % 2 = 1; ALTER TABLE %T ATTACH PARTITION %T_2 FOR VALUES FROM (100) TO (200); UPDATE %T SET age = age + 2 WHERE id % 5 = 0"},
		{"dropped leaf", "DROP TABLE %T_4; UPDATE %T SET age = age + 1"},
		{"default split", `BEGIN; CREATE TABLE %T_6 (LIKE %T INCLUDING ALL); ALTER TABLE %T_6 REPLICA IDENTITY FULL; WITH gone AS (DELETE FROM %T_rest WHERE id < 510 RETURNING *) INSERT INTO %T_6 SELECT * FROM gone;
			ALTER TABLE %T ATTACH PARTITION %T_6 FOR VALUES FROM (400) TO (510); COMMIT; UPDATE %T SET note = 'split' WHERE id > 400`},
		{"leaves rewritten", "ALTER TABLE %T ALTER note TYPE text USING note || '!'; UPDATE %T SET age = age + 1 WHERE id < 100"},
		{"all truncated", "TRUNCATE %T; " + rows + "(1, 30) i; INSERT INTO %T (id, age, illness) SELECT i + 100, age, illness FROM %T, LATERAL (SELECT id) AS k(i) WHERE i < 20"},
	} {
		t.Run(step.name, func(t *testing.T) {
			b := b.within(t)
			each(step.sql)
			for _, table := range tables {
				b.healsWithFix(s, table)
			}
		})
	}
	t.Run("detached concurrently", func(t *testing.T) {
		if major := pgtest.Shared(t).Version().Major; major < 14 {
			t.Skipf("PostgreSQL %d detaches no partition concurrently, 14 was the first", major)
		}
		b := b.within(t)
		each("DROP TABLE %T_rest") // with a default partition there is none
		for _, table := range tables {
			b.exec(onTable("ALTER TABLE %T DETACH PARTITION %T_2 CONCURRENTLY", table))
		}
		b.heals(s)
	})
	t.Run("while kproxy is down", func(t *testing.T) {
		b := b.within(t)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		each("UPDATE %T SET age = age + 1; ALTER TABLE %T DETACH PARTITION %T_1; CREATE TABLE %T_7 PARTITION OF %T FOR VALUES FROM (7000) TO (8000); ALTER TABLE %T_7 REPLICA IDENTITY FULL; " + rows + "(7000, 7020) i")
		s, stop = b.run()
		b.heals(s)
	})
}

// TestTruncatedPartitionedTable has readers see a partitioned table empty at once.
func TestTruncatedPartitionedTable(t *testing.T) {
	t.Parallel()
	c := person("parted")
	c.ddl = `CREATE TABLE parted (id int PRIMARY KEY, age int, note text, illness text NOT NULL) PARTITION BY RANGE (id);
		CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (11); CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (11) TO (100)`
	b := tablesBench(t, c)
	b.fillPersons(20, "parted")
	s, _ := b.run()
	b.settled(s)
	done := b.answersOf("SELECT count(*) FROM " + viewOf("parted"))
	b.script("TRUNCATE parted")
	b.heals(s)
	var seen []string
	for _, answer := range done() {
		seen = append(seen, fmt.Sprint(answer))
	}
	if !slices.Equal(seen, []string{"[20]", "[0]"}) {
		t.Errorf("readers saw %v", seen)
	}
}
