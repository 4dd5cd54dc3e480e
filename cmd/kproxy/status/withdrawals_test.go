package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

func TestWithdrawals(t *testing.T) {
	t.Parallel()
	waits := catalog.Name{Schema: "public", Relation: "waits"}
	refuses := catalog.Name{Schema: "public", Relation: "refuses"}
	guarded := catalog.Name{Schema: "public", Relation: "guarded"}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{
		{Table: waits, Updates: catalog.Updates{Mode: catalog.Immediate}, Unpublishable: catalog.Withhold, Constraints: []privacy.Spec{{K: 5}}},
		{Table: refuses, Updates: catalog.Updates{Mode: catalog.Immediate}, Unpublishable: catalog.Refuse, Constraints: []privacy.Spec{{K: 5}}},
		{Table: guarded, Unpublishable: catalog.Refuse, Constraints: []privacy.Spec{{K: 5}}, Updates: catalog.Updates{Mode: catalog.Guarded}},
	}}
	few := map[catalog.Name]ksync.TableStatus{
		waits:   {State: ksync.Published},
		refuses: {State: ksync.Published, Records: 3},
		guarded: {State: ksync.Published, Records: 30, Waiting: 3, Expired: 2}, // others are published
	}
	check := func(name string, status ksync.Status, broken map[catalog.Name]inspect.Report, want map[catalog.Name]string) {
		t.Helper()
		got := Withdrawals(policy, status, broken)
		if len(got) != len(want) {
			t.Errorf("%s: withdrawn are %v, want %v", name, got, want)
		}
		for table, words := range want {
			if !strings.Contains(got[table], words) {
				t.Errorf("%s: %s is withdrawn for %q, want %q", name, table, got[table], words)
			}
		}
		if text := fmt.Sprint(got); strings.Contains(text, "secret") {
			t.Errorf("%s: readers are told %s", name, text)
		}
	}
	policy.Readable = []catalog.Name{{Schema: "public", Relation: "codes"}}
	check("shows protected rows", ksync.Status{State: ksync.Streaming, Tables: few}, map[catalog.Name]inspect.Report{policy.Readable[0]: {{Code: inspect.CodeReadableRaw, What: "secret"}}},
		map[catalog.Name]string{policy.Readable[0]: "cannot be shown safely"})
	check("all published", ksync.Status{State: ksync.Streaming, Tables: few}, nil, nil)
	// A server out of reach, or another process that applies, leaves the release safe to read.
	check("reconnecting", ksync.Status{State: ksync.Reconnecting, Tables: few}, nil, nil)
	check("following", ksync.Status{State: ksync.Following, Tables: few}, nil, nil)
	check("nothing yet", ksync.Status{}, nil, map[catalog.Name]string{waits: "being published", refuses: "being published", guarded: "being published"})
	broken := map[catalog.Name]inspect.Report{waits: {{What: "secret"}}}
	check("one table broken", ksync.Status{State: ksync.Streaming, Tables: few}, broken, map[catalog.Name]string{waits: "in step"})
	check("stopped", ksync.Status{State: ksync.Stopped, Reason: "secret", Tables: few}, nil,
		map[catalog.Name]string{waits: "in step", refuses: "in step", guarded: "in step"})

	few[refuses] = ksync.TableStatus{State: ksync.Published, Records: 3, Withheld: 3, Reason: "secret"}
	few[waits] = ksync.TableStatus{State: ksync.Published, Records: 3, Withheld: 3, Reason: "secret"}
	check("withheld", ksync.Status{State: ksync.Streaming, Tables: few}, nil, map[catalog.Name]string{refuses: "5-anonymity", waits: "5-anonymity"})
	few[guarded] = ksync.TableStatus{State: ksync.Published, Records: 3, Withheld: 3, Waiting: 3, Reason: "secret"}
	few[waits] = ksync.TableStatus{State: ksync.Halted, Problem: "secret"}
	check("halted", ksync.Status{State: ksync.Streaming, Tables: few}, nil,
		map[catalog.Name]string{waits: "in step", refuses: "5-anonymity", guarded: "too few records so far"})
}

// TestFindingsOfListedNames withdraw those alone, and status tells of them.
func TestFindingsOfListedNames(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	policy := catalog.Policy{
		Tables: []catalog.TablePolicy{{Table: name("t")}}, Readable: []catalog.Name{name("gone"), name("denied"), name("fine")}, Functions: []catalog.Name{name("t"), name("fine")},
	}
	report := inspect.Report{
		{Severity: inspect.Error, Code: inspect.CodeReadableMissing, Table: name("gone"), What: "there is no such relation", Fix: "mend a"},
		{Severity: inspect.Error, Code: inspect.CodeReadableGrant, Table: name("denied"), What: "may not be read", Fix: "mend b"},
		{Severity: inspect.Error, Code: inspect.CodeFunctionMissing, Table: name("t"), What: "there is no such function", Fix: "mend c"},
		{Severity: inspect.Warning, Code: views.CodeProblem, Table: name("fine"), What: "cannot be published", Fix: "mend d"},
		{Severity: inspect.Error, Code: inspect.CodeTemporaryGrant, What: "no temporary tables", Fix: "mend e"},
		{Severity: inspect.Error, Code: "slots", What: "too few slots", Fix: "mend f"},
	}
	if errs := check.Divide(policy, report.Errors()); len(errs.All) != 2 || len(errs.Broken) != 2 || len(errs.Functions) != 1 {
		t.Fatalf("got %+v", errs)
	}
	if check.Alone(policy, report.Errors()) || !check.Alone(policy, report[:4].Errors()) {
		t.Error("what concerns one name is not told from what concerns all")
	}
	status := ksync.Status{State: ksync.Streaming, Tables: map[catalog.Name]ksync.TableStatus{name("t"): {State: ksync.Published, Records: 3}}}
	withdrawn := Withdrawals(policy, status, check.Divide(policy, report.Errors()).Broken)
	if len(withdrawn) != 1 || withdrawn[name("denied")] != notGranted {
		t.Errorf("withdrawn are %v", withdrawn)
	}
	s := Status{
		Replication: state.Replication{Exists: true, Applier: &state.Applier{}}, Tables: []Table{{Table: state.Table{Name: "public.t", State: "published", Figures: &state.Figures{}}}},
		Views: []View{{View: state.View{Name: "public.fine", State: viewWithdrawn, Problem: "its definition"}}},
	}
	told := func(report inspect.Report) string {
		s.found = s.judge(policy, report)
		s.settle(policy, nil)
		return fmt.Sprint(s.needs(config.Replication{}))
	}
	const want = "[{no temporary tables mend e} {readable public.gone is withdrawn: there is no such relation mend a} " +
		"{readable public.denied is withdrawn: may not be read mend b} {function public.t cannot be called: there is no such function mend c} " +
		"{view public.fine is withdrawn: its definition mend d}]"
	if got := told(report); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	report = append(report, inspect.Finding{Severity: inspect.Error, Code: "raw-grant", Table: name("t"), What: "can be read", Fix: "mend g"})
	if got := told(report); !strings.HasPrefix(got, "[{the audit fails, so that nothing is served: public.t: can be read mend g} ") {
		t.Errorf("got %s", got)
	}
}
