package sync

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestNewestClassIsNotLast reads the release in the order of the heap: some time
// after a change, its end must not be the changed class alone.
func TestNewestClassIsNotLast(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(600)
	s, _ := b.run()
	tail := func() (classes int) {
		sql := `SELECT count(DISTINCT kproxy_class) FROM
			(SELECT kproxy_class FROM kproxy_store.` + strings.Replace(pgx.Identifier{b.releaseOf("people")}.Sanitize(), "release", "packed", 1) + ` ORDER BY ctid DESC LIMIT 40) AS tail`
		if err := b.source.QueryRow(t.Context(), sql).Scan(&classes); err != nil {
			t.Fatal(err)
		}
		return classes
	}
	for range 3 {
		b.exec(`UPDATE people SET illness = 'new' WHERE id = 1`)
		b.exec(`INSERT INTO people (id, age, illness) SELECT max(id) + 1, 44, 'new' FROM people`)
		b.caughtUp(s)
		// 40 rows of classes of 4 to 8 that lie together are 10 classes at most;
		// in random order with 32 others they are more but for a freak of chance.
		for start := time.Now(); tail() <= 10; time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > patience {
				t.Fatalf("the last 40 rows show %d classes", tail())
			}
		}
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
