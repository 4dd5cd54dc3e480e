package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// dearSQL takes the server some tens of milliseconds, so that its answer is kept from the second time
// on. What it counts grows with each row that is inserted.
const dearSQL = "SELECT count(*) FROM folk a, folk b"

// dearDirect is the same for the role that kproxy reads as.
var dearDirect = strings.ReplaceAll(dearSQL, "folk ", "kproxy_release_public.folk ")

// answersSite is a small table, with metrics.
func answersSite(t *testing.T) (s *site, metrics string) {
	t.Helper()
	metrics = freeAddress(t)
	s = newSite(t, folkSite(siteOptions{settings: fmt.Sprintf("answers: {size: 64MB}\nmetrics: {listen: %s}\n", metrics)}, 11))
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	return s, metrics
}

// hits are how many questions kept answers have answered.
func hits(t *testing.T, metrics string) float64 {
	t.Helper()
	return sample(t, metrics, "kproxy_answers_hits_total")
}

// asksTimes asks again and again, in every way of the protocol, and returns what it was told last.
func asksTimes(t *testing.T, conn *pgx.Conn, times int, mode pgx.QueryExecMode, sql string) (n int64) {
	t.Helper()
	for range times {
		n = scalar[int64](t, conn, sql, mode)
	}
	return n
}

func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	s, metrics := answersSite(t)
	admin, reader := connect(t, s.admin), connect(t, s.readerURL())
	w := newWriter("", 1, 11, nil)
	for name, mode := range map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol, "unnamed": pgx.QueryExecModeExec, "described": pgx.QueryExecModeDescribeExec, "prepared": pgx.QueryExecModeCacheStatement,
	} {
		conn := connect(t, s.url())
		before := hits(t, metrics)
		if got, want := asksTimes(t, conn, 5, mode, dearSQL), scalar[int64](t, reader, dearDirect); got != want {
			t.Errorf("%s: %d, not %d", name, got, want)
		}
		if got := hits(t, metrics) - before; got < 2 {
			t.Errorf("%s: %v of 5 questions had a kept answer", name, got)
		}
		was := asksTimes(t, conn, 1, mode, dearSQL)
		execute(t, admin, w.insert(2))
		eventually(t, name+": the answer follows the change", func() bool { return asksTimes(t, conn, 1, mode, dearSQL) > was })
		if got, want := asksTimes(t, conn, 3, mode, dearSQL), scalar[int64](t, reader, dearDirect); got != want {
			t.Errorf("%s: after a change %d, not %d", name, got, want)
		}
	}
}

// TestMarksMoveWithWhatIsVisible: of a guarded table, neither who waits nor who has left moves the mark, by
// which readers could tell; a batch does.
func TestMarksMoveWithWhatIsVisible(t *testing.T) {
	t.Parallel()
	o := folkSite(siteOptions{}, 13)
	o.tables = guardedTables(t, o.tables)
	s := ready(t, o)
	admin := connect(t, s.admin)
	mark := func() string { return scalar[string](t, admin, "SELECT mark::text FROM kproxy_catalog.mark") }
	figure := func(column string) int {
		return scalar[int](t, admin, "SELECT "+column+" FROM kproxy_store.generation")
	}
	eventually(t, "it is published", func() bool { return scalar[int](t, admin, "SELECT count(*) FROM kproxy_release_public.folk") > 0 })
	before, ghosts := mark(), figure("ghosts")
	w := newWriter("", 1, 13, nil)
	execute(t, admin, w.insert(1))
	eventually(t, "who has come waits", func() bool { return figure("waiting") > 0 })
	execute(t, admin, "DELETE FROM folk WHERE id IN (SELECT id FROM folk ORDER BY id LIMIT 3)") // fewer than k
	eventually(t, "who has left is a ghost", func() bool { return figure("ghosts") > ghosts })
	if mark() != before {
		t.Error("the mark has moved with changes that are not published")
	}
	execute(t, admin, w.insert(200))
	eventually(t, "a batch moves the mark", func() bool { return mark() != before })
}
