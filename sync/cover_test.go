package sync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestChangedClassIsAmongOthers looks at the rows that a change has written, which lie where a
// scan shows rows that were written of late: they must be of the changed class and of others,
// and it must not have the same place among them again and again.
func TestChangedClassIsAmongOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(600)
	s, _ := b.run()
	generation := strings.TrimPrefix(b.releaseOf("people"), "release")
	newest := strings.ReplaceAll(`SELECT (SELECT kproxy_class FROM kproxy_store.records_N WHERE id = 1),
		array_agg(kproxy_class ORDER BY ctid) FROM kproxy_store.packed_N
		WHERE xmin = (SELECT xmin FROM kproxy_store.packed_N ORDER BY age(xmin) LIMIT 1)`, "_N", generation)
	places := map[int]bool{}
	for range 20 {
		b.exec(`UPDATE people SET illness = 'new' || random() WHERE id = 1`)
		b.caughtUp(s)
		var changed int64
		var classes []int64
		b.scan([]any{&changed, &classes}, newest)
		if len(classes) <= coverLeast || !slices.Contains(classes, changed) {
			t.Fatalf("the changed class, %d, is among those that were written last: %v", changed, classes)
		}
		places[slices.Index(classes, changed)] = true
	}
	if len(places) <= coverLeast {
		t.Errorf("the changed class lay at the places %v alone", places)
	}
	b.checkStore(s)
}

// TestChangedRecordIsNotAlone looks at what a change has written of a table with two
// parts: the records of which the classes in both parts were written whole must be
// several, not the changed one alone.
func TestChangedRecordIsNotAlone(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, map[string]catalog.TablePolicy{"visits": visitsPolicy("visits", "rounded-partition", "", homes, persons)}, 600)
	s, _ := b.run()
	release := pgx.Identifier{"kproxy_store", b.releaseOf("visits")}.Sanitize()
	sql := fmt.Sprintf(`WITH l AS (SELECT *, xmin = (SELECT xmin FROM %[1]s ORDER BY age(xmin) LIMIT 1) AS fresh FROM %[1]s)
		SELECT count(*) FROM (SELECT bool_and(fresh) OVER (PARTITION BY kproxy_class) AS first, bool_and(fresh) OVER (PARTITION BY kproxy_class_2) AS second FROM l) c
		WHERE first AND second`, release)
	for i := range 5 {
		b.exec("UPDATE visits SET illness = 'new' WHERE id = $1", 10+i*31)
		b.caughtUp(s)
		var candidates int
		b.scan([]any{&candidates}, sql)
		if candidates < homes.K-1 { // two of those drawn may be one
			t.Errorf("%d records can be the changed one, %d expected", candidates, homes.K)
		}
	}
	b.checkStore(s)
}

// releaseOf names the table with the release of a table.
func (b *bench) releaseOf(table string) string {
	b.t.Helper()
	var name string
	err := b.source.QueryRow(b.t.Context(), "SELECT 'release_' || generation FROM kproxy_store.generation WHERE table_name = $1", table).Scan(&name)
	if err != nil {
		b.t.Fatal(err)
	}
	return name
}
