package sync

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// keyShapes are tables whose rows are found again in different ways: the columns of the
// key, what makes a key of the number i. %s are the columns that all tables have.
var keyShapes = []struct{ name, create, key string }{
	{"by_number", "CREATE TABLE by_number (k numeric PRIMARY KEY, %s)", "(i::text || substr('.00', 1, $2 % 4))::numeric"},
	{"by_text", "CREATE TABLE by_text (k text, k2 date, PRIMARY KEY (k, k2), %s)", "CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN ',' WHEN 2 THEN '\"' ELSE i::text END, date '0001-01-01 BC' + i"},
	{"by_char", "CREATE TABLE by_char (k char(9) PRIMARY KEY, %s)", "i::text"},
	{"by_identity", "CREATE TABLE by_identity (k bigint PRIMARY KEY, %s)", "i"},
	{"keyless", "CREATE TABLE keyless (k int, k2 text, %s); ALTER TABLE keyless REPLICA IDENTITY FULL", "nullif(i % 7, 3), (ARRAY[NULL, '', 'a'])[1 + i % 3]"},
	{"parted", "CREATE TABLE parted (k int, k2 int, PRIMARY KEY (k, k2), %s) PARTITION BY LIST (k2); CREATE TABLE p0 PARTITION OF parted FOR VALUES IN (0); " +
		"CREATE TABLE p1 PARTITION OF parted DEFAULT PARTITION BY RANGE (k); CREATE TABLE p2 PARTITION OF p1 DEFAULT", "i, i % 3"},
}

const shapeColumns = "age int, born timestamp, weight numeric, note text, illness text"

// shapeValues are the further columns of the row i; $2 makes them differ from time to
// time.
const shapeValues = `(i * 13 + $2 / 2) % 90, CASE i % 9 WHEN 0 THEN 'infinity' WHEN 1 THEN NULL ELSE timestamp '1950-01-01' + i * interval '1 day' END,
	CASE i % 4 WHEN 0 THEN 'NaN' ELSE (70 + i % 20)::numeric END, repeat(md5(i::text), CASE i % 10 WHEN 0 THEN 400 + $2 ELSE i % 2 END),
	(ARRAY['flu', 'gout', '', NULL])[1 + i % 4]`

// newShapes makes the tables of keyShapes, under the mode of updates.
func newShapes(t *testing.T, mode catalog.UpdateMode) *bench {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	var policy catalog.Policy
	for _, shape := range keyShapes {
		b.script(fmt.Sprintf(shape.create, shapeColumns))
		p := catalog.TablePolicy{
			Table: catalog.Name{Schema: "public", Relation: shape.name}, Method: "rounded-partition",
			Constraints: []privacy.Spec{{Model: privacy.K, K: testK}}, Updates: catalog.Updates{Mode: mode},
		}
		for name, kind := range map[string]hierarchy.Kind{"age": hierarchy.Numeric, "born": hierarchy.Date} {
			p.Columns = append(p.Columns, catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}})
		}
		for _, name := range []string{"weight", "note", "illness"} {
			p.Columns = append(p.Columns, catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive})
		}
		policy.Tables = append(policy.Tables, p)
	}
	b.provide(server, policy)
	b.config.ranges = readingPlan{blocks: 3, connections: 2}
	return b
}

// scramble changes the tables at random: rows come, go and change, keys as well.
func (b *bench) scramble(r *rand.Rand, rows int) {
	b.t.Helper()
	for _, shape := range keyShapes {
		insert := "INSERT INTO " + shape.name + " SELECT " + shape.key + ", " + shapeValues + " FROM generate_series($1::int, $1 + $3::int) i WHERE $2::int >= 0 ON CONFLICT DO NOTHING"
		from := r.IntN(rows)
		switch r.IntN(5) {
		case 0:
			b.exec("DELETE FROM " + shape.name)
		case 1:
			b.exec("TRUNCATE " + shape.name)
		default:
			b.exec("DELETE FROM "+shape.name+" WHERE hashtext(k::text) % 5 = $1", r.IntN(5))
			b.exec("UPDATE "+shape.name+" SET age = age + 1 WHERE hashtext(k::text) % 7 = $1", r.IntN(5))
			b.exec("UPDATE "+shape.name+" SET weight = weight + 0.0, note = NULL WHERE hashtext(k::text) % 9 = $1", r.IntN(9))
		}
		b.exec(insert, from, r.IntN(50), r.IntN(rows))
	}
}

// TestResynchronizedStoreIsTheSource has source and store part at random, while no slot
// tells of it, and compares them.
func TestResynchronizedStoreIsTheSource(t *testing.T) {
	t.Parallel()
	for _, mode := range []catalog.UpdateMode{catalog.Immediate, catalog.Guarded} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s/seed=%d", mode, seed), func(t *testing.T) {
				t.Parallel()
				const rows = 300
				r := rand.New(rand.NewPCG(seed, 7))
				b := newShapes(t, mode)
				b.scramble(r, rows)
				for round := range 4 {
					s, stop := b.run()
					await(t, "the tables are as their sources", func() bool {
						for _, status := range s.Status().Tables {
							if status.Preparing || status.State != Published {
								return false
							}
						}
						return true
					})
					b.checkStore(s)
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					b.ownerGone()
					for range 1 + round {
						b.scramble(r, rows)
					}
					b.exec("SELECT pg_drop_replication_slot($1)", b.config.Slot)
				}
			})
		}
	}
}

// TestOtherTableIsPublishedAfresh lets most rows of a large table change while no slot
// tells of it: a table of that many differences is rather made anew.
func TestOtherTableIsPublishedAfresh(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(2 * minDifferences)
	for _, c := range []struct {
		modulus int
		afresh  bool
	}{{3, false}, {1, true}} {
		_, stop := b.run()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.ownerGone()
		before := b.generationOf("people")
		b.exec("UPDATE people SET age = age + 1 WHERE id % $1 = 0", c.modulus)
		b.exec("SELECT pg_drop_replication_slot($1)", b.config.Slot)
		s, stop := b.run()
		await(t, "people is published", func() bool { return !s.Status().Tables[b.config.Tables[0].Policy.Table].Preparing })
		b.caughtUp(s)
		b.checkStore(s)
		if afresh := b.generationOf("people") != before; afresh != c.afresh {
			t.Errorf("every row of %d differs: published afresh %t, want %t", c.modulus, afresh, c.afresh)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.ownerGone()
	}
}
