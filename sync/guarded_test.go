package sync

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

func guardedVisits(name, method, subject string, u catalog.Updates, constraints ...privacy.Spec) catalog.TablePolicy {
	p := visitsPolicy(name, method, subject, constraints...)
	u.Mode = catalog.Guarded
	p.Updates, p.Suppression = u, 0
	return p
}

func guardedTables() map[string]catalog.TablePolicy {
	tables := map[string]catalog.TablePolicy{}
	add := func(name, method, subject string, u catalog.Updates, constraints ...privacy.Spec) {
		tables[name] = guardedVisits(name, method, subject, u, constraints...)
	}
	add("guarded_k", "rounded-partition", "", catalog.Updates{Crowd: 2}, ofSize)
	add("guarded_l", "mondrian-strict", "", catalog.Updates{Crowd: 3}, append([]privacy.Spec{ofSize}, models["distinct"]...)...)
	add("guarded_alpha", "rounded-partition", "", catalog.Updates{Crowd: 1, Within: 300 * time.Millisecond}, append([]privacy.Spec{ofSize}, models["alpha"]...)...)
	add("guarded_persons", "rounded-partition", "person", catalog.Updates{Crowd: 2}, append([]privacy.Spec{ofSize}, models["alpha"]...)...)
	add("guarded_parts", "rounded-partition", "", catalog.Updates{Crowd: 2}, homes, persons)
	add("guarded_levels", "datafly", "", catalog.Updates{Crowd: 1, Deadline: time.Second}, ofSize)
	return tables
}

// shown is a published row as the owner sees it.
type shown struct {
	class  int64
	person int64
	values string
}

