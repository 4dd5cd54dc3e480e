// Package status is the model of the state that everything is in. Clients' errors, 'kproxy
// status', metrics, probes and the console all read it.
package status

import (
	"fmt"
	"strings"

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

// Condition is what a protected table is to its readers and its operator. What is decided
// here is what clients, `kproxy status`, metrics, probes and the console go by.
type Condition struct {
	State string
	// Problem and fix are for the operator; empty where nothing is wrong.
	Problem, fix string
	// told is what readers are told who ask for the table; empty where they can read it.
	told string
}

// NeedsOperator tells whether nothing changes before somebody has done something.
func (c Condition) NeedsOperator() bool { return c.State == StateHalted || c.State == state.Withdrawn }

// circumstances are what a table's condition depends on.
type circumstances struct {
	// release is the state of the table's release, with what is wrong where it is halted.
	release      string
	problem, fix string
	// outdated is the number of the policy in force where this process has another one and
	// nothing of the table can be served by it; else 0.
	outdated int64
	// withheld is why nothing of the table can be published, empty where something is.
	withheld string
	// expired are the records that are withheld for good.
	expired int64
	// found are the errors that a check has found about the table.
	found inspect.Report
	// stopped is why replication has stopped, and restart what can be done; empty while it
	// has not.
	stopped, restart string
}

// conditionOf decides what a table is. Of several reasons it gives the one that is nearest to
// the table: that replication has halted it, what a check has found, and that all
// replication has stopped.
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
		// The same words whatever the figures: of a guarded table also whether there are any
		// records, as readers would learn when the first one came.
		why := "Its records cannot meet its constraints at the moment (%v)."
		if policy.Updates.Mode == catalog.Guarded {
			why = "It has too few records so far, or these cannot meet its constraints (%v)."
		}
		return Condition{
			State: state.Withheld, told: fmt.Sprintf(why, policy.Constraints),
			Problem: "nothing of it can be published: " + strings.ReplaceAll(of.withheld, "\n", "; "),
			fix:     fixWithheld(policy.Table, of.expired),
		}
	}
	return Condition{State: StatePublished}
}

// fixWithheld is what brings back a table of which nothing can be published. A guarded one
// tries no record twice: see anonymizer/lineage/DESIGN.md.
func fixWithheld(table catalog.Name, expired int64) string {
	if expired == 0 {
		return "wait for more records, or loosen the constraints; readers get an error meanwhile"
	}
	return "more records are published by themselves, in batches of their own; " + fixExpired(table.String()) +
		", once they meet the constraints or these were loosened; readers get an error meanwhile"
}

// fixExpired is what has records that are withheld for good published.
func fixExpired(tables string) string {
	return "those withheld are never tried again, changed or together with others, unless you run 'kproxy rebuild " + tables + " --new-lineage'"
}

// Conditions are the conditions of the protected tables to a process with this status of
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
		conditions[t.Table] = conditionOf(t, of)
	}
	return conditions
}
