package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// unmeetable are tables of which the most frequent value is too frequent, and one of
// persons who all have one of two diseases.
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
  public.stays:
    updates: immediate
    subject: person
    constraints: [{k: 3}, {l: 3, of: disease}]
    columns:
      id: identifying
      person: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      disease: sensitive
`

const unmeetableSource = `
CREATE TABLE calls (id integer PRIMARY KEY, age integer, outcome text);
INSERT INTO calls SELECT i, i, CASE WHEN i <= 60 THEN 'won' ELSE 'lost ' || i % 4 END FROM generate_series(1, 100) i;
CREATE TABLE votes (id integer PRIMARY KEY, age integer, outcome text);
INSERT INTO votes SELECT * FROM calls;
CREATE TABLE stays (id integer PRIMARY KEY, person integer, age integer, disease text);
INSERT INTO stays SELECT i, i, i, 'chronic ' || i % 2 FROM generate_series(1, 100) i;
INSERT INTO stays SELECT 100 + i, i, i, CASE WHEN i % 4 < 3 THEN 'chronic 0' ELSE 'rare ' || i % 77 END FROM generate_series(1, 100) i`

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
	refused := func(table, constraint string) bool {
		_, err := asked(table)
		told := (*pgconn.PgError)(nil)
		if !errors.As(err, &told) || goneAway(err) {
			return false
		}
		if told.Code != "55000" || !strings.Contains(told.Message, `"`+table+`" is not published now`) || !strings.Contains(told.Hint, constraint) {
			t.Fatalf("a client is told %+v", told)
		}
		return true
	}
	neither := func() bool {
		return refused("votes", "(0.3,k)-anonymity of one value of outcome") && refused("calls", "(0.3,k)-anonymity of outcome")
	}
	published := func(table string) bool {
		n, err := asked(table)
		return err == nil && n == 100
	}
	for range 2 {
		eventually(t, "neither table is published", neither)
		for _, words := range []string{"public.calls", "public.votes", "60 % of the whole table", "alpha can be 0.6 at the least"} {
			if !strings.Contains(p.log.String(), words) {
				t.Errorf("the log does not say %q", words)
			}
		}
		if o := s.kproxy(t, "status"); o.code == 0 || strings.Count(o.stdout, "is withheld: nothing of it can be published: ") != 3 || !strings.Contains(o.stdout, "60 % of the whole table") {
			t.Errorf("status ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
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
	eventually(t, "neither table is published", neither)

	// Two values are everybody's; once some have neither of them, that many share them is no
	// reason any more.
	const told = "distinct 3-diversity of disease"
	eventually(t, "the stays are not published", func() bool { return refused("stays", told) })
	const why = "distinct 3-diversity of disease cannot hold: the table has 27 values of 100 persons, the most frequent is held by 75 % of them, and everybody has one of 2; l can be 2 at the most"
	for _, command := range []string{"check", "status"} {
		if o := s.kproxy(t, command); !strings.Contains(o.stdout+o.stderr, why) {
			t.Errorf("%s does not say %q:\n%s%s", command, why, o.stdout, o.stderr)
		}
	}
	execute(t, conn, "UPDATE stays SET disease = 'rare ' || id % 70 WHERE person % 4 = 1")
	eventually(t, "the stays are published", func() bool {
		n, err := asked("stays")
		return err == nil && n == 200
	})
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	execute(t, conn, "DELETE FROM stays")
	eventually(t, "a table without records is empty", func() bool {
		n, err := asked("stays")
		return err == nil && n == 0
	})
}
