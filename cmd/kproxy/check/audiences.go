package check

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
)

// checkAudiences warns of reader roles in no audience where there are audiences: they read the finest
// release, and so do those of an audience that was removed.
func checkAudiences(c *config.Config) (report inspect.Report) {
	if len(c.Policy.Audiences) == 0 {
		return nil
	}
	for _, r := range c.Upstream.Readers {
		if c.Policy.AudienceOf(r.Connection.User) == "" {
			report = append(report, inspect.Finding{
				Severity: inspect.Warning, Code: codeNoAudience,
				What: fmt.Sprintf("the reader %s is in no audience: its users read the finest release, as those of upstream.reader", r.Name),
				Fix:  "if they are not to, name the reader in an audience, or take it out of upstream.readers",
			})
		}
	}
	return report
}

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
