package sync

import (
	"fmt"
	"testing"

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
	plain := func(name string) catalog.ColumnPolicy { return catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive} }
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

// newLoggedBench has a server of its own, whose log has nothing but what is written.
func newLoggedBench(t *testing.T, of loggedTable, rows int) *bench {
	t.Helper()
	server, err := pgserver.Start(t.Context(), pgserver.Options{Settings: map[string]string{
		"full_page_writes": "off", "autovacuum": "off", "checkpoint_timeout": "30min", "max_wal_size": "8GB",
	}})
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

// logOf makes a change of each of some records, alone if a Syncer applies them, and returns the
// bytes of log for each.
func (b *bench) logOf(change string, from, changes int, s *Syncer) int {
	b.t.Helper()
	position := func() (at pglogrepl.LSN) {
		b.scan([]any{&at}, "SELECT pg_current_wal_insert_lsn()::text")
		return at
	}
	before := position()
	for i := range changes {
		at := position()
		b.exec(fmt.Sprintf(change, from+7*i))
		if s != nil {
			await(b.t, "the change is applied", func() bool { return s.Status().Position > at })
		}
	}
	return int(position()-before) / changes
}

// TestLogOfAChange counts the bytes of log that a change writes, alone, beside what it writes of
// the source: they do not grow with the class of the record.
func TestLogOfAChange(t *testing.T) {
	t.Parallel()
	const changes = 40
	for _, of := range loggedTables(catalog.Immediate) {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			b := newLoggedBench(t, of, 20_000)
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
