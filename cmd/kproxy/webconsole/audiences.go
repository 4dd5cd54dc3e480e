package webconsole

import (
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/state"
)

// audiencesOf are the audiences of a configuration, with who belongs to each.
func audiencesOf(c *config.Config) (all []console.Audience) {
	for _, a := range c.Policy.Audiences {
		all = append(all, console.Audience{Name: a.Name, Members: membersOf(c, a.Name)})
	}
	return all
}

// membersOf are the readers and the users of an audience.
func membersOf(c *config.Config, audience string) console.Members {
	m := console.Members{Readers: []string{}, Users: []string{}, LookedUp: c.AuthQuery.Query != "" && gate.AudienceOf(c, c.AuthQuery.Reader) == audience}
	for _, r := range c.Upstream.Readers {
		if gate.AudienceOf(c, r.Name) == audience {
			m.Readers = append(m.Readers, r.Name)
		}
	}
	for _, u := range c.Users {
		if gate.AudienceOf(c, u.Reader) == audience {
			m.Users = append(m.Users, u.Name)
		}
	}
	return m
}

// seenOf is what the audiences of a table see of it, by what is known of the table.
func seenOf(c *config.Config, policy catalog.TablePolicy, t state.Table) (all []console.Seen) {
	for _, of := range policy.Seeing() {
		seen := console.Seen{
			Audience: state.Audience{Name: of.Audience, State: t.State}, Constraints: []string{}, Hidden: append([]string{}, of.Hidden...),
			Members: membersOf(c, of.Audience),
		}
		if t.State == status.StatePublished {
			seen.State = status.StateUnpublished // unless it is known
		}
		if i := slices.IndexFunc(t.Audiences, func(a state.Audience) bool { return a.Name == of.Audience }); i >= 0 {
			seen.Audience = t.Audiences[i]
		}
		held := policy
		held.Constraints = policy.ConstraintsFor(of.Audience)
		seen.Constraints = append(seen.Constraints, constraintTexts(c.Policy, held)...)
		all = append(all, seen)
	}
	return all
}

// measureSeen adds what is kept of what audiences see, where they see something.
func measureSeen(all []console.Seen, kept map[string]history.AudienceFigures) {
	for i := range all {
		seen := &all[i]
		figures, known := kept[seen.Name]
		if !known || !seen.Sees() {
			continue
		}
		if figures.Losses != nil {
			seen.Loss = &figures.Losses.Whole
		}
		if n := len(figures.Sizes); n > 0 {
			seen.Smallest, seen.Largest = figures.Sizes[0].Rows, figures.Sizes[n-1].Rows
		}
	}
}
