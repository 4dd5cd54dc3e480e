package release

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/nested"
)

// ForAudience makes the release for an audience of the one for the audience before it, or for the
// table's own readers, which s is. Errors: an *InfeasibleError, and the context's.
func (s *Single) ForAudience(ctx context.Context, audience string, o Options) (*Single, error) {
	publication, shown := s.whole.For(audience)
	if !shown {
		return nil, fmt.Errorf("the policy shows audience %q nothing", audience)
	}
	set, err := s.whole.ConstraintSetFor(audience, s.table.Schema)
	if err != nil {
		return nil, err
	}
	part := s.parts[0] // audiences are for tables of one
	if err := set.Feasible(part.Table.Population().Summary); err != nil {
		return nil, &InfeasibleError{fmt.Errorf("for audience %s: %w", audience, err)}
	}
	part.Constraints = set
	part.Release, err = nested.Unite(ctx, part.Table, part.Release, set, anonymizer.Options{Seed: o.Seed, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	made := &Single{Rows: newRows(publication, s.file), Audience: audience, Constraints: set, table: s.table, parts: []anonymizer.Part{part}, whole: s.whole, finest: s.finest}
	labels := nested.Labels(part.Table, s.finest, part.Release)
	made.addLabeled(part.Attributes, part.Table, part.Release.Classes, func(class int) []hierarchy.Generalization { return labels[class] })
	made.arrange()
	if made.Len() == 0 {
		return nil, &InfeasibleError{fmt.Errorf("for audience %s: the classes together do not meet the constraints", audience)}
	}
	made.measure()
	return made, nil
}
