package status

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// findings are the results of a check that concern serving.
type findings struct {
	// grave prevent everything from being served, and alone a single name.
	grave, alone []state.Need
	// broken are those of single protected tables.
	broken map[catalog.Name]inspect.Report
	// views are the fixes of views that cannot be published.
	views map[string]string
	// over are the protected tables whose rows each view shows.
	over map[catalog.Name][]catalog.Name
}

// readFindings checks the database as a process that serves does regularly.
func (s *Status) readFindings(ctx context.Context, c *config.Config) {
	found, err := check.Full(ctx, c)
	if check.SourceAway(err) { // which is told already; what readers can reach is examined
		found.Report, err = check.Reach(ctx, c)
	}
	if err != nil {
		s.found.grave = []state.Need{{What: fmt.Sprintf("what serving rests on could not be checked: %v", err), Fix: "see what 'kproxy check' says"}}
		return
	}
	s.found = s.judge(c.Policy, found.Report)
	s.found.over = make(map[catalog.Name][]catalog.Name, len(found.Views))
	for _, v := range found.Views {
		s.found.over[v.Name] = v.Tables
	}
}

// judge turns findings into needs. It leaves out those about protected tables, which are in
// their conditions, and those that only prevent replication from starting.
func (s *Status) judge(policy catalog.Policy, report inspect.Report) findings {
	errs := check.Divide(policy, report.Errors())
	found := findings{views: make(map[string]string), broken: errs.Broken}
	for _, f := range errs.All {
		switch {
		case slices.Contains(check.SomeOnly, f.Code):
			found.alone = append(found.alone, state.Need{What: f.What, Fix: f.Fix})
		case slices.Contains(check.StartingOnly, f.Code):
		default:
			what := f.What
			if f.Table != (catalog.Name{}) {
				what = f.Table.String() + ": " + what
			}
			found.grave = append(found.grave, state.Need{What: "the audit fails, so that nothing is served: " + what, Fix: f.Fix})
		}
	}
	alone := func(kind, is string, name catalog.Name, report inspect.Report) {
		if len(report) > 0 {
			what, fix := check.Problem(report)
			found.alone = append(found.alone, state.Need{What: kind + " " + name.String() + " " + is + ": " + what, Fix: fix})
		}
	}
	for _, name := range policy.Readable {
		alone("readable", "is withdrawn", name, errs.Broken[name])
	}
	for _, name := range policy.Functions {
		alone("function", "cannot be called", name, errs.Functions[name])
	}
	for _, f := range report {
		if f.Code == check.CodeAuthQuery && f.Severity == inspect.Warning {
			found.alone = append(found.alone, state.Need{What: f.What, Fix: f.Fix})
		}
		if f.Code == views.CodeProblem {
			found.views[f.Table.String()] = f.Fix
		}
	}
	return found
}

// settle determines each table's condition, from the state of its release in the store, the
// findings of the check, what the asking process knows, and the answers of processes that
// serve. The states of views follow from those of their tables.
func (s *Status) settle(policy catalog.Policy, own map[catalog.Name]Condition) {
	for i, t := range policy.Tables {
		table := &s.Tables[i]
		table.Settle(policy.Released(t), s.found.broken[t.Table], own[t.Table])
		for _, p := range s.Clients {
			if table.State == StatePublished && slices.Contains(p.Unserved, table.Name) {
				table.State, table.Problem = state.Withdrawn, p.Process+" does not serve it"
				table.Fix = "see that process's log, and run 'kproxy reload', which makes it examine the table again"
				table.settleAudiences()
			}
		}
	}
	s.settleNew()
	s.settlePeople(policy)
	s.settleViews()
}

// settleNew explains tables that nothing publishes: the configuration names them, and the policy in
// force does not.
func (s *Status) settleNew() {
	var inForce catalog.Policy
	if s.inForce.Number == 0 || json.Unmarshal(s.inForce.Text, &inForce) != nil {
		return
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		named := slices.ContainsFunc(inForce.Tables, func(of catalog.TablePolicy) bool { return of.Table.String() == t.Name })
		if t.State == StateUnpublished && !named {
			t.Problem = fmt.Sprintf("the configuration names it, and policy number %d, which is in force, does not", s.inForce.Number)
			t.Fix = "run 'kproxy reload', which says why if it is refused"
		}
	}
}

// settlePeople says of halted tables what becomes of others of the same persons.
func (s *Status) settlePeople(policy catalog.Policy) {
	for _, p := range policy.People {
		var halted, shown []int
		for i, t := range s.Tables {
			switch member := slices.ContainsFunc(p.Names(), func(name catalog.Name) bool { return name.String() == t.Name }); {
			case member && t.State == StateHalted:
				halted = append(halted, i)
			case member && t.State == StatePublished:
				shown = append(shown, i)
			}
		}
		if len(shown) == 0 {
			continue
		}
		names := make([]string, len(shown))
		for i, at := range shown {
			names[i] = s.Tables[at].Name
		}
		for _, at := range halted {
			s.Tables[at].Problem += "; meanwhile readers have what was published before of " + strings.Join(names, ", ") + ", rows included that were deleted since"
		}
	}
}

// Settle determines the table's condition, from the state of its release in the store, the
// findings about it, and what the asking process knows.
func (t *Table) Settle(policy catalog.TablePolicy, found inspect.Report, own Condition) {
	is := conditionOf(policy, circumstances{release: t.State, problem: t.Problem, fix: t.Fix, withheld: t.withheld, expired: t.Expired, found: found})
	if is.State == StatePublished && own.NeedsOperator() {
		is = own
	}
	t.State, t.Problem, t.Fix = is.State, is.Problem, is.fix
	t.settleAudiences()
	if t.Updates == catalog.Immediate.String() {
		t.GivesAway = catalog.Immediate.GivesAway()
	}
}

// addProofs adds the last proofs, without their checks, which are for the console.
func (s *Status) addProofs(policy catalog.Policy, proofs map[catalog.Name]history.Proof) {
	s.Proofs = proofs
	for i, t := range policy.Tables {
		if p, proved := proofs[t.Table]; proved {
			proof := p.State(s.Tables[i].Shown)
			proof.Checks = nil
			s.Tables[i].Proof = proof
		}
	}
}
