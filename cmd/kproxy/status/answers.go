package status

import (
	"context"
	"fmt"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

// leastHeld is for how long a session has been there before it counts as left over: a process that has
// just begun to apply may not answer questions yet.
const leastHeld = 5 * time.Second

// findDeadApplier finds out whether the session that holds the lock for applying is that of a process that
// has ended: all that run have answered, and none of them knows it.
func (s *Status) findDeadApplier(ctx context.Context, on upstream.Querier, slot string) error {
	if !s.unclaimed() {
		return nil
	}
	still, err := ksync.FindHolder(ctx, on, slot)
	if err != nil {
		return err
	}
	if still != nil && still.PID == s.holder.PID {
		s.holder, s.Replication.Applier = s.holder.Dead(), nil
	}
	return nil
}

func (s *Status) unclaimed() bool {
	h := s.holder
	if h == nil || !h.Applies || s.Silent > 0 || len(s.Clients) == 0 || h.Since == nil || s.At.Sub(*h.Since) < leastHeld {
		return false
	}
	for _, c := range s.Clients {
		if c.Session == nil || int64(*c.Session) == int64(h.PID) {
			return false
		}
	}
	return true
}

// addAnswers adds what processes have said of tables and of readers.
func (s *Status) addAnswers() {
	for i := range s.Tables {
		for _, c := range s.Clients {
			if w := c.Work[s.Tables[i].Name]; w != nil && s.Tables[i].State != StateHalted {
				s.Tables[i].Work = w
			}
		}
	}
	s.Refused = s.refusal()
}

// refusal is what every running process says of readers, since the first one of them refuses readers. The
// check of this command says more of the guarantees than processes may.
func (s *Status) refusal() *state.Refusal {
	var all *state.Refusal
	for _, c := range s.Clients {
		if c.Refusal == nil {
			return nil
		}
		if all == nil || c.Refusal.Since.Before(all.Since) {
			all = c.Refusal
		}
	}
	if all != nil && len(s.found.grave) > 0 {
		grave := s.found.grave[0]
		return &state.Refusal{Since: all.Since, Why: all.Why + ": " + grave.What, Fix: grave.Fix}
	}
	return all
}

// refusalNeeds are about readers who are refused. Where one process serves, those that do not are named.
func (s *Status) refusalNeeds() []state.Need {
	if r := s.Refused; r != nil {
		return []state.Need{{What: "readers are refused since " + r.Since.Format(time.RFC3339) + ": " + r.Why, Fix: r.Fix}}
	}
	var needs []state.Need
	for _, c := range s.Clients {
		if r := c.Refusal; r != nil {
			needs = append(needs, state.Need{What: fmt.Sprintf("kproxy (%s) serves no new session since %s: %s", c.Process, r.Since.Format(time.RFC3339), r.Why), Fix: r.Fix})
		}
	}
	return needs
}

// workNeeds name the tables that others keep from being made ready.
func (s *Status) workNeeds() []state.Need {
	var needs []state.Need
	for _, t := range s.Tables {
		if w := t.Work; w != nil && w.Problem != "" {
			needs = append(needs, state.Need{What: fmt.Sprintf("table %s is not ready: %s", t.Name, w.Problem), Fix: w.Fix})
		}
	}
	return needs
}
