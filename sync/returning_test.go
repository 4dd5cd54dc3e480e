package sync

import (
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// departedOf is how many hashes of records that have left a table's store has.
func (b *bench) departedOf(table string) (n int) {
	b.t.Helper()
	b.scan([]any{&n}, "SELECT count(*) FROM kproxy_store.departed JOIN kproxy_store.generation USING (generation) WHERE table_name = $1", table)
	return n
}

// inOthersRows counts the records whose rows show another one's illness.
func (b *bench) inOthersRows(table string) (n int) {
	b.t.Helper()
	release := "kproxy_store." + b.releaseOf(table)
	b.scan([]any{&n}, fmt.Sprintf(`SELECT count(*) FROM %s r JOIN %s l USING (kproxy_row) JOIN saved_%s s ON s.id = r.id
		WHERE r.kproxy_changed IS NOT NULL AND l.illness IS DISTINCT FROM s.illness`, strings.Replace(release, "release", "records", 1), release, table))
	return n
}

// returningTables are guarded tables, of records and of persons.
func returningTables() map[string]catalog.TablePolicy {
	return map[string]catalog.TablePolicy{
		"visits":          guardedVisits("visits", "rounded-partition", "", catalog.Updates{Crowd: 2}, ofSize),
		"guarded_persons": guardedVisits("guarded_persons", "rounded-partition", "person", catalog.Updates{Crowd: 2}, ofSize),
	}
}

// TestReturning: who comes back in a later transaction takes his row back, as he was or
// changed, before and after a restart; of whom a row is gone nothing is known any more.
func TestReturning(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, returningTables(), 80)
	s, stop := b.run()
	restart := func() {
		t.Helper()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = b.run()
	}
	tables := []string{"visits", "guarded_persons"}
	want := func(table string, at string, ghosts, stale, returned, departed int) {
		t.Helper()
		f := s.Status().Tables[publicTable(table)]
		if n := b.departedOf(table); f.Ghosts != ghosts || f.Stale != stale || f.Waiting != 0 || f.Returned != returned || n != departed {
			t.Errorf("%s, %s: %d ghosts, %d stale, %d wait, %d have come back, %d hashes; %d, %d, 0, %d and %d expected",
				table, at, f.Ghosts, f.Stale, f.Waiting, f.Returned, n, ghosts, stale, returned, departed)
		}
	}
	for _, table := range tables {
		b.exec("CREATE TABLE saved_" + table + " AS SELECT * FROM " + table)
	}
	before := map[string]map[int64]shown{}
	unchanged := func(at string) {
		t.Helper()
		for _, table := range tables {
			if now := b.shownRows(table); !maps.Equal(now, before[table]) {
				t.Errorf("%s, %s: the release has changed", table, at)
			}
		}
	}
	for _, table := range tables {
		before[table] = b.shownRows(table)
		b.exec(fmt.Sprintf("DELETE FROM %s WHERE id <= 4", table))
	}
	b.caughtUp(s)
	unchanged("four have left")
	for i, table := range tables {
		want(table, "four have left", 4, 0, 0, 4)
		b.exec(fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM saved_%[1]s WHERE id = 1", table))
		b.caughtUp(s)
		want(table, "one is back", 3, 1, 1, 3)
		if i == 0 {
			b.exec(fmt.Sprintf("DELETE FROM %s WHERE id = 1", table)) // again
			b.caughtUp(s)
			want(table, "he has left again", 4, 0, 1, 4)
			b.exec(fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM saved_%[1]s WHERE id = 1", table))
			b.caughtUp(s)
			want(table, "he is back again", 3, 1, 2, 3)
		}
	}
	restart()
	for i, table := range tables {
		want(table, "after a restart", 3, 1, 2-i, 3)
		b.exec(fmt.Sprintf("UPDATE saved_%[1]s SET cost = cost + 1000 WHERE id = 2; UPDATE saved_%[1]s SET age = age + 1 WHERE id = 3; INSERT INTO %[1]s SELECT * FROM saved_%[1]s WHERE id BETWEEN 2 AND 4", table))
		b.caughtUp(s)
		want(table, "all are back", 0, 4, 5-i, 0)
	}
	unchanged("all are back")
	b.checkStore(s)

	// Each takes his own row: what he shows of the copied column is what he had.
	for _, table := range tables {
		if wrong := b.inOthersRows(table); wrong != 0 {
			t.Errorf("%s: %d have taken another one's row", table, wrong)
		}
	}
	for _, table := range tables {
		b.exec("DELETE FROM " + table)
		b.caughtUp(s)
		if n := b.departedOf(table); n != 0 || len(b.shownRows(table)) != 0 {
			t.Errorf("%s: %d hashes are kept of rows that are gone", table, n)
		}
	}
	restart()
	b.exec("INSERT INTO visits SELECT * FROM saved_visits")
	b.caughtUp(s)
	if got := s.Status().Tables[publicTable("visits")]; got.Returned != 5 || got.Classes == 0 {
		t.Errorf("status %+v", got)
	}
	b.checkStore(s)
}

// TestReturningOnce tries keys that several records have had, persons with several rows, and a
// store whose hashes lead nowhere.
func TestReturningOnce(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, returningTables(), 80)
	b.exec("UPDATE guarded_persons SET person = 'one' WHERE id IN (1, 70)")
	s, stop := b.run()
	rowOf := func(table string, id int) (row int64) {
		t.Helper()
		b.scan([]any{&row}, "SELECT coalesce(max(kproxy_row), 0) FROM kproxy_store."+strings.Replace(b.releaseOf(table), "release", "records", 1)+" WHERE id = $1", id)
		return row
	}
	do := func(statements ...string) {
		t.Helper()
		for _, sql := range statements {
			b.exec(sql)
			b.caughtUp(s)
		}
	}
	do("CREATE TABLE saved AS SELECT * FROM visits", "CREATE TABLE saved_persons AS SELECT * FROM guarded_persons")

	row := rowOf("visits", 60)
	do("DELETE FROM visits WHERE id = 2", "UPDATE visits SET id = 2 WHERE id = 60", "DELETE FROM visits WHERE id = 2",
		"INSERT INTO visits SELECT * FROM saved WHERE id = 2")
	if got := rowOf("visits", 2); got != row {
		t.Errorf("who left last with key 2 had row %d, and has come back to row %d", row, got)
	}

	first, second := rowOf("guarded_persons", 1), rowOf("guarded_persons", 70)
	do("DELETE FROM guarded_persons WHERE id = 70")
	b.script("BEGIN; DELETE FROM guarded_persons WHERE id = 1; INSERT INTO guarded_persons SELECT * FROM saved_persons WHERE id = 70; COMMIT")
	b.caughtUp(s)
	do("INSERT INTO guarded_persons SELECT * FROM saved_persons WHERE id = 1")
	if got := [2]int64{rowOf("guarded_persons", 1), rowOf("guarded_persons", 70)}; got != [2]int64{first, second} {
		t.Errorf("rows %d and %d have become %d", first, second, got)
	}

	do("DELETE FROM visits WHERE id IN (3, 4)")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.exec("UPDATE kproxy_store.departed SET row = row + 100000") // as where an earlier version has applied
	s, _ = b.run()
	do("INSERT INTO visits SELECT * FROM saved WHERE id IN (3, 4)", "DELETE FROM visits WHERE id = 5", "INSERT INTO visits SELECT * FROM saved WHERE id = 5")
	if f := s.Status().Tables[publicTable("visits")]; f.State != Published || f.Waiting != 2 {
		t.Errorf("status %+v", f)
	}
	b.checkStore(s)
}

// TestLastToLeaveIsRecognized: where the row of one who had the key before has vanished, the
// last one that left with it is known still.
func TestLastToLeaveIsRecognized(t *testing.T) {
	t.Parallel()
	var r returnTracker
	key := []byte("1:2")
	for ghost := range lineage.Ghost(2) {
		r.add(r.hashDeleted(key), lineage.Left{Ghost: ghost})
	}
	r.remove(0)
	if g, known := r.find(key); !known || g != 1 {
		t.Errorf("ghost %d, known: %t", g, known)
	}
	r.remove(1)
	if g, known := r.find(key); known {
		t.Errorf("ghost %d has vanished and is known", g)
	}
}

// BenchmarkDeparted is the memory that the hashes of a million records take which have left,
// and the time of one that leaves and of one that is looked for in vain.
func BenchmarkDeparted(b *testing.B) {
	const records = 1_000_000
	var r returnTracker
	leave := func(id incremental.RecordID) {
		r.add(r.hashDeleted(strconv.AppendInt(nil, int64(id), 10)), lineage.Left{Ghost: lineage.Ghost(id)})
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			r = returnTracker{}
			before := heap()
			for id := range incremental.RecordID(records) {
				leave(id)
			}
			b.ReportMetric(float64(heap()-before)/records, "bytes/record-at-once")
			r.written()
			b.ReportMetric(float64(heap()-before)/records, "bytes/record")
			for g := range lineage.Ghost(records) {
				r.remove(g)
			}
			r.written()
			b.ReportMetric(float64(heap()-before)/records, "bytes/record-gone")
		}
	})
	b.Run("leave", func(b *testing.B) {
		for b.Loop() {
			leave(0)
		}
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			r.find([]byte("nobody"))
		}
	})
}
