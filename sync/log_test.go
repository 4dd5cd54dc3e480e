package sync

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// loggedTable is a table whose changes are measured by the log that they write.
type loggedTable struct {
	name    string
	setup   string // makes the table, with %d rows
	policy  catalog.TablePolicy
	changes []loggedChange // of rows that no change before is of
}

// loggedChange is a change that is made again and again; %d is another record each time.
type loggedChange struct {
	name, sql string
	most      int // bytes of log that store and release may write of it
}

func qi(name string, kind hierarchy.Kind) catalog.ColumnPolicy {
	return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
}

// loggedTables are a table of six quasi-identifiers in small classes, and one whose only
// quasi-identifier has three values.
func loggedTables(updates catalog.UpdateMode) []loggedTable {
	plain := func(name string) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive}
	}
	return []loggedTable{{
		name:  "ordinary",
		setup: applyTable + "; INSERT INTO people SELECT " + applyPerson + " FROM generate_series(1, %d) i",
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: updates}, Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
			Columns: []catalog.ColumnPolicy{
				qi("born", hierarchy.Date), qi("admitted", hierarchy.Date), qi("sex", hierarchy.Categorical), qi("zip", hierarchy.Prefix),
				qi("marital", hierarchy.Categorical), qi("job", hierarchy.Categorical), plain("ward"), plain("diagnosis"), plain("cost"),
			},
		},
		changes: []loggedChange{
			{"a published value", "UPDATE people SET cost = cost + 1 WHERE id = %d", 3000},
			{"a quasi-identifier", "UPDATE people SET admitted = admitted + 40 WHERE id = %d", 3000},
			{"a new row", "INSERT INTO people SELECT 1000000 + id, born, admitted, sex, zip, marital, job, ward, diagnosis, cost FROM people WHERE id = %d", 3000},
			{"a deletion", "DELETE FROM people WHERE id = %d", 3000},
		},
	}, {
		name: "three values",
		setup: `CREATE TABLE people (id bigint PRIMARY KEY, region text, ward text, diagnosis text, cost numeric(10,2));
			INSERT INTO people SELECT i, (ARRAY['north', 'south', 'west'])[1 + i %% 3], 'ward ' || i %% 13, 'I' || i %% 61, i %% 9973 FROM generate_series(1, %d) i`,
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: updates}, Subject: "id",
			Constraints: []privacy.Spec{{Model: privacy.K, K: 5}, {Model: privacy.DistinctL, L: 3, Of: "diagnosis"}},
			Columns: []catalog.ColumnPolicy{
				qi("region", hierarchy.Categorical), plain("ward"), {Name: "diagnosis", Role: catalog.Sensitive}, plain("cost"),
			},
		},
		changes: []loggedChange{
			{"a published value", "UPDATE people SET cost = cost + 1 WHERE id = %d", 8000},
			{"a quasi-identifier", "UPDATE people SET region = CASE region WHEN 'north' THEN 'west' ELSE 'north' END WHERE id = %d", 12000},
			{"a new row", "INSERT INTO people SELECT 1000000 + id, region, ward, diagnosis, cost FROM people WHERE id = %d", 8000},
			{"a deletion", "DELETE FROM people WHERE id = %d", 8000},
		},
	}}
}

// summedUp is the table of six quasi-identifiers with a stored summary, which each change writes as well.
func summedUp() loggedTable {
	of := loggedTables(catalog.Immediate)[0]
	of.name, of.policy.Summary = "ordinary, stored summary", catalog.SummaryStored
	for i := range of.changes {
		of.changes[i].most += 1000
	}
	return of
}

// inTwoParts is the table of six quasi-identifiers with constraints over three of them each.
func inTwoParts() loggedTable {
	of := loggedTables(catalog.Immediate)[0]
	of.name = "two parts"
	of.policy.Constraints = []privacy.Spec{
		{Model: privacy.K, K: 5, Over: []string{"born", "admitted", "sex"}}, {Model: privacy.K, K: 5, Over: []string{"zip", "marital", "job"}},
	}
	for i := range of.changes {
		of.changes[i].most = 45_000
	}
	return of
}

