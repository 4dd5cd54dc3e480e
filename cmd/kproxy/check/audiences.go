package check

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Audience is what holds for what an audience sees of a table, and for all that it and coarser audiences
// who pool what they have can tell: their classes are unions of its own.
type Audience struct {
	Table string `json:"table"`
	Name  string `json:"audience"`
	// Holds are the constraints that every class satisfies, those on hidden columns among them.
	Holds  []string `json:"holds"`
	Hidden []string `json:"hidden,omitempty"`
}

func audiencesOf(policy catalog.Policy) (all []Audience) {
	for _, t := range policy.Tables {
		for _, a := range t.Audiences {
			one := Audience{Table: t.Table.String(), Name: a.Audience, Hidden: a.Hidden}
			for _, spec := range t.ConstraintsFor(a.Audience) {
				one.Holds = append(one.Holds, spec.String())
			}
			all = append(all, one)
		}
	}
	return all
}

// writeAudiences tells what holds for each audience, and when readers of several pool what they have.
func (e Report) writeAudiences(b *strings.Builder) {
	if len(e.Audiences) == 0 {
		return
	}
	b.WriteString("audiences\n")
	for _, a := range e.Audiences {
		hidden := ""
		if len(a.Hidden) > 0 {
			hidden = ", without " + strings.Join(a.Hidden, ", ")
		}
		fmt.Fprintf(b, "  %s sees %s by %s%s; so do coarser audiences that pool what they have with it\n", a.Name, a.Table, strings.Join(a.Holds, ", "), hidden)
	}
	b.WriteString("  who has the release of tables as well knows what that tells, and no more\n")
}
