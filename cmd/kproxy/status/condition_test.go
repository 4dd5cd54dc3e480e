package status

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestConditions says of each circumstance what the table is then. Readers are told something
// of every table that they do not get, and nothing of what is wrong with it.
func TestConditions(t *testing.T) {
	t.Parallel()
	policy := catalog.TablePolicy{Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{K: 5}}}
	refusing, guarded := policy, policy
	refusing.Unpublishable = catalog.Refuse
	guarded.Updates.Mode = catalog.Guarded
	found := inspect.Report{{Column: "name", What: "secret is gone", Fix: "mend it"}}
	for name, c := range map[string]struct {
		policy         catalog.TablePolicy
		of             circumstances
		state, problem string
		told           string
	}{
		"published":           {policy, circumstances{release: StatePublished}, "published", "", ""},
		"being published":     {policy, circumstances{release: StateUnpublished}, "unpublished", "", "being published"},
		"halted":              {policy, circumstances{release: StateHalted, problem: "secret", fix: "mend it"}, "halted", "secret", "in step"},
		"found":               {policy, circumstances{release: StatePublished, found: found}, "withdrawn", "column name: secret is gone", "in step"},
		"found, unpublished":  {policy, circumstances{release: StateUnpublished, found: found}, "withdrawn", "secret", "in step"},
		"found, halted":       {policy, circumstances{release: StateHalted, problem: "nearer", fix: "mend it", found: found}, "halted", "nearer", "in step"},
		"stopped":             {policy, circumstances{release: StatePublished, stopped: "secret", restart: "mend it"}, "withdrawn", "replication has stopped: secret", "in step"},
		"stopped, found":      {policy, circumstances{release: StatePublished, stopped: "secret", found: found}, "withdrawn", "column name", "in step"},
		"withheld":            {policy, circumstances{release: StatePublished, withheld: "secret 7"}, "withheld", "nothing of it can be published: secret 7", "5-anonymity"},
		"withheld, refused":   {refusing, circumstances{release: StatePublished, withheld: "secret 7"}, "withheld", "nothing of it can be published: secret 7", "5-anonymity"},
		"withheld, guarded":   {guarded, circumstances{release: StatePublished, withheld: "secret 7"}, "withheld", "nothing of it can be published: secret 7 (5-anonymity; 'kproxy check' says which of these all records violate)", "too few records so far, or"},
		"withheld, halted":    {guarded, circumstances{release: StateHalted, problem: "nearer", fix: "mend it", withheld: "secret 7"}, "halted", "nearer", "in step"},
		"nothing is withheld": {refusing, circumstances{release: StatePublished}, "published", "", ""},
	} {
		is := conditionOf(c.policy, c.of)
		if is.State != c.state || !strings.Contains(is.Problem, c.problem) || !strings.Contains(is.told, c.told) {
			t.Errorf("%s: %+v", name, is)
		}
		if (is.told == "") != (is.State == StatePublished) || strings.Contains(is.told, "secret") {
			t.Errorf("%s: readers are told %q", name, is.told)
		}
		if is.NeedsOperator() && (is.Problem == "" || is.fix == "") {
			t.Errorf("%s: the operator is told %q, %q", name, is.Problem, is.fix)
		}
	}
}

// TestWhatBringsRecordsBack: nobody is told to wait for records that never come back.
func TestWhatBringsRecordsBack(t *testing.T) {
	t.Parallel()
	s, policy, name := oneTable()
	policy.Tables[0].Updates.Mode = catalog.Guarded
	for _, expired := range []int64{0, 1, 500} {
		for _, why := range []string{"", "they violate the constraints"} {
			fixes := map[string]string{
				"the process": Conditions(policy, ksync.Status{State: ksync.Streaming, Tables: map[catalog.Name]ksync.TableStatus{
					name: {State: ksync.Published, Reason: why, Expired: int(expired)},
				}}, nil)[name].fix,
				"the store": conditionOf(policy.Tables[0], circumstances{release: StatePublished, withheld: why, expired: expired}).fix,
			}
			for of, fix := range fixes {
				waits, rebuilds := strings.Contains(fix, "wait for more records"), strings.Contains(fix, "kproxy rebuild public.t --new-lineage")
				if waits != (why != "" && expired == 0) || rebuilds != (why != "" && expired > 0) {
					t.Errorf("%s, %d records withheld for good, %q: the fix is %q", of, expired, why, fix)
				}
			}
			s.Tables[0].Expired, s.Tables[0].State = expired, StatePublished
			if why != "" {
				s.Tables[0].State = state.Withheld
			}
			var text bytes.Buffer
			if err := s.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text.String(), "withheld for good") != (expired > 0 && why == "") {
				t.Errorf("%d records withheld for good, %q: status says\n%s", expired, why, &text)
			}
		}
	}
}

