package proxy

import "errors"

// errReached refuses what would run a statement of the protocol unseen.
var errReached error = reached{errors.New("EXECUTE, FETCH and MOVE do not reach statements and portals of the protocol that change the session or show plans")}

type reached struct{ error }

// Hint tells what to do instead.
func (reached) Hint() string {
	return "Send Execute for it, or run its text as a statement of its own."
}

// reach returns the refusal of a text that is about to run and that uses prepared
// statements or portals by these names in SQL, if one of them is held: what that does,
// and shows, would have to be known as it is of Execute. If that is too early, the
// message waits.
func (r *relay) reach(names []string) (refused *refusal, known bool) {
	if len(names) == 0 || !r.holding {
		return nil, true
	}
	// Earlier segments may fail, and leave what they would have closed.
	if r.pipeline.behind() {
		r.until = r.pipeline.ended
		return nil, false
	}
	if r.pipeline.holds(names) {
		return newRefusal(errReached, stateFeatureNotSupported), true
	}
	return nil, true
}

// executes prepares for an Execute, unless it is refused or has to wait.
func (r *relay) executes(n *note) (refused *refusal, known bool) {
	if !r.reaching {
		return nil, true
	}
	if r.pipeline.behind() {
		r.until = r.pipeline.ended
		return nil, false
	}
	return r.reach(r.pipeline.uses(n.portal))
}

// holds tells whether a statement or a portal that is remembered has one of the names,
// if all succeeds that was sent since the last Sync.
func (p *pipeline) holds(names []string) bool {
	h := p.foresee()
	for _, name := range names {
		if h.statement(name) != nil || h.portal(name).prepared != nil {
			return true
		}
	}
	return false
}

// uses are the names that the statement of a portal uses in SQL.
func (p *pipeline) uses(portal string) []string {
	if of := p.foresee().portal(portal).prepared; of != nil {
		return of.uses
	}
	return nil
}
