package sync

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Audiences see releases of a table that are coarser than its own: each is a packed release of
// groups of classes (anonymizer/nested), of its own rows and with a published view of its own, which
// its role alone may read. Groups follow the classes at each settling, so that all releases of a table
// change in one transaction; their members are held once, for all.

// audience is one to whom a table is released, in the order from the finest to the coarsest.
type audience struct {
	name        string
	publication catalog.Publication
	constraints privacy.ConstraintSet // all that hold, those of the table among them
}

// audiencesOf are the audiences that see a table.
func audiencesOf(p catalog.Publication, schema privacy.Schema) (all []audience, err error) {
	for _, of := range p.Policy.Audiences {
		a := audience{name: of.Audience}
		a.publication, _ = p.For(of.Audience)
		if a.constraints, err = p.ConstraintSetFor(of.Audience, schema); err != nil {
			return nil, fmt.Errorf("audience %s: %w", of.Audience, err)
		}
		all = append(all, a)
	}
	return all, nil
}

func (a *audience) view() publishedView { return publishedView{&a.publication} }

// relation names one of the tables that a generation has for the audience.
func (a *audience) relation(kind string, generation int64) string {
	return storeTable(kind+"_"+a.name, generation).SQL()
}

// unions are groups of classes that satisfy the constraints of an audience.
type unions interface {
	classSource
	// Settle has them follow the classes that they are made of, which have changed so.
	Settle(ctx context.Context, finer incremental.Changes) (incremental.Changes, error)
	// Feasible tells why there are none.
	Feasible() error
}

// unitedRelease is the packed release of an audience.
type unitedRelease struct {
	*packedRelease
	groups  unions
	changes incremental.Changes // at the last settling
}

func (s *immediate) addAudiences() {
	finer := classSource(s.packed.classes)
	for i := range s.t.layout.audiences {
		a := &s.t.layout.audiences[i]
		first := s.parts[0].part
		groups := newGroups(finer, a.constraints)
		release := newPackedRelease(s.t, newPart(0, first.attributes, a.constraints, a.publication), a.constraints.K(), groups)
		release.audience = a
		s.audiences = append(s.audiences, &unitedRelease{packedRelease: release, groups: groups})
		finer = groups
	}
}

// settleAudiences has the groups of all audiences follow the changes of the classes.
func (s *immediate) settleAudiences(ctx context.Context) error {
	changes := s.settled
	for _, a := range s.audiences {
		var err error
		if changes, err = a.groups.Settle(ctx, changes); err != nil {
			return fmt.Errorf("settling the groups of %s for %s: %w", s.t.layout.name(), a.audience.name, err)
		}
		a.changes = a.changes.Then(changes)
	}
	return nil
}

// packedReleases are those of the table's own readers and of its audiences; none where rows hold
// the values.
func (s *immediate) packedReleases() (all []*packedRelease) {
	if s.packed == nil {
		return nil
	}
	all = []*packedRelease{s.packed}
	for _, a := range s.audiences {
		all = append(all, a.packedRelease)
	}
	return all
}

// roleOf is the role of PostgreSQL that reads what is published for an audience.
func (c *Config) roleOf(audience string) string {
	place := slices.IndexFunc(c.Whole.Audiences, func(a catalog.Audience) bool { return a.Name == audience })
	if place < 0 || len(c.Whole.Audiences[place].Roles) == 0 {
		return ""
	}
	return c.Whole.Audiences[place].Roles[0]
}
