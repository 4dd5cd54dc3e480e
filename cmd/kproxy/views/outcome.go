package views

// viewOutcome is the state of a listed view over protected tables. It is published if there is no
// problem.
type viewOutcome struct {
	problem, fix string // for the operator
	// waits says that the view is published as soon as what it reads is, or readers release an
	// earlier definition.
	waits bool
	// standIn says that what is published is the stand-in of a readable relation.
	standIn bool
}

// Fixes of views.
const (
	// FixDefinition suits a definition that the database refuses on published tables.
	FixDefinition = "change its definition so that it works with the columns and types that tables publish ('kproxy check' and \\d show them), or take it off readable"
	fixSetup      = "run 'kproxy setup'"
)

var (
	// held is the outcome for a view whose earlier form is held by readers.
	held = viewOutcome{problem: "readers' transactions hold an earlier form of it", fix: "nothing: their sessions are ended", waits: true}
	// pending is the outcome for a view that does not exist yet.
	pending = viewOutcome{problem: "it is being published", fix: "nothing", waits: true}
	// oldStore is the outcome for all views while setup has to be run again.
	oldStore = viewOutcome{problem: "the private store was made by an earlier version, which did not keep what was accepted of readable relations and views", fix: "run 'kproxy setup', which keeps what is there"}
	// nameTaken is the outcome for a view that has the name of a table's release.
	nameTaken = viewOutcome{problem: "a table of its name was protected, and its release is still there", fix: "run 'kproxy reload'", waits: true}
)

// passes reports whether the obstacle disappears soon.
func (o viewOutcome) passes() bool { return o == held || o == pending }

// outcomeOf returns the outcome before a plan is carried out: readers see the earlier form of a
// view until it is created again.
func outcomeOf(plan viewPlan, s storedView) viewOutcome {
	if outcome := s.outcome(); plan.problem == "" && outcome.problem == "" && outcome.standIn != plan.standIn {
		return pending
	}
	switch {
	case plan.problem != "":
		return viewOutcome{problem: plan.problem, fix: plan.fix, waits: plan.waits}
	case s.problem != "" && !s.refused(plan):
		return pending
	default:
		return s.outcome()
	}
}

// outcome returns the outcome that the store records.
func (s storedView) outcome() viewOutcome {
	switch {
	case s.problem != "" && s.digest == "":
		return viewOutcome{problem: s.problem, fix: fixSetup}
	case s.problem != "":
		return viewOutcome{problem: s.problem, fix: FixDefinition}
	case !s.alive:
		return pending
	default:
		return viewOutcome{standIn: s.accepted != nil && !s.accepted.OverProtected}
	}
}
