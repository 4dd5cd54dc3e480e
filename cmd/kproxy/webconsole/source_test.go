package webconsole

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/verify"
	"github.com/kproxy/kproxy/proxy"
)

// processOf is a process under a configuration that knows nothing yet.
func processOf(c *config.Config) Process {
	return Process{
		Config: func() *config.Config { return c }, Conditions: func() map[catalog.Name]status.Condition { return nil },
		Clients: func() proxy.Counts { return proxy.Counts{} }, Refusal: func() *state.Refusal { return nil }, Work: func() map[string]*state.Work { return nil },
	}
}

func TestNoConsole(t *testing.T) {
	t.Parallel()
	var none *Console
	none.Reconfigure(config.Console{Listen: "127.0.0.1:6480"})
	if none.Serve(t.Context()); none.URL() != "" {
		t.Error("there is a console")
	}
}

// TestUnknownIsNotMadeUp asks for the overview while no database answers.
func TestUnknownIsNotMadeUp(t *testing.T) {
	t.Parallel()
	c := consoleConfig(t)
	c.Upstream.Owner.Host, c.Upstream.Owner.Port = "127.0.0.1", 1 // nobody listens there
	o, err := newSource(processOf(c)).Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o.Replication != nil || len(o.Needs) != 1 || len(o.Processes) != 1 || len(o.Tables) != len(c.Policy.Tables) {
		t.Errorf("got %+v", o)
	}
	for _, r := range o.Tables {
		if r.State != state.Unknown || r.Figures != nil || r.Proof != nil || r.Loss != nil || r.Updates == "" || len(r.Constraints) == 0 {
			t.Errorf("got %+v", r)
		}
	}
}

// TestPreviewIsOfWhatIsServed: rows that no reader gets are not shown as theirs.
func TestPreviewIsOfWhatIsServed(t *testing.T) {
	t.Parallel()
	for _, is := range []string{state.Withdrawn, status.StateHalted, status.StateUnpublished, state.Unknown} {
		if p := preview(t.Context(), consoleConfig(t), catalog.Name{}, is); len(p.Rows) != 0 || p.Reason != "Readers get nothing of it at the moment." {
			t.Errorf("%s: %+v", is, p)
		}
		shown := console.Table{Release: console.Release{Table: state.Table{State: is}}}
		kept := history.Figures{Counts: history.Counts{Rows: 10}, Sizes: [][]history.Size{{{Rows: 5, Classes: 2}}}, Losses: &history.Losses{}}
		if loss := addKept(&shown, &kept); loss != nil || shown.Sizes != nil {
			t.Errorf("%s: measured are %+v", is, loss)
		}
	}
}

func TestMisfitsSayWhy(t *testing.T) {
	t.Parallel()
	name := catalog.Name{Schema: "public", Relation: "t"}
	problems := []catalog.Problem{{Table: name, Column: "name", What: "does not exist", Fix: "take it out"}, {Table: catalog.Name{Relation: "other"}, What: "another's"}}
	if got := misfits(name, &catalog.Publication{}, problems); len(got) != 0 {
		t.Errorf("of one that is published: %v", got)
	}
	if what, fix := check.Problem(misfits(name, nil, problems)); what != "column name: does not exist" || fix != "take it out" {
		t.Errorf("%q, %q", what, fix)
	}
	if what, _ := check.Problem(misfits(name, nil, nil)); what != "the database has no such table" {
		t.Errorf("of one that is gone: %q", what)
	}
}

// TestProofsAreShownForWhatTheyProve: readers may see a later release than the one proved.
func TestProofsAreShownForWhatTheyProve(t *testing.T) {
	t.Parallel()
	for generation, earlier := range map[int64]bool{3: false, 2: true} {
		for _, passed := range []bool{true, false} {
			proof := history.Proof{Passed: passed, Report: verify.TableReport{Generation: generation}}
			if shown := proof.State(3); shown.Earlier != earlier || shown.Passed != passed {
				t.Errorf("generation %d: the console shows %+v", generation, shown)
			}
		}
	}
}

