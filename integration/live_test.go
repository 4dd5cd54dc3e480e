package integration

import (
	"context"
	"testing"
)

// TestLive changes the source from several sides while clients look at every
// state they can see.
func TestLive(t *testing.T) {
	t.Parallel()
	const seed, writers, transactions = 20240607, 4, 500
	t.Logf("seed %d", uint64(seed))
	s := ready(t, folkSite(siteOptions{}, seed))
	stop := poll(t, s, 3)
	done, operations := work(t, s, seed, writers, transactions, false)
	done()
	t.Logf("%d source transactions", operations.Load())
	s.agrees(t, "folk", folkStored)
	stop()
	testDraining(t, s)
}

// testDraining takes the rows away until there are too few for a class, and
// brings them back: what cannot be published is withheld, and readers get an error. A session
// that has read the table ends when that begins, so that each look is a session of its own.
func testDraining(t *testing.T, s *site) {
	conn := connect(t, s.admin)
	look := func() (rows int, code string) {
		client := connect(t, s.url())
		defer client.Close(context.Background())
		rows, code, _ = countRows(t, client, "folk")
		return rows, code
	}
	visible := func(want int) {
		t.Helper()
		eventually(t, "the release has the rows it should have", func() bool {
			rows, code := look()
			return rows == want && code == ""
		})
		s.agrees(t, "folk", folkStored)
	}
	withheld := func() {
		t.Helper()
		eventually(t, "the table is withheld", func() bool {
			_, code := look()
			return code == "55000"
		})
		s.agrees(t, "folk", folkStored)
	}
	execute(t, conn, "TRUNCATE folk")
	visible(0)
	const insert = "INSERT INTO folk (id, name, pair, cost, age, illness) SELECT i, 'n', i, 0, i, 'flu' FROM generate_series($1::int, $2::int) i"
	execute(t, conn, insert, 1, folkK-1)
	withheld()
	execute(t, conn, insert, folkK, folkK+6)
	withheld() // all have the same illness
	execute(t, conn, "UPDATE folk SET illness = 'gout' WHERE id = 2")
	visible(folkK + 6)
	execute(t, conn, "DELETE FROM folk WHERE id > $1", folkK)
	visible(folkK)
	execute(t, conn, "DELETE FROM folk WHERE id = 1")
	withheld()
}
