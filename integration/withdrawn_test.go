package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// console is an operator who is logged in.
type console struct {
	url    string
	client *http.Client
}

func openConsole(t *testing.T, address string) console {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := console{"http://" + address, &http.Client{Jar: jar, Timeout: time.Minute}}
	answer, err := c.client.PostForm(c.url+"/login", url.Values{"user": {"admin"}, "password": {clientPassword}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.Request.URL.Path != "/" {
		t.Fatalf("the login ends at %s: %s", answer.Request.URL, answer.Status)
	}
	return c
}

func (c console) page(t *testing.T, path string) string {
	t.Helper()
	answer, err := c.client.Get(c.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", path, answer.Status, err, text)
	}
	return string(text)
}

// consoleTable is what the console says of a table.
type consoleTable struct {
	Table, State, Problem string
	Rows                  *int
	Proof                 *struct {
		Passed  bool
		Earlier bool `json:"earlier_release"`
	}
	Sizes   []any `json:"class_sizes"`
	Preview struct {
		Rows   []any
		Reason string
	}
}

// consoleOverview is what the console says of all.
type consoleOverview struct {
	Needs       []any
	Tables      []consoleTable
	Replication *struct{}
}

func asked[T any](t *testing.T, c console, path string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.page(t, path)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWithdrawnIsSeenEverywhere has another table inherit from a protected one: readers are
// refused, and whatever tells an operator or a monitor of the table says that they are. Then
// the database goes away: what nobody knows is not made up.
func TestWithdrawnIsSeenEverywhere(t *testing.T) {
	t.Parallel()
	server := ownServer(t, pgserver.Options{})
	metrics, listen := freeAddress(t), freeAddress(t)
	o := sqlSite(operatedSchema+"; ALTER TABLE people ADD name text DEFAULT 'x'", countedPolicy+"      name: identifying\n"+visitsPolicy)
	o.server = server
	o.settings = fmt.Sprintf("metrics: {listen: %s}\nconsole: {listen: %s, users: [{name: admin, verifier: '%s'}]}\n", metrics, listen, clientVerifier(t))
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	s.kproxy(t, "verify").must(t)
	c := openConsole(t, listen)
	var all consoleOverview
	eventually(t, "the figures of the release are kept", func() bool {
		all = asked[consoleOverview](t, c, "/api/overview")
		return all.Tables[0].Rows != nil
	})
	if people := all.Tables[0]; people.State != "published" || people.Proof == nil || !people.Proof.Passed || people.Proof.Earlier || *people.Rows != operatedRows {
		t.Fatalf("at first the console says %+v", all)
	}
	testEarlierProof(t, s, c)

	state := func(table, state string) float64 {
		return sample(t, metrics, fmt.Sprintf(`kproxy_table_state{state=%q,table=%q}`, state, table))
	}
	execute(t, connect(t, s.admin), "CREATE TABLE heirs () INHERITS (people)")
	eventually(t, "the table is withdrawn", func() bool { return state("public.people", "withdrawn") == 1 })
	if state("public.people", "published") != 0 || state("public.people", "halted") != 0 || state("public.visits", "published") != 1 {
		t.Error("a table has two states, or another one is withdrawn")
	}
	if status, text := get(t, metrics, "/readyz"); status != http.StatusOK {
		t.Errorf("what is left is served: %d %s", status, text)
	}
	testWithdrawn(t, s, c)

	execute(t, connect(t, s.admin), "DROP TABLE heirs")
	s.kproxy(t, "reload").must(t)
	s.shows(t, "people", operatedRows)
	if people := asked[consoleOverview](t, c, "/api/overview").Tables[0]; people.State != "published" || state("public.people", "published") != 1 {
		t.Errorf("after it is mended: %+v", people)
	}

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	testUnknown(t, c)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the console knows again", func() bool { return asked[consoleOverview](t, c, "/api/overview").Tables[0].State == "published" })
	if !p.running() {
		t.Error("the process ended")
	}
}

// testEarlierProof publishes a table afresh: its proof does not hold for what is new.
func testEarlierProof(t *testing.T, s *site, c console) {
	t.Helper()
	s.kproxy(t, "rebuild", "visits").must(t)
	eventually(t, "the proof is of an earlier release", func() bool {
		visits := asked[consoleOverview](t, c, "/api/overview").Tables[1]
		return visits.Proof != nil && visits.Proof.Earlier
	})
	if text := s.kproxy(t, "status").must(t).stdout; !strings.Contains(text, "of an earlier release") || !strings.Contains(text, "holds, ") {
		t.Errorf("status says:\n%s", text)
	}
}

// testWithdrawn asks everybody about people.
func testWithdrawn(t *testing.T, s *site, c console) {
	t.Helper()
	if _, code, _ := countRows(t, connect(t, s.url()), "people"); code != "55000" {
		t.Errorf("a reader is refused with %q", code)
	}
	status, exit := s.statusJSON(t)
	if exit != 3 || len(status.Needs) != 1 || !strings.Contains(status.Needs[0].What, "public.people") {
		t.Errorf("status ends with %d and needs %+v", exit, status.Needs)
	}
	if people := status.Tables[0]; people.State != "withdrawn" || !strings.Contains(people.Problem, "inherit") || people.Fix == "" || status.Tables[1].State != "published" {
		t.Errorf("status says %+v", status.Tables)
	}
	all := asked[consoleOverview](t, c, "/api/overview")
	if all.Tables[0].State != "withdrawn" || all.Tables[1].State != "published" || len(all.Needs) != 1 {
		t.Errorf("the overview says %+v", all)
	}
	people := asked[consoleTable](t, c, "/api/tables/public.people")
	if people.State != "withdrawn" || !strings.Contains(people.Problem, "inherit") || people.Sizes != nil || people.Preview.Rows != nil || people.Preview.Reason == "" {
		t.Errorf("its page says %+v", people)
	}
	if text := c.page(t, "/tables/public.people"); !strings.Contains(text, "This table is withdrawn") || strings.Contains(text, "Rows published") {
		t.Errorf("its page is:\n%s", text)
	}
}

// testUnknown asks the console while no database answers.
func testUnknown(t *testing.T, c console) {
	t.Helper()
	eventually(t, "the console notices", func() bool { return asked[consoleOverview](t, c, "/api/overview").Replication == nil })
	all := asked[consoleOverview](t, c, "/api/overview")
	for _, table := range all.Tables {
		if table.State != "unknown" || table.Rows != nil && *table.Rows == 0 { // what was known last may be shown
			t.Errorf("made up is %+v", table)
		}
	}
	if text := c.page(t, "/"); strings.Contains(text, "gone") || strings.Contains(text, "no alarm") || strings.Contains(text, "not yet") || len(all.Needs) != 2 {
		t.Errorf("the overview is:\n%s", text)
	}
}
