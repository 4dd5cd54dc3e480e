package sync

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
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
		Table: visits, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{Model: privacy.K, K: testK}},
		Columns: []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}},
	}}})
	s, _ := b.run()
	inStep := func() bool {
		var same bool
		sql := "SELECT (SELECT count(*) FROM visits) = (SELECT count(*) FROM " + storeTable("records", int64(b.generationOf("visits"))).SQL() + ")"
		if err := b.source.QueryRow(t.Context(), sql).Scan(&same); err != nil {
			t.Fatal(err)
		}
		return same && s.Status().Tables[visits].State == Published && !s.Status().Tables[visits].Preparing
	}
	for _, step := range []string{
		"CREATE TABLE high (LIKE visits INCLUDING ALL); INSERT INTO high SELECT i, i % 30 FROM generate_series(100, 120) i; " +
			"ALTER TABLE visits ATTACH PARTITION high FOR VALUES FROM (100) TO (200)",
		"CREATE TABLE empty PARTITION OF visits FOR VALUES FROM (200) TO (300)",
		"ALTER TABLE visits DETACH PARTITION high; DELETE FROM high WHERE id < 110; ALTER TABLE visits ATTACH PARTITION high FOR VALUES FROM (100) TO (200)",
		"TRUNCATE low",
		"ALTER TABLE visits DETACH PARTITION high",
	} {
		b.script(step)
		await(t, step, inStep)
		b.checkStore(s)
	}
	// Of the partition that is detached it is known what its columns were.
	for _, step := range []struct {
		sql  string
		want TableState
		told string
	}{
		{"ALTER TABLE high RENAME age TO was; ALTER TABLE high RENAME id TO age; ALTER TABLE high RENAME was TO id", Published, ""},
		{"ALTER TABLE high DROP CONSTRAINT high_pkey; UPDATE high SET id = age; ALTER TABLE high ALTER id SET NOT NULL; ALTER TABLE visits ATTACH PARTITION high FOR VALUES FROM (100) TO (200)", Halted, "had its columns renamed or made anew while it was detached"},
		{"ALTER TABLE visits DETACH PARTITION high", Published, ""},
		{"DROP TABLE high", Published, ""},
	} {
		b.script(step.sql)
		await(t, step.sql, func() bool {
			is := s.Status().Tables[visits]
			return is.State == step.want && strings.Contains(is.Problem, step.told)
		})
	}
	b.checkStore(s)
}

// TestPartitionsChangeBehindASnapshot attaches and detaches a partition after a snapshot
// was taken: what is read then is not what the snapshot's catalogs tell.
func TestPartitionsChangeBehindASnapshot(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	b.script(`CREATE TABLE visits (id int, age int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
		CREATE TABLE low PARTITION OF visits FOR VALUES FROM (0) TO (100);
		CREATE TABLE high (LIKE visits INCLUDING ALL)`)
	visits := &table{layout: layout{publication: catalog.Publication{
		Policy:   catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "visits"}},
		Relation: catalog.Relation{OID: catalog.OID(scanned[uint32](b, "SELECT 'visits'::regclass::oid")), Kind: catalog.KindPartitionedTable},
	}}}
	reader := b.connect()
	for _, step := range []string{"ALTER TABLE visits ATTACH PARTITION high FOR VALUES FROM (100) TO (200)", "ALTER TABLE visits DETACH PARTITION high"} {
		look := func(meanwhile func()) error {
			tx, err := reader.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(t.Context()) //nolint:errcheck // it has only read
			if _, err := tx.Exec(t.Context(), "SELECT 1"); err != nil {
				t.Fatal(err)
			}
			meanwhile()
			return visits.layout.source().lock(t.Context(), tx)
		}
		if err := look(func() { b.script(step) }); !errors.Is(err, errRewritten) {
			t.Errorf("%s behind a snapshot: %v", step, err)
		}
		if err := look(func() {}); err != nil {
			t.Errorf("after %s: %v", step, err)
		}
	}
}
