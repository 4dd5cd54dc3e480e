package views

import (
	"cmp"

	"github.com/kproxy/kproxy/catalog"
)

// unread says what keeps the definition of a relation, or of one under it, from being read.
func (p *planner) unread(r catalog.ReadableRelation) string {
	blocker := r.Unread
	for _, name := range r.Reads {
		blocker = cmp.Or(blocker, p.unread(p.readables[name]))
	}
	return blocker
}

// unread is the plan for a relation of which it is not known whether it is what was accepted.
func (plan viewPlan) unread(blocker string) viewPlan {
	plan.problem = "its definition cannot be read now, so that it is not known what it shows: " + blocker
	plan.fix = "end that transaction or let it end; kproxy looks again every few seconds"
	return plan.digested()
}
