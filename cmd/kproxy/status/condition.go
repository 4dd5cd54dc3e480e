// Package status is the model of the state that everything is in. Clients' errors, 'kproxy
// status', metrics, probes and the console all read it.
package status

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

// States of a release.
var (
	StateUnpublished = ksync.Unpublished.String()
	StatePublished   = ksync.Published.String()
	StateHalted      = ksync.Halted.String()
)

// Condition is the state of a protected table for its readers and its operator. Clients,
// 'kproxy status', metrics, probes and the console all use it.
type Condition struct {
	State string
	// Problem and fix are for the operator. They are empty if nothing is wrong.
	Problem, fix string
	// told is the reason that readers get. It is empty if they can read the table.
	told string
}

// NeedsOperator reports whether the table stays as it is until the operator acts.
func (c Condition) NeedsOperator() bool { return c.State == StateHalted || c.State == state.Withdrawn }

// Tell notes in a table whose release is not known why a process that knows serves nothing of it.
func (c Condition) Tell(t *state.Table) {
	if c.NeedsOperator() {
		t.State, t.Problem, t.Fix = c.State, c.Problem, c.fix
	}
}

// circumstances determine a table's condition.
type circumstances struct {
	// release is the state of the table's release, with what is wrong where it is halted.
	release      string
	problem, fix string
	// outdated is the number of the policy in force if this process has another policy under
	// which it cannot serve the table; otherwise 0.
	outdated int64
	// withheld is why nothing of the table can be published; otherwise empty.
	withheld string
	// expired counts the records that are withheld for good.
	expired int64
	// found are the errors that a check has found about the table.
	found inspect.Report
	// stopped is why replication has stopped, and restart how to start it again. Both are
	// empty while it runs.
	stopped, restart string
}

// conditionOf determines a table's condition. Of several reasons, it gives the most specific:
// replication has halted the table, a check has found something, all replication has stopped.
func conditionOf(policy catalog.TablePolicy, of circumstances) Condition {
	switch {
	case of.release == StateHalted && of.outdated != 0:
		return Condition{State: StateHalted, Problem: of.problem, fix: of.fix, told: fmt.Sprintf(outdatedHere, of.outdated)}
	case of.release == StateHalted:
		return Condition{State: StateHalted, Problem: of.problem, fix: of.fix, told: notInStep}
	case len(of.found) > 0:
		what, fix := check.Problem(of.found)
		return Condition{State: state.Withdrawn, Problem: what, fix: fix, told: notInStep}
	case of.stopped != "":
		return Condition{State: state.Withdrawn, Problem: "replication has stopped: " + of.stopped, fix: of.restart, told: notInStep}
	case of.release != StatePublished:
		return Condition{State: StateUnpublished, told: views.BeingPublished}
	case of.withheld != "":
		// The text does not depend on the figures. For a guarded table, it does not say whether
		// there are records either: readers would learn when the first one came.
		why := "Its records cannot meet its constraints at the moment (%s)."
		problem := "nothing of it can be published: " + strings.ReplaceAll(of.withheld, "\n", "; ")
		if policy.Updates.Mode == catalog.Guarded {
			why = "It has too few records so far, or these cannot meet its constraints (%s)."
			problem += " (" + listed(policy.Constraints) + "; 'kproxy check' says which of these all records violate)"
		}
		return Condition{
			State: state.Withheld, told: fmt.Sprintf(why, listed(policy.Constraints)),
			Problem: problem,
			fix:     fixWithheld(policy.Table, of.expired),
		}
	}
	return Condition{State: StatePublished}
}

// fixWithheld says how a withheld table comes back. A guarded table tries no record twice: see
// anonymizer/lineage/DESIGN.md.
func fixWithheld(table catalog.Name, expired int64) string {
	if expired == 0 {
		return "wait for more records, or loosen the constraints; readers get an error meanwhile"
	}
	return "more records are published by themselves, in batches of their own; " + fixExpired(table.String()) +
		", once they meet the constraints or these were loosened; readers get an error meanwhile"
}

// fixExpired says how records that are withheld for good can be published.
func fixExpired(tables string) string {
	return "those withheld are never tried again, changed or together with others, unless you run 'kproxy rebuild " + tables + " --new-lineage'"
}

// Conditions returns the conditions of the protected tables in a process with this status of
// replication and these findings.
func Conditions(policy catalog.Policy, status ksync.Status, broken map[catalog.Name]inspect.Report) map[catalog.Name]Condition {
	conditions := make(map[catalog.Name]Condition, len(policy.Tables))
	for _, t := range policy.Tables {
		table := status.Tables[t.Table]
		of := circumstances{
			release: table.State.String(), problem: table.Problem, fix: table.Fix, outdated: table.Outdated,
			withheld: table.Reason, expired: int64(table.Expired), found: broken[t.Table],
		}
		if status.State == ksync.Stopped {
			of.stopped, of.restart = status.Reason, status.Fix
			if of.stopped == "" {
				of.stopped = "the log says why"
			}
		}
		conditions[t.Table] = conditionOf(policy.Released(t), of)
	}
	return conditions
}

func listed(constraints []privacy.Spec) string {
	texts := make([]string, len(constraints))
	for i, c := range constraints {
		texts[i] = c.String()
	}
	return strings.Join(texts, ", ")
}