// newLoggedBench has a server of its own, whose log has nothing but what is written.
func newLoggedBench(t *testing.T, of loggedTable, rows int, settings map[string]string) *bench {
	t.Helper()
	server, err := pgserver.Start(t.Context(), pgserver.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	policy := of.policy
	policy.Table = catalog.Name{Schema: "public", Relation: "people"}
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.script(fmt.Sprintf(of.setup, rows))
	b.exec("VACUUM ANALYZE people")
	return b.provide(server, catalog.Policy{Tables: []catalog.TablePolicy{policy}})
}

// logPosition is how much log the server has written.
func (b *bench) logPosition() (at pglogrepl.LSN) {
	b.t.Helper()
	b.scan([]any{&at}, "SELECT pg_current_wal_insert_lsn()::text")
	return at
}

// logOf makes a change of each of some records, alone if a Syncer applies them, and returns the
// bytes of log for each.
func (b *bench) logOf(change string, from, changes int, s *Syncer) int {
	b.t.Helper()
	before := b.logPosition()
	for i := range changes {
		at := b.logPosition()
		b.exec(fmt.Sprintf(change, from+7*i))
		if s != nil {
			await(b.t, "the change is applied", func() bool { return s.Status().Position > at })
		}
	}
	return int(b.logPosition()-before) / changes
}

// TestLogOfAChange counts the bytes of log that a change writes, alone, beside what it writes of
// the source: they do not grow with the class of the record.
func TestLogOfAChange(t *testing.T) {
	t.Parallel()
	const changes = 40
	for _, of := range append(slices.Concat(loggedTables(catalog.Immediate), loggedTables(catalog.Guarded)), inTwoParts(), summedUp()) {
		t.Run(fmt.Sprintf("%s, %s", of.name, of.policy.Updates.Mode), func(t *testing.T) {
			t.Parallel()
			b := newLoggedBench(t, of, 20_000, map[string]string{"full_page_writes": "off", "autovacuum": "off", "checkpoint_timeout": "30min", "max_wal_size": "8GB"})
			s, stop := b.run()
			for i, change := range of.changes {
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				alone := b.logOf(change.sql, 5000*i+1, changes, nil)
				s, stop = b.run()
				await(t, "the stream is read", func() bool { return s.Status().State == Streaming })
				b.logOf(change.sql, 5000*i+3, 1, s) // what came before is applied with it
				written := b.logOf(change.sql, 5000*i+2, changes, s) - alone
				t.Logf("%s: %d bytes, and %d of the source", change.name, written, alone)
				if written > change.most {
					t.Errorf("%s has written %d bytes of log, %d are allowed", change.name, written, change.most)
				}
			}
			b.checkStore(s)
		})
	}
}

var growth = flag.Duration("growth", 5*time.Second, "how long TestGrowth changes each table")

// TestGrowth changes tables at 150 updates a second, each a transaction, of a quasi-identifier every
// fourth time, on a server that vacuums as PostgreSQL does unasked: the store grows by what pages
// had no room for, and is soon as large as it gets.
//
//	go test ./sync -run 'TestGrowth' -v -growth 20m -timeout 2h
func TestGrowth(t *testing.T) {
	t.Parallel()
	const rate = 150
	rows := 20_000
	if *growth >= time.Minute {
		rows = 150_000
	}
	for _, of := range loggedTables(catalog.Immediate) {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			b := newLoggedBench(t, of, rows, map[string]string{"autovacuum": "on", "full_page_writes": "on"})
			s, _ := b.run()
			first, log, changes := b.storeBytes(), b.logPosition(), 0
			for began := time.Now(); time.Since(began) < *growth; changes++ {
				time.Sleep(time.Until(began.Add(time.Duration(changes) * time.Second / rate)))
				change := of.changes[0]
				if changes%4 == 3 {
					change = of.changes[1]
				}
				b.exec(fmt.Sprintf(change.sql, 1+rand.IntN(rows)))
				if changes%(60*rate) == 60*rate-1 {
					t.Logf("after %.0f s, the store is %.2f times as large", time.Since(began).Seconds(), float64(b.storeBytes())/float64(first))
				}
			}
			b.logOf(of.changes[0].sql, 1, 1, s)
			log = b.logPosition() - log
			by := float64(b.storeBytes()) / float64(first)
			t.Logf("%d changes: the store is %.2f times as large as its first %d bytes; %d bytes of log a change, those of the source among them", changes, by, first, int(log)/changes)
			if by >= 2 {
				t.Errorf("the store is %.2f times as large as at first", by)
			}
			b.checkStore(s)
		})
	}
}

// storeBytes is the size of the store on disk.
func (b *bench) storeBytes() (bytes int64) {
	b.t.Helper()
	b.scan([]any{&bytes}, "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relkind = 'r'")
	return bytes
}
