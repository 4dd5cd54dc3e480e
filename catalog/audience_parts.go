package catalog

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Of a table whose constraints are over columns apart from others, an audience sees unions of the classes of each
// part (Publication.Components): its constraints are each over columns of one part, so that the parts stay what
// they are.

// Parts are the quasi-identifying columns that constraints tie together, in the policy's order; one part unless the
// table's own constraints are over columns apart from others.
func (t TablePolicy) Parts() (parts [][]string) {
	var names []string
	for _, c := range t.ByRole(QuasiIdentifying) {
		names = append(names, c.Name)
	}
	components, _ := privacy.Divide(withUpdates(t).Constraints, names)
	for _, attributes := range components {
		part := make([]string, len(attributes))
		for i, a := range attributes {
			part[i] = names[a]
		}
		parts = append(parts, part)
	}
	return parts
}

// Misplaced tells why an audience cannot have a constraint over these columns, and what to do; empty where it
// can.
func (t TablePolicy) Misplaced(spec privacy.Spec) (what, fix string) {
	parts := t.Parts()
	if len(parts) == 1 {
		if len(spec.Over) > 0 {
			return "the constraints of audiences are over all quasi-identifying columns", "remove over"
		}
		return "", ""
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = "over: [" + strings.Join(part, ", ") + "]"
	}
	fix = "write one for each part that it is meant for, with " + strings.Join(texts, " or ") + ", or some of these columns"
	if len(spec.Over) == 0 {
		return fmt.Sprintf("the constraints of table %s are over columns apart from others, and %v is over all of them", t.Table, spec), fix
	}
	within := func(part []string) bool {
		return !slices.ContainsFunc(spec.Over, func(name string) bool { return !slices.Contains(part, name) })
	}
	if !slices.ContainsFunc(parts, within) {
		return fmt.Sprintf("%v is over columns that the constraints of table %s are over apart from each other", spec, t.Table), fix
	}
	return "", ""
}

// checkParts refuses constraints of audiences that would divide the table into other parts, and hidden columns
// without which the constraints that readers are told of would.
func (b *builder) checkParts() {
	own := b.publication.Components()
	for _, a := range b.publication.Policy.Audiences {
		for _, spec := range a.Constraints {
			if what, fix := b.publication.Policy.Misplaced(spec); what != "" && len(own) > 1 {
				b.problem("", "is shown to audience "+a.Audience+": "+what, fix)
			}
		}
		if seen, shown := b.publication.For(a.Audience); shown && !reflect.DeepEqual(seen.Components(), own) {
			b.problem("", fmt.Sprintf("hides %s from audience %s, and nothing but a constraint on what is hidden ties some quasi-identifying columns to others", strings.Join(a.Hidden, ", "), a.Audience),
				"state a k constraint over these columns together")
		}
	}
}
