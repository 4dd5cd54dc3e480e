package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// TestAcceptShowsAgainWhatChanged has a look begin to doubt what a view shows after accept has
// read what to accept of it, and before it notes that: accept shows what there is then, all of it.
func TestAcceptShowsAgainWhatChanged(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TABLE codes (a int); INSERT INTO codes VALUES (1); CREATE VIEW shown AS SELECT a FROM codes;
		CREATE TABLE people (id int PRIMARY KEY, age int)`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 2}]
readable: [public.codes, public.shown]
`))
	admin, other := connect(t, s.admin), connect(t, s.admin)
	eventually(t, "shown is served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) = 1 FROM shown")
		return err == nil && found
	})
	execute(t, admin, "CREATE OR REPLACE VIEW shown AS SELECT a + 1 AS a FROM codes", pgx.QueryExecModeSimpleProtocol)
	eventually(t, "shown is refused", func() bool {
		_, err := s.attempt(t, "SELECT count(*) = 1 FROM shown")
		return err != nil
	})

	var text string
	if err := admin.QueryRow(t.Context(), "SELECT accepted FROM kproxy_store.view WHERE view_name = 'shown'").Scan(&text); err != nil {
		t.Fatal(err)
	}
	doubted, err := catalog.ParseIdentity(text)
	if err != nil {
		t.Fatal(err)
	}
	doubted.Doubted = true
	s.edit(t, "kproxy.yaml", "{k: 2}", "{k: 3}") // which is accepted together with it
	execute(t, admin, "BEGIN")
	execute(t, admin, "UPDATE kproxy_store.view SET accepted = $1 WHERE view_name = 'shown'", doubted.String())
	ended := make(chan outcome)
	go func() { ended <- s.kproxy(t, "accept", "--yes") }()
	eventually(t, "accept waits for the look", func() bool {
		var waits bool
		err := other.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE kproxy_store.view SET accepted%digest = ''''%')").Scan(&waits)
		return err == nil && waits
	})
	execute(t, admin, "COMMIT")
	o := <-ended
	before, after, again := strings.Cut(o.stdout, "nothing was accepted, since something changed meanwhile; now:\n")
	const policy = "the policy of the configuration is not number 1"
	if o.code != 0 || !strings.Contains(before, policy) || !strings.Contains(after, policy) || !again || strings.Contains(before, "may hold rows") || !strings.Contains(after, "may hold rows") || strings.Count(after, "accepted; policy") != 1 {
		t.Errorf("accept ends with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	eventually(t, "shown is served as it is now", func() bool {
		found, err := s.attempt(t, "SELECT a = 2 FROM shown")
		return err == nil && found
	})
}
