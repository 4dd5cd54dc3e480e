package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/catalog"
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
	var finer *anonymizer.Release
	if part.Table, finer, err = s.limited(audience); err != nil {
		return nil, err
	}
	part.Release, err = nested.Unite(ctx, part.Table, finer, set, anonymizer.Options{Seed: o.Seed, Progress: o.Progress})
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

// limited is the table as an audience sees it, and the release of the readers before it. Classes that look alike to
// the audience, and not to these readers, are in the order of what these see: Unite breaks ties by the order.
func (s *Single) limited(audience string) (*anonymizer.Table, *anonymizer.Release, error) {
	table, finer := s.parts[0].Table, s.parts[0].Release
	if !slices.ContainsFunc(s.whole.Policy.Audiences, func(a catalog.AudiencePolicy) bool { return len(a.Columns) > 0 }) {
		return table, finer, nil
	}
	attributes, err := s.whole.AttributesFor(audience, table.Attributes())
	if err != nil {
		return nil, nil, err
	}
	looks := make(map[int32]string, len(finer.Classes))
	for _, class := range finer.Classes {
		looks[class[0]] = fmt.Sprint(table.Generalize(class))
	}
	ordered := &anonymizer.Release{Classes: slices.Clone(finer.Classes), Withheld: finer.Withheld}
	slices.SortStableFunc(ordered.Classes, func(x, y anonymizer.EquivalenceClass) int { return cmp.Compare(looks[x[0]], looks[y[0]]) })
	return table.ShownBy(attributes), ordered, nil
}
