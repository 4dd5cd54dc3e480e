package sync

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestSectionsOnAServer has records of a few large classes come, go and change, some of them wide
// and some to be told by the stream in part, in one transaction and in many, with restarts in between, on one server
// and spread over some: each class has what its records show, in rows that no reader tells apart.
func TestSectionsOnAServer(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(b *bench){"one server": func(*bench) {}, "spread": func(b *bench) { b.spreads() }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCrowdBench(t)
			prepare(b)
			b.exec("INSERT INTO crowd SELECT i, (ARRAY['north', 'south', 'west'])[1 + i % 3], 'note ' || i, 'illness ' || i % 7 FROM generate_series(1, 240) i")
			s, stop := b.run()
			b.checkStore(s)
			r := rand.New(rand.NewPCG(7, 0))
			for round := range 12 {
				b.script(crowdChanges(r, round))
				b.caughtUp(s)
				b.checkStore(s)
				if round%4 == 3 {
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					b.script(crowdChanges(r, round))
					s, stop = b.run()
				}
			}
			var sections, classes int
			b.scan([]any{&sections, &classes}, "SELECT count(DISTINCT (kproxy_class, kproxy_section)), count(DISTINCT kproxy_class) FROM kproxy_store."+strings.Replace(b.releaseOf("crowd"), "release", "packed", 1))
			if sections < 2*classes {
				t.Errorf("%d classes have %d sections", classes, sections)
			}
		})
	}
}

func newCrowdBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	b.script("CREATE TABLE crowd (id int PRIMARY KEY, region text, note text, illness text)")
	return b.provide(pgtest.Shared(t), catalog.Policy{Tables: []catalog.TablePolicy{{
		Table: catalog.Name{Schema: "public", Relation: "crowd"}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Subject: "id",
		Constraints: []privacy.Spec{{Model: privacy.K, K: 3}, {Model: privacy.DistinctL, L: 2, Of: "illness"}},
		Columns: []catalog.ColumnPolicy{
			qi("region", hierarchy.Categorical), {Name: "note", Role: catalog.Insensitive}, {Name: "illness", Role: catalog.Sensitive},
		},
	}}})
}

// crowdChanges are some changes, every third time as one transaction.
func crowdChanges(r *rand.Rand, round int) string {
	var sql strings.Builder
	if round%3 == 0 {
		sql.WriteString("BEGIN;")
	}
	for range 1 + r.IntN(20) {
		id := 1 + r.IntN(260)
		switch r.IntN(8) {
		case 0, 1:
			fmt.Fprintf(&sql, "UPDATE crowd SET note = 'note %d' WHERE id = %d;", r.IntN(1000), id)
		case 2:
			fmt.Fprintf(&sql, "UPDATE crowd SET region = (ARRAY['north', 'south', 'west', 'east'])[%d] WHERE id BETWEEN %d AND %d;", 1+r.IntN(4), id, id+r.IntN(9))
		case 3:
			fmt.Fprintf(&sql, "DELETE FROM crowd WHERE id BETWEEN %d AND %d;", id, id+r.IntN(3))
		case 4, 5:
			fmt.Fprintf(&sql, "INSERT INTO crowd SELECT %d, 'north', 'new', 'illness %d' ON CONFLICT DO NOTHING;", id, r.IntN(7))
		case 6:
			fmt.Fprintf(&sql, "UPDATE crowd SET note = repeat('wide %d', %d) WHERE id = %d;", id, 100+r.IntN(4)*900, id)
		case 7:
			fmt.Fprintf(&sql, "UPDATE crowd SET illness = 'illness %d' WHERE id = %d;", r.IntN(7), id)
		}
	}
	if round%3 == 0 {
		sql.WriteString("COMMIT;")
	}
	return sql.String()
}
