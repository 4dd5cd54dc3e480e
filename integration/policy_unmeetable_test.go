package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// unmeetable are tables of which the most frequent value is too frequent.
const unmeetable = `
  public.calls:
    updates: immediate
    constraints: [{k: 3}, {alpha: 0.3, of: outcome}]
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      outcome: sensitive
  public.votes:
    updates: immediate
    constraints: [{k: 3}, {alpha: 0.3, of: outcome, values: [won]}]
    unpublishable: refuse
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      outcome: sensitive
`

const unmeetableSource = `
CREATE TABLE calls (id integer PRIMARY KEY, age integer, outcome text);
INSERT INTO calls SELECT i, i, CASE WHEN i <= 60 THEN 'won' ELSE 'lost ' || i % 4 END FROM generate_series(1, 100) i;
CREATE TABLE votes (id integer PRIMARY KEY, age integer, outcome text);
INSERT INTO votes SELECT * FROM calls`

// testUnmeetable changes what cannot be published into what can, and back.
func testUnmeetable(t *testing.T, s *site, p *process) {
	conn := connect(t, s.admin)
	// A table that is withdrawn ends the sessions, this one perhaps.
	asked := func(table string) (int, error) {
		client := connect(t, s.url())
		defer client.Close(t.Context())
		n := -1
		err := client.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
		return n, err
	}
	count := func(table string) int {
		n, err := asked(table)
		if err != nil && !goneAway(err) {
			t.Fatal(err)
		}
		return n
	}
	refused := func() bool {
		_, err := asked("votes")
		told := (*pgconn.PgError)(nil)
		if !errors.As(err, &told) || goneAway(err) {
			return false
		}
		if !strings.Contains(told.Message, `"votes" is not published now`) || !strings.Contains(told.Hint, "(0.3,k)-anonymity of one value of outcome") {
			t.Fatalf("a client is told %+v", told)
		}
		return true
	}
	published := func(table string) bool {
		n, err := asked(table)
		return err == nil && n == 100
	}
	for range 2 {
		eventually(t, "neither table is published", func() bool { return refused() && count("calls") == 0 })
		for _, words := range []string{"public.calls", "public.votes", "60 % of the whole table", "alpha can be 0.6 at the least"} {
			if !strings.Contains(p.log.String(), words) {
				t.Errorf("the log does not say %q", words)
			}
		}
		if o := s.kproxy(t, "verify"); o.code != 0 {
			t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
		}
		for _, table := range []string{"calls", "votes"} {
			execute(t, conn, "UPDATE "+table+" SET outcome = 'drawn ' || id % 3 WHERE id <= 60 AND id % 2 = 0")
		}
		eventually(t, "both tables are published", func() bool { return published("calls") && published("votes") })
		for _, table := range []string{"calls", "votes"} {
			const worst = "SELECT coalesce(max(n), 0) FROM (SELECT count(*) FILTER (WHERE outcome = 'won') / count(*)::float8 AS n FROM %s GROUP BY age) c"
			if n := scalar[float64](t, connect(t, s.url()), fmt.Sprintf(worst, table)); n > 0.3 {
				t.Errorf("a class of %s has a share of %g", table, n)
			}
			execute(t, conn, "UPDATE "+table+" SET outcome = 'won' WHERE id <= 60")
		}
	}
	eventually(t, "neither table is published", func() bool { return refused() && count("calls") == 0 })
}