func TestFindingOutRests(t *testing.T) {
	t.Parallel()
	var m memo[int]
	asked := 0
	find := func(context.Context) (int, error) { asked++; return asked, nil }
	failing := errors.New("away")
	if _, err := m.get(t.Context(), nil, func(context.Context) (int, error) { return 0, failing }); !errors.Is(err, failing) {
		t.Errorf("got %v", err)
	}
	for range 5 {
		if n, err := m.get(t.Context(), nil, find); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if n, known := m.last(); n != 1 || !known {
		t.Errorf("known is %d, %v", n, known)
	}
	m.forget()
	if n, _ := m.get(t.Context(), nil, find); n != 2 {
		t.Errorf("after forgetting: %d", n)
	}
	under := map[catalog.Name]status.Condition{{Schema: "public", Relation: "t"}: {State: state.Withdrawn}}
	for range 2 {
		if n, _ := m.get(t.Context(), under, find); n != 3 {
			t.Errorf("under other conditions: %d", n)
		}
	}
}

func TestConstraintsInWords(t *testing.T) {
	t.Parallel()
	policy := consoleConfig(t).Policy.Tables[0]
	if got := strings.Join(constraintTexts(catalog.Policy{}, policy), "; "); got != "5-anonymity; distinct 2-diversity of diagnosis" {
		t.Errorf("got %q", got)
	}
	policy.Subject = "patient_id"
	if got := constraintTexts(catalog.Policy{}, policy)[0]; got != "5-anonymity, counted in persons (patient_id)" {
		t.Errorf("got %q", got)
	}
	member := catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "stays"}}
	whole := catalog.Policy{People: []catalog.People{{
		Root: catalog.Name{Schema: "public", Relation: "persons"}, Tables: []catalog.PeopleTable{{Table: member.Table}, {Table: catalog.Name{Schema: "public", Relation: "diagnoses"}}},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 7}, {Model: privacy.DistinctL, L: 2, Of: "public.diagnoses.code"}},
	}}}
	if got := constraintTexts(whole, member); len(got) != 1 || got[0] != "7-anonymity, counted in persons" {
		t.Errorf("of a table of people: %q", got)
	}
	if k := smallestAllowed(policy); k != 5 {
		t.Errorf("k is %d", k)
	}
	column, _ := policy.Column("marital_status")
	if got := hierarchyText(column.Hierarchy); got != "categorical, a taxonomy of 5 values" {
		t.Errorf("got %q", got)
	}
}

func consoleConfig(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse("config.example.yaml", kproxy.ExampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSettingsShowNoSecret puts a secret wherever the configuration can have one.
func TestSettingsShowNoSecret(t *testing.T) {
	t.Parallel()
	const canary = "hunter2-canary"
	c := consoleConfig(t)
	secret := config.NewSecret(canary)
	c.Users[0].Verifier = secret
	c.Upstream.Owner.Password, c.Upstream.Reader.Password = secret, secret
	c.Upstream.Readers = []config.Reader{{Name: "bi", Connection: config.Connection{User: "bi", Password: secret}}}
	c.AuthQuery.Connection.Password = secret
	c.Console = config.Console{Listen: "127.0.0.1:6480", Users: []config.ConsoleUser{{Name: "admin", Verifier: secret}}}
	c.Verify.Every = time.Hour
	sections := listSettings(c)
	text, err := json.Marshal(sections)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), canary) {
		t.Errorf("a secret is shown:\n%s", text)
	}
	for _, want := range []string{
		`{"key":"owner.password","value":"set, not shown"}`, `{"key":"users 1.verifier","value":"set, not shown"}`, `{"key":"readers 1.password","value":"set, not shown"}`,
		`{"key":"max_sessions","value":"1000"}`, `{"key":"every","value":"1h"}`, `{"key":"alarm.retained","value":"10.0 GiB"}`, `{"key":"level","value":"info"}`,
		`{"key":"owner.sslmode","value":"prefer"}`, `{"key":"unix_socket_mode","value":"0777"}`, `{"key":"readable","value":"public.icd10, public.wards"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "national_id") {
		t.Error("a policy stands among the settings")
	}
}
