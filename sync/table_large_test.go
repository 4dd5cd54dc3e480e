package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// largeRows is more than a transaction may hold in memory, where that is spillFewer.
const (
	spillFewer = 400
	largeRows  = 5 * spillFewer
)

// TestLargeTransactions spills every kind of change of tables with both ways of updates:
// readers see all of a transaction at once, and an interrupted one is applied once.
func TestLargeTransactions(t *testing.T) {
	before, crowdBefore := spillRows, maxUnplaced
	spillRows, maxUnplaced = spillFewer, 2*spillFewer+1
	t.Cleanup(func() { spillRows, maxUnplaced = before, crowdBefore })
	guarded := person("guarded")
	guarded.guarded = true
	b := tablesBench(t, person("plain"), guarded)
	tables := []string{"plain", "guarded"}
	b.fillPersons(30, tables...)
	var spilled atomic.Int64
	var cut atomic.Bool // the connections, at the next spill
	other := b.connect()
	b.config.Failpoint = func(name string) {
		if name != FailSpilled {
			return
		}
		spilled.Add(1)
		if cut.CompareAndSwap(true, false) {
			if _, err := other.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", b.config.Owner.User); err != nil {
				t.Error(err)
			}
		}
	}
	s, stop := b.run()
	b.settled(s)
	insert := fmt.Sprintf("INSERT INTO %%T SELECT i, i %% 70, NULL, 'illness ' || i %% 5 FROM generate_series(1000, %d) i;", 1000+largeRows)
	for _, step := range []struct {
		name, sql string
		cut       bool
		rows      string // then, of both tables
	}{
		{"inserts", insert, false, fmt.Sprint(31 + largeRows)},
		{"updates", "UPDATE %T SET age = age + 1, note = 'x';", true, fmt.Sprint(31 + largeRows)},
		{"deletes", "DELETE FROM %T WHERE id >= 1000;", false, "30"},
		{"mixed on the same rows", insert + "UPDATE %T SET age = age + 2 WHERE id % 2 = 0; DELETE FROM %T WHERE id % 3 <> 0 AND id >= 1000; UPDATE %T SET id = id + 100000 WHERE id % 9 = 0 AND id >= 1000; " +
			"INSERT INTO %T SELECT i, 3, 'again', 'illness ' || i % 5 FROM generate_series(1000, 1100) i WHERE i % 3 <> 0;", true, ""},
		{"truncated after a spill", insert[:len(insert)-1] + " ON CONFLICT DO NOTHING; TRUNCATE %T; INSERT INTO %T SELECT i, i % 70, NULL, 'illness ' || i % 5 FROM generate_series(1, 40) i;", false, "40"},
		{"savepoints rolled back", insert + "SAVEPOINT s; UPDATE %T SET age = 0; ROLLBACK TO s; SAVEPOINT s; DELETE FROM %T WHERE id > 2000; RELEASE s; DELETE FROM %T WHERE id >= 900;", true, "40"},
	} {
		t.Run(step.name, func(t *testing.T) {
			b := b.within(t)
			before := spilled.Load()
			answers := b.answersOf(fmt.Sprintf("SELECT (SELECT count(*) FROM %s), (SELECT coalesce(sum(records), 0) FROM (SELECT count(*) AS records FROM %s) g)", viewOf("plain"), viewOf("plain")))
			cut.Store(step.cut)
			b.script("BEGIN; " + onTable(step.sql, "plain") + onTable(step.sql, "guarded") + "COMMIT")
			b.settled(s)
			if seen := answers(); len(seen) > 2 {
				t.Errorf("readers saw %v", seen)
			}
			if spilled.Load() == before {
				t.Error("nothing was spilled")
			}
			var rows []string
			for _, table := range tables {
				var n string
				b.scan([]any{&n}, "SELECT count(*)::text FROM "+table)
				rows = append(rows, n)
			}
			if step.rows != "" && !slices.Equal(rows, []string{step.rows, step.rows}) {
				t.Errorf("the source has %v rows", rows)
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		b := b.within(t)
		before := spilled.Load()
		b.script("BEGIN; " + onTable(insert, "plain") + onTable(insert, "guarded") + "COMMIT")
		await(t, "something is spilled", func() bool { return spilled.Load() > before })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, _ = b.run()
		b.settled(s)
	})
}

// TestLargeTransactionsOfParts has the parts of a table settled while a transaction goes on,
// several times, at moments when the records of one part wait and those of the other do not.
func TestLargeTransactionsOfParts(t *testing.T) {
	before, crowdBefore := spillRows, maxUnplaced
	spillRows, maxUnplaced = spillFewer/4, spillFewer/2
	t.Cleanup(func() { spillRows, maxUnplaced = before, crowdBefore })
	b := newLiveBench(t, map[string]catalog.TablePolicy{
		"parted":  visitsPolicy("parted", "rounded-partition", "", homes, persons),
		"diverse": visitsPolicy("diverse", "rounded-partition", "", homes, persons, over(models["distinct"][0], homes)),
	}, 60)
	var spilled atomic.Int64
	b.config.Failpoint = func(name string) {
		if name == FailSpilled {
			spilled.Add(1)
		}
	}
	s, stop := b.run()
	b.checkStore(s)
	large := func(from int) string {
		return onTable(fmt.Sprintf(`INSERT INTO %%T SELECT %s FROM generate_series(%d, %d) i;
			UPDATE %%T SET age = (age + 9) %% 80, job = 'job 9' WHERE id %% 3 = 0; DELETE FROM %%T WHERE id %% 7 = 0;`, visit("i"), from, from+largeRows), "parted") +
			onTable(fmt.Sprintf("INSERT INTO %%T SELECT %s FROM generate_series(%d, %d) i; DELETE FROM %%T WHERE id < %d;", visit("i"), from, from+largeRows, from/2), "diverse")
	}
	for _, from := range []int{1000, 1000 + 2*largeRows} {
		seen := spilled.Load()
		answers := b.answersOf("SELECT count(*) FROM " + viewOf("parted"))
		b.script("BEGIN; " + large(from) + "COMMIT")
		b.caughtUp(s)
		if versions := answers(); len(versions) > 2 {
			t.Errorf("readers saw %v", versions)
		}
		if n := spilled.Load() - seen; n < 2*largeRows/int64(spillRows) {
			t.Errorf("rows were spilled %d times", n)
		}
		b.checkStore(s)
		b.checkParts()
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	b.revisit(rand.New(rand.NewPCG(3, 0)), "parted", 20)
	b.caughtUp(s)
	b.checkStore(s)
	b.checkParts()
}
