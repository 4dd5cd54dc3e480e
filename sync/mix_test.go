package sync

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestNewestClassIsNotLast reads the release in the order of the heap: some time
// after a change, its end must not be the changed class alone.
func TestNewestClassIsNotLast(t *testing.T) {
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(600)
	s, _ := b.run()
	tail := func() (classes int) {
		sql := `SELECT count(DISTINCT kproxy_class) FROM
			(SELECT kproxy_class FROM kproxy_store.` + pgx.Identifier{b.releaseOf("people")}.Sanitize() + ` ORDER BY ctid DESC LIMIT 40) AS tail`
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
			if time.Since(start) > 20*time.Second {
				t.Fatalf("the last 40 rows show %d classes", tail())
			}
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
