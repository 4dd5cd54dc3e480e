package daemon

// viewOutcome is where one listed view over protected tables stands. It is published
// where there is no problem.
type viewOutcome struct {
	problem, fix string // for the operator
	// waits says that the view is published as soon as what it reads is, or readers let
	// go of an earlier definition.
	waits bool
}

// What mends a view.
const (
	// fixDefinition suits a definition that the database refuses on published tables.
	fixDefinition = "change its definition so that it works with the columns and types that tables publish ('kproxy check' and \\d show them), or take it off readable"
	fixSetup      = "run 'kproxy setup'"
)

var (
	// held is the outcome for a view of whose earlier form readers have not let go.
	held = viewOutcome{problem: "readers' transactions hold an earlier form of it", fix: "nothing: their sessions are ended", waits: true}
	// pending is the outcome for a view that is not there yet.
	pending = viewOutcome{problem: "it is being published", fix: "nothing", waits: true}
	// nameTaken is the outcome for a view that has the name of a table's release.
	nameTaken = viewOutcome{problem: "a table of its name was protected, and its release is still there", fix: "run 'kproxy reload'", waits: true}
)

// outcomeOf is where a view stands before anything is done: an earlier form of it is shown
// until it is made anew.
func outcomeOf(plan viewPlan, s storedView) viewOutcome {
	switch {
	case plan.problem != "":
		return viewOutcome{problem: plan.problem, fix: plan.fix, waits: plan.waits}
	case s.refused(plan) && s.digest == "":
		return viewOutcome{problem: s.problem, fix: fixSetup}
	case s.refused(plan):
		return viewOutcome{problem: s.problem, fix: fixDefinition}
	case !s.alive:
		return pending
	default:
		return viewOutcome{}
	}
}
