package sync

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestPartitionsAreNoticed attaches partitions that the owner may not read by themselves,
// one with rows and one without, and detaches and attaches one again with other rows: the
// stream says nothing of all that.
func TestPartitionsAreNoticed(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.script(`CREATE TABLE visits (id int, age int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
		CREATE TABLE low PARTITION OF visits FOR VALUES FROM (0) TO (100);
		INSERT INTO visits SELECT i, i % 40 FROM generate_series(1, 50) i`)
	visits := catalog.Name{Schema: "public", Relation: "visits"}
	b.provide(server, catalog.Policy{Tables: []catalog.TablePolicy{{
		Table: visits, Method: "rounded-partition", Constraints: []privacy.Spec{{Model: privacy.K, K: testK}},
		Columns: []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}},
	}}})
	s, _ := b.run()
	for _, step := range []string{
		"CREATE TABLE high (LIKE visits INCLUDING ALL); INSERT INTO high SELECT i, i % 30 FROM generate_series(100, 120) i; " +
			"ALTER TABLE visits ATTACH PARTITION high FOR VALUES FROM (100) TO (200)",
		"CREATE TABLE empty PARTITION OF visits FOR VALUES FROM (200) TO (300)",
		"ALTER TABLE visits DETACH PARTITION high; DELETE FROM high WHERE id < 110; ALTER TABLE visits ATTACH PARTITION high FOR VALUES FROM (100) TO (200)",
		"TRUNCATE low",
	} {
		b.script(step)
		await(t, step, func() bool {
			var same bool
			sql := "SELECT (SELECT count(*) FROM visits) = (SELECT count(*) FROM " + storeTable("records", int64(b.generationOf("visits"))).SQL() + ")"
			if err := b.source.QueryRow(t.Context(), sql).Scan(&same); err != nil {
				t.Fatal(err)
			}
			return same && s.Status().Tables[visits].State == Published && !s.Status().Tables[visits].Preparing
		})
		b.checkStore(s)
	}
}