// oneTable is the state of a site with one table, which is published.
func oneTable() (Status, catalog.Policy, catalog.Name) {
	name := catalog.Name{Schema: "public", Relation: "t"}
	s := Status{
		Replication: state.Replication{Exists: true, Applier: &state.Applier{}},
		Tables:      []Table{{Table: state.Table{Name: "public.t", State: StatePublished, Figures: &state.Figures{Generation: 3, Rows: 10}}, Shown: 3}},
	}
	return s, catalog.Policy{Tables: []catalog.TablePolicy{{Table: name}}}, name
}

// TestStatusKnowsWhatIsWithdrawn: by its own check, by the process that asks, and by those
// that serve.
func TestStatusKnowsWhatIsWithdrawn(t *testing.T) {
	t.Parallel()
	report := inspect.Report{{Severity: inspect.Error, Code: "policy", Table: catalog.Name{Schema: "public", Relation: "t"}, Column: "name", What: "does not exist", Fix: "take it out"}}
	own := map[catalog.Name]Condition{report[0].Table: {State: state.Withdrawn, Problem: "it is another table", fix: "reload"}}
	serving := []processes.Clients{{Reply: processes.Reply{Process: "host, process 7"}, Unserved: []string{"public.t"}}}
	for what, c := range map[string]struct {
		report  inspect.Report
		own     map[catalog.Name]Condition
		serving []processes.Clients
		want    string
	}{
		"nothing":           {nil, nil, nil, "published []"},
		"by its check":      {report, nil, serving, "withdrawn [{table public.t is withdrawn: column name: does not exist take it out}]"},
		"by who asks":       {nil, own, serving, "withdrawn [{table public.t is withdrawn: it is another table reload}]"},
		"by who serves":     {nil, nil, serving, "withdrawn [{table public.t is withdrawn: host, process 7 does not serve it see that process's log"},
		"by the check only": {report, map[catalog.Name]Condition{report[0].Table: {State: StatePublished}}, nil, "withdrawn [{table public.t is withdrawn: column name"},
	} {
		s, policy, _ := oneTable()
		s.Clients = c.serving
		s.found = s.judge(policy, c.report)
		s.settle(policy, c.own)
		if got := s.Tables[0].State + " " + fmt.Sprint(s.needs(config.Replication{})); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestViewsGoByTheirTables: what readers are refused is not called published, and the table
// is what waits for the operator.
func TestViewsGoByTheirTables(t *testing.T) {
	t.Parallel()
	view, other := catalog.Name{Schema: "public", Relation: "v"}, catalog.Name{Schema: "public", Relation: "w"}
	for name, c := range map[string]struct {
		change  func(*Status, *Table)
		want    string
		problem string
		needs   int
	}{
		"published":   {func(*Status, *Table) {}, viewPublished, "", 0},
		"withheld":    {func(_ *Status, t *Table) { t.withheld, t.Records = "too few", 3 }, viewWithdrawn, "it reads table public.t, which is withheld", 1},
		"empty":       {func(_ *Status, t *Table) { t.withheld = "no records" }, viewWithdrawn, "it reads table public.t, which is withheld", 0},
		"halted":      {func(_ *Status, t *Table) { t.State = StateHalted }, viewWithdrawn, "it reads table public.t, which is halted", 1},
		"unpublished": {func(_ *Status, t *Table) { t.State = StateUnpublished }, viewWithdrawn, "it reads table public.t, which is unpublished", 0},
		"by who serves": {
			func(s *Status, _ *Table) { s.Clients = []processes.Clients{{Unserved: []string{"public.t"}}} }, viewWithdrawn,
			"it reads table public.t, which is withdrawn", 1,
		},
		"wrong itself": {func(s *Status, t *Table) {
			t.State, s.Views[0].State, s.Views[0].Problem = StateHalted, viewWithdrawn, "mistyped"
		}, viewWithdrawn, "mistyped", 2},
	} {
		s, policy, table := oneTable()
		s.Views = []View{{View: state.View{Name: view.String(), State: viewPublished}}, {View: state.View{Name: other.String(), State: viewPublished}, standIn: true}}
		s.found.over = map[catalog.Name][]catalog.Name{view: {table}}
		c.change(&s, &s.Tables[0])
		s.settle(policy, nil)
		s.Needs = s.needs(config.Replication{})
		if got := s.Views[0]; got.State != c.want || got.Problem != c.problem || len(s.Needs) != c.needs || s.Views[1].State != viewPublished {
			t.Errorf("%s: the views are %+v, and needs are %v", name, s.Views, s.Needs)
		}
		var text strings.Builder
		if err := s.WriteText(&text); err != nil || strings.Contains(text.String(), "WHY") != strings.HasPrefix(c.problem, "it reads") || !strings.Contains(text.String(), c.problem) {
			t.Errorf("%s: %v, status says\n%s", name, err, &text)
		}
	}
}

// TestTablesOfTheSamePersons: readers get what was published before of those that wait for a halted one.
func TestTablesOfTheSamePersons(t *testing.T) {
	t.Parallel()
	s, policy, root := oneTable()
	stays := catalog.Name{Schema: "public", Relation: "stays"}
	policy.Tables = append(policy.Tables, catalog.TablePolicy{Table: stays})
	policy.People = []catalog.People{{Root: root, Tables: []catalog.PeopleTable{{Table: stays}}}}
	s.Tables = append(s.Tables, Table{Table: state.Table{Name: stays.String(), State: StateHalted, Problem: "it has changed", Figures: &state.Figures{}}})
	s.settle(policy, nil)
	want := "it has changed; meanwhile readers have what was published before of public.t, rows included that were deleted since"
	if got := s.Tables[1]; got.State != StateHalted || got.Problem != want || s.Tables[0].State != StatePublished {
		t.Errorf("the tables are %+v", s.Tables)
	}
	s.Tables[0].State, s.Tables[1].Problem = StateUnpublished, "it has changed"
	s.settle(policy, nil)
	if got := s.Tables[1].Problem; got != "it has changed" {
		t.Errorf("nothing was published, and the problem is %s", got)
	}
}

// TestProofsAreOfWhatIsShown: what was found of an earlier release says nothing of the present
// one, and is no reason to need the operator.
func TestProofsAreOfWhatIsShown(t *testing.T) {
	t.Parallel()
	s, policy, name := oneTable()
	s.At = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		generation  int64
		passed      bool
		text, needs string
	}{
		{3, true, "holds, 1h00m ago", ""},
		{3, false, "fails, 1h00m ago", "did not keep its promise"},
		{2, true, "of an earlier release", ""},
		{2, false, "of an earlier release", ""},
	} {
		proof := history.Proof{At: s.At.Add(-time.Hour), Passed: c.passed, Report: verify.TableReport{Generation: c.generation}}
		s.addProofs(policy, map[catalog.Name]history.Proof{name: proof})
		if got := s.proofText(s.Tables[0].Proof); got != c.text {
			t.Errorf("%+v: status says %q", c, got)
		}
		if needs := fmt.Sprint(s.needs(config.Replication{})); c.needs == "" && needs != "[]" || !strings.Contains(needs, c.needs) {
			t.Errorf("%+v: status needs %s", c, needs)
		}
	}
	if s.proofText(nil) != "none" {
		t.Error("no proof is shown as one")
	}
}
