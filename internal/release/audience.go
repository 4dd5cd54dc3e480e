package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
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
	attributes := s.attributes()
	if attributes, err = s.whole.AttributesFor(audience, attributes); err != nil {
		return nil, err
	}
	components, _ := set.Components(len(attributes))
	if !slices.EqualFunc(components, s.parts, func(c privacy.Component, p anonymizer.Part) bool { return slices.Equal(c.Attributes, p.Attributes) }) {
		return nil, fmt.Errorf("the constraints of audience %s divide the table into other parts than its own", audience)
	}
	made := &Single{Rows: newRows(publication, s.file), Audience: audience, Constraints: set, table: s.table, whole: s.whole, finest: s.finest}
	for i, c := range components {
		if err := made.unite(ctx, s.parts[i], i, c.Constraints, attributes, o); err != nil {
			return nil, err
		}
	}
	made.arrange()
	if made.Len() == 0 {
		return nil, &InfeasibleError{fmt.Errorf("for audience %s: the classes together do not meet the constraints", audience)}
	}
	made.measure()
	return made, nil
}

// unite adds a part, of that of the readers before.
func (s *Single) unite(ctx context.Context, finer anonymizer.Part, number int, set privacy.ConstraintSet, attributes []anonymizer.Attribute, o Options) error {
	if err := set.Feasible(finer.Table.Population().Summary); err != nil {
		return &InfeasibleError{fmt.Errorf("for audience %s: %w", s.Audience, err)}
	}
	part := finer
	part.Constraints = set
	table, release := s.limited(finer, attributes)
	part.Table = table
	var err error
	if part.Release, err = nested.Unite(ctx, table, release, set, anonymizer.Options{Seed: o.Seed, Progress: o.Progress}); err != nil {
		return err
	}
	labels := nested.Labels(part.Table, s.finest[number], part.Release)
	s.addLabeled(part.Attributes, part.Table, part.Release.Classes, func(class int) []hierarchy.Generalization { return labels[class] })
	s.parts = append(s.parts, part)
	return nil
}

// attributes are those of the whole table, as the release shows them.
func (s *Single) attributes() []anonymizer.Attribute {
	all := slices.Clone(s.table.Records.Attributes())
	for _, p := range s.parts {
		for i, a := range p.Attributes {
			all[a] = p.Table.Attributes()[i]
		}
	}
	return all
}

// limited is the table of a part as an audience sees it, which sees these attributes of the whole table, and the release of the
// readers before it. Classes that look alike to the audience, and not to these readers, are in the order of what these see: Unite
// breaks ties by the order.
func (s *Single) limited(finer anonymizer.Part, attributes []anonymizer.Attribute) (*anonymizer.Table, *anonymizer.Release) {
	if !slices.ContainsFunc(s.whole.Policy.Audiences, func(a catalog.AudiencePolicy) bool { return len(a.Columns) > 0 }) {
		return finer.Table, finer.Release
	}
	own := make([]anonymizer.Attribute, len(finer.Attributes))
	for i, a := range finer.Attributes {
		own[i] = attributes[a]
	}
	looks := make(map[int32]string, len(finer.Release.Classes))
	for _, class := range finer.Release.Classes {
		looks[class[0]] = fmt.Sprint(finer.Table.Generalize(class))
	}
	ordered := &anonymizer.Release{Classes: slices.Clone(finer.Release.Classes), Withheld: finer.Release.Withheld}
	slices.SortStableFunc(ordered.Classes, func(x, y anonymizer.EquivalenceClass) int { return cmp.Compare(looks[x[0]], looks[y[0]]) })
	return finer.Table.ShownBy(own), ordered
}
