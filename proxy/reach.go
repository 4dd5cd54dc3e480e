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
// and shows, would have to be known as it is of Execute.
func (s *session) reach(names []string) (*refusal, error) {
	if len(names) == 0 || !s.holding {
		return nil, nil
	}
	// Earlier segments may fail, and leave what they would have closed.
	if s.pipeline.behind() {
		if err := s.await(s.pipeline.waitForEnd); err != nil {
			return nil, err
		}
	}
	if s.pipeline.holds(names) {
		return newRefusal(errReached, stateFeatureNotSupported), nil
	}
	return nil, nil
}

// executes prepares for an Execute, unless it is refused.
func (s *session) executes(n *note) (*refusal, error) {
	if !s.reaching {
		return nil, nil
	}
	if s.pipeline.behind() {
		if err := s.await(s.pipeline.waitForEnd); err != nil {
			return nil, err
		}
	}
	return s.reach(s.pipeline.uses(n.portal))
}

// holds tells whether a statement or a portal that is remembered has one of the names,
// if all succeeds that was sent since the last Sync.
func (p *pipeline) holds(names []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if of := p.foresee().portal(portal).prepared; of != nil {
		return of.uses
	}
	return nil
}