func (b *bench) shownRows(table string) map[int64]shown {
	b.t.Helper()
	rows, err := b.source.Query(b.t.Context(), fmt.Sprintf(
		"SELECT kproxy_row, kproxy_class, kproxy_person, to_jsonb(l)::text FROM kproxy_store.%s l", b.releaseOf(table)))
	if err != nil {
		b.t.Fatal(err)
	}
	found := map[int64]shown{}
	var id int64
	var s shown
	if _, err := pgx.ForEachRow(rows, []any{&id, &s.class, &s.person, &s.values}, func() error {
		found[id] = s
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
	return found
}

// compareVersions checks what a reader who fetched both may see: rows that stay are what
// they were, classes gain none, and of a class none, all, or those of k persons vanish.
func (b *bench) compareVersions(table string, k int, before, after map[int64]shown) {
	b.t.Helper()
	classes := map[int64]bool{}
	for _, s := range before {
		classes[s.class] = true
	}
	for id, now := range after {
		was, old := before[id]
		if old && (was.class != now.class || was.person != now.person || was.values != now.values) {
			b.t.Errorf("%s: row %d is not what it was", table, id)
		}
		if !old && classes[now.class] {
			b.t.Errorf("%s: class %d has gained a row", table, now.class)
		}
	}
	gone, left := map[int64]map[int64]bool{}, map[int64]int{}
	for id, was := range before {
		if _, stays := after[id]; stays {
			left[was.class]++
			continue
		}
		if gone[was.class] == nil {
			gone[was.class] = map[int64]bool{}
		}
		gone[was.class][was.person] = true
	}
	for class, persons := range gone {
		if len(persons) < k || left[class] > 0 && left[class] < k {
			b.t.Errorf("%s: of class %d the rows of %d persons vanished and %d rows stay", table, class, len(persons), left[class])
		}
	}
}

// TestGuardedLive changes guarded tables, restarts, and compares every version with the
// one before.
func TestGuardedLive(t *testing.T) {
	t.Parallel()
	tables := guardedTables()
	b := newLiveBench(t, tables, 160)
	if len(b.config.Tables) != len(tables) {
		t.Fatalf("%d of %d tables can be published", len(b.config.Tables), len(tables))
	}
	r := rand.New(rand.NewPCG(7, 0))
	s, stop := b.run()
	b.checkStore(s)
	versions := map[string]map[int64]shown{}
	for _, p := range b.config.Tables {
		name := p.Relation.Name.Relation
		versions[name] = b.shownRows(name)
		if len(versions[name]) == 0 {
			t.Errorf("%s: nothing is published", name)
		}
	}
	vanished, appeared := 0, 0
	for round := range 12 {
		for _, p := range b.config.Tables {
			name := p.Relation.Name.Relation
			b.revisit(r, name, 1+r.IntN(30))
			if round == 7 {
				b.exec(fmt.Sprintf("UPDATE %s SET cost = cost + 100", name))
			}
			if round == 9 {
				b.exec(fmt.Sprintf("DELETE FROM %s WHERE id %% 2 = 0", name))
			}
		}
		if round%4 == 2 {
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = b.run()
		}
		b.caughtUp(s)
		for _, p := range b.config.Tables {
			name := p.Relation.Name.Relation
			now := b.shownRows(name)
			b.compareVersions(name, ofSize.K, versions[name], now)
			for id := range versions[name] {
				if _, stays := now[id]; !stays {
					vanished++
				}
			}
			appeared += max(0, len(now)-len(versions[name]))
			versions[name] = now
		}
		b.checkStore(s)
	}
	if vanished == 0 || appeared == 0 {
		t.Errorf("%d rows vanished and %d appeared: nothing was compared", vanished, appeared)
	}
}

// TestGuardedWaits publishes newcomers by number, by the clock, or not at all.
func TestGuardedWaits(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, map[string]catalog.TablePolicy{
		"by_number": guardedVisits("by_number", "rounded-partition", "", catalog.Updates{Crowd: 1, Batch: 20}, ofSize),
		"by_clock":  guardedVisits("by_clock", "rounded-partition", "", catalog.Updates{Crowd: 1, Batch: 1000, Within: 400 * time.Millisecond}, ofSize),
		"in_vain":   guardedVisits("in_vain", "rounded-partition", "", catalog.Updates{Crowd: 1, Batch: 1000, Deadline: 200 * time.Millisecond}, ofSize),
	}, 50)
	s, stop := b.run()
	status := func(table string) TableStatus {
		return s.Status().Tables[catalog.Name{Schema: "public", Relation: table}]
	}
	await := func(what string, done func() bool) {
		t.Helper()
		for start := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
			if time.Since(start) > patience {
				t.Fatalf("%s: %+v", what, s.Status().Tables)
			}
		}
	}
	add := func(table string, from, to int) {
		b.exec(fmt.Sprintf("INSERT INTO %s SELECT %s FROM generate_series(%d, %d) i", table, visit("i"), from, to))
	}
	add("by_number", 100, 118)
	b.caughtUp(s)
	if got := status("by_number"); got.Waiting != 19 || got.Classes == 0 || got.OldestWaiting.IsZero() {
		t.Fatalf("19 records should wait: %+v", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	await("it does not apply", func() bool { return s.Status().State == Streaming })
	if got := status("by_number"); got.Waiting != 19 {
		t.Fatalf("19 records should wait after a restart: %+v", got)
	}
	add("by_number", 119, 119)
	await("by number", func() bool { return status("by_number").Waiting == 0 })
	add("by_clock", 100, 105)
	await("by the clock", func() bool { return len(b.shownRows("by_clock")) == 56 })
	add("in_vain", 100, 105)
	await("in vain", func() bool { return status("in_vain").Expired == 6 })
	if rows := b.shownRows("in_vain"); len(rows) != 50 {
		t.Errorf("%d rows are published, 50 expected", len(rows))
	}
	b.checkStore(s)
}

// TestGuardedErasure deletes a record: the private store forgets it at once, and its row
// stays without anything that leads to it.
func TestGuardedErasure(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, map[string]catalog.TablePolicy{"visits": guardedVisits("visits", "rounded-partition", "person", catalog.Updates{Crowd: 2}, ofSize)}, 60)
	s, _ := b.run()
	b.exec("DELETE FROM visits WHERE id IN (7, 8)")
	b.caughtUp(s)
	var left, rows, orphans int
	records := strings.Replace(b.releaseOf("visits"), "release", "records", 1)
	b.scan([]any{&left}, "SELECT count(*) FROM kproxy_store."+records+" WHERE id IN (7, 8)")
	b.scan([]any{&rows, &orphans}, fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM kproxy_store.%s r WHERE r.kproxy_row = l.kproxy_row)) FROM kproxy_store.%s l",
		records, b.releaseOf("visits")))
	if left != 0 || rows != 60 || orphans != 2 {
		t.Errorf("%d records are kept, %d rows published, %d of nobody", left, rows, orphans)
	}
	if got := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}]; got.Ghosts != 2 || got.Records != 58 {
		t.Errorf("status %+v", got)
	}
	b.exec("TRUNCATE visits")
	b.caughtUp(s)
	if rows := b.shownRows("visits"); len(rows) != 0 {
		t.Errorf("%d rows are published of an empty table", len(rows))
	}
	b.checkStore(s)
}

// TestGuardedLineageIsKept wants a word of the operator before classes are made afresh,
// and none where only the times of publication are others.
func TestGuardedLineageIsKept(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, map[string]catalog.TablePolicy{"visits": guardedVisits("visits", "rounded-partition", "", catalog.Updates{Crowd: 2}, ofSize)}, 60)
	_, stop := b.run()
	before := b.shownRows("visits")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.config.Tables[0].Policy.Updates.Crowd, b.config.Tables[0].Policy.Updates.Within = 1, time.Hour
	_, stop = b.run()
	if after := b.shownRows("visits"); len(after) != len(before) {
		t.Errorf("%d rows became %d", len(before), len(after))
	}
	b.compareVersions("visits", ofSize.K, before, b.shownRows("visits"))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	kept := b.config.Tables[0].Policy
	b.config.Tables[0].Policy.Updates = catalog.Updates{Mode: catalog.Immediate}
	s, stop := b.run()
	status := s.Status().Tables[kept.Table]
	if status.State != Halted || !strings.Contains(status.Fix, "kproxy rebuild") {
		t.Fatalf("publishing afresh was not refused: %+v", status)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	// Taken back, the lineage goes on; else the operator accepts a new one.
	b.config.Tables[0].Policy = kept
	generation := b.generationOf(kept.Table.Relation)
	s, stop = b.run()
	await(t, "the table is published", func() bool { return s.Status().Tables[kept.Table].State == Published })
	b.checkStore(s)
	if after := b.generationOf(kept.Table.Relation); after != generation {
		t.Errorf("generation %d became %d", generation, after)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{kept.Table}); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	await(t, "the table is published afresh", func() bool { return b.generationOf(kept.Table.Relation) > generation })
	b.checkStore(s)
}

// TestGuardedTexts: four people move, and the cost of one is written with decimals. SQL
// calls it equal, but whoever compares the rows would see it: the four are not published
// together.
func TestGuardedTexts(t *testing.T) {
	t.Parallel()
	diverse := privacy.Spec{Model: privacy.DistinctL, Of: "cost", L: 2}
	b := newLiveBench(t, map[string]catalog.TablePolicy{"visits": guardedVisits("visits", "rounded-partition", "", catalog.Updates{Crowd: 8}, ofSize, diverse)}, 0)
	b.exec("INSERT INTO visits SELECT i, 'p', 50, '10000', 'f', 'job', 'flu' || i, i FROM generate_series(1, 24) i")
	s, _ := b.run()
	before := b.shownRows("visits")
	b.exec("UPDATE visits SET age = 60 WHERE id IN (1, 2)")
	b.exec("UPDATE visits SET age = 61, cost = '4.00' WHERE id = 4")
	b.caughtUp(s)
	b.compareVersions("visits", ofSize.K, before, b.shownRows("visits"))
	if after := b.shownRows("visits"); len(before) != 24 || len(after) != 24 {
		t.Fatalf("%d rows became %d", len(before), len(after))
	}
	for id := range before {
		if _, stays := b.shownRows("visits")[id]; !stays {
			t.Fatal("somebody whose cost was written anew is published with others")
		}
	}
	b.exec("UPDATE visits SET age = 60 WHERE id = 3")
	b.caughtUp(s)
	if got := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}]; got.Stale != 1 {
		t.Errorf("three people who moved should be published: %+v", got)
	}
	b.checkStore(s)
}

// TestGuardedReasons tells the operator why nothing is published: too few wait, or what
// waited violates the constraints together.
func TestGuardedReasons(t *testing.T) {
	t.Parallel()
	diverse := privacy.Spec{Model: privacy.DistinctL, Of: "illness", L: 2}
	b := newLiveBench(t, map[string]catalog.TablePolicy{
		"few":   guardedVisits("few", "rounded-partition", "", catalog.Updates{Crowd: 2}, ofSize, diverse),
		"alike": guardedVisits("alike", "rounded-partition", "", catalog.Updates{Crowd: 2}, ofSize, diverse),
	}, 12)
	b.exec("INSERT INTO alike SELECT " + visit("i") + " FROM generate_series(100, 120) i")
	b.exec("UPDATE alike SET illness = 'flu'")
	s, stop := b.run()
	for range 2 {
		// After a restart, the lock of the session that has ended can still be held.
		await(t, "it applies changes", func() bool { return s.Status().State == Streaming })
		for table, want := range map[string]string{
			"few":   "12 records wait for others: batches are of 20 records at least",
			"alike": "33 records are withheld for good: they waited until the deadline, or violated the constraints together",
		} {
			got := s.Status().Tables[catalog.Name{Schema: "public", Relation: table}]
			if got.Reason != want || got.Withheld != got.Records || len(b.shownRows(table)) > 0 {
				t.Errorf("%s: %+v", table, got)
			}
		}
		b.checkStore(s)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = b.run()
	}
}
