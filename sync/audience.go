package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Audiences see releases of a table that are coarser than its own: each is a packed release of
// groups of classes (anonymizer/nested), of its own rows and with a published view of its own, which
// its role alone may read. Groups follow the classes at each settling, so that all releases of a table
// change in one transaction; their members are held once, for all.

// audience is one to whom a table is released, in the order from the finest to the coarsest.
type audience struct {
	name, role  string
	unseen      bool   // it does not see the table, of which a release is made for those after it
	store       string // what its tables are called by
	removed     bool   // nobody sees it: it has no view
	publication catalog.Publication
	kept        catalog.Publication   // with all columns that its rows have: see keptOf
	constraints privacy.ConstraintSet // all that hold, those of the table among them
	attributes  []anonymizer.Attribute
}

// audiencesOf are the audiences that see a table.
func audiencesOf(p catalog.Publication, schema privacy.Schema, attributes []anonymizer.Attribute) (all []audience, err error) {
	for _, of := range p.Policy.Audiences {
		if attributes, err = p.AttributesFor(of.Audience, attributes); err != nil {
			return nil, err
		}
		a := audience{name: of.Audience, role: of.Role, unseen: of.Unseen, store: of.StoredAs(), removed: of.IsRemoved(), attributes: attributes}
		a.publication, _ = p.MadeFor(of.Audience)
		a.kept = keptOf(a.publication, p)
		if a.constraints, err = p.ConstraintSetFor(of.Audience, schema); err != nil {
			return nil, fmt.Errorf("audience %s: %w", of.Audience, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// keptOf is a publication, of what is published of a table, with the columns that its rows have in the store. The rows of guarded tables
// have all columns that anybody sees: they are copied from release to release, and show what they did when they were made.
func keptOf(seen, p catalog.Publication) catalog.Publication {
	if p.Policy.Updates.Mode != catalog.Guarded {
		return seen
	}
	return p.Kept(seen.Policy.Audience)
}

func (a *audience) view() publishedView { return publishedView{&a.publication} }

// relation names one of the tables that a generation has for the audience.
func (a *audience) relation(kind string, generation int64) string {
	return storeTable(kind+"_"+a.store, generation).SQL()
}

// groupColumn is the column of the records of tables that are not packed with the group of the class of a part that
// a record is in.
func (a *audience) groupColumn(part int) string { return catalog.ClassColumn(part) + "_" + a.name }

// unitedRelease is the release of an audience.
type unitedRelease struct {
	audience *audience
	groups   []*nested.Groups      // of the classes of each part
	changes  []incremental.Changes // likewise, at the last settling
	packed   *packedRelease        // nil where rows hold the values
	crossed  *crossedRelease       // nil where they are packed
}

// addAudiences adds an empty release for each audience.
func (s *immediate) addAudiences(firstClass incremental.ClassID, seed uint64) error {
	finer := make([]nested.Finer, len(s.parts))
	for i, p := range s.parts {
		finer[i] = p.partition
	}
	for i := range s.t.layout.audiences {
		a := &s.t.layout.audiences[i]
		parts, err := a.divide(s.t.parts)
		if err != nil {
			return err
		}
		release := &unitedRelease{audience: a, changes: make([]incremental.Changes, len(parts))}
		for j, p := range parts {
			attributes := make([]anonymizer.Attribute, len(p.attributes))
			for k, attribute := range p.attributes {
				attributes[k] = a.attributes[attribute]
			}
			groups := nested.NewGroups(finer[j], attributes, p.constraints, nested.Options{Seed: seed, FirstGroup: firstClass, Subjects: s.t.layout.subject >= 0})
			release.groups, finer[j] = append(release.groups, groups), groups
		}
		if s.packed != nil {
			release.packed = newPackedRelease(s.t, parts[0], a, a.constraints.K(), release.groups[0])
		} else {
			release.crossed = s.crossedFor(release, parts)
		}
		s.audiences = append(s.audiences, release)
	}
	return nil
}

// divide gives what the audience sees of the table's parts, with its constraints on each.
func (a *audience) divide(parts []*part) ([]*part, error) {
	if len(parts) == 1 {
		return []*part{newPart(0, parts[0].attributes, a.constraints, a.publication)}, nil
	}
	components, _ := a.constraints.Components(len(a.attributes))
	if !slices.EqualFunc(components, parts, func(c privacy.Component, p *part) bool { return slices.Equal(c.Attributes, p.attributes) }) {
		return nil, internal(fmt.Errorf("the constraints of audience %s divide %s into other parts than its own", a.name, a.publication.Policy.Table))
	}
	all := make([]*part, len(parts))
	for i, c := range components {
		all[i] = newPart(i, c.Attributes, c.Constraints, a.publication)
	}
	return all, nil
}

// settleAudiences has the groups of all audiences follow the changes of the classes of each part. A row needs a group
// in every part: where one part's records together violate its constraints, nothing is published of any.
func (s *immediate) settleAudiences(ctx context.Context, changes []incremental.Changes) (err error) {
	for _, a := range s.audiences {
		withheld := slices.ContainsFunc(a.groups, func(g *nested.Groups) bool { return !g.Satisfiable() })
		for i, g := range a.groups {
			if withheld {
				changes[i] = g.Withhold(changes[i])
			} else if changes[i], err = g.Settle(ctx, changes[i]); err != nil {
				return fmt.Errorf("settling the groups of %s for %s: %w", s.t.layout.name(), a.audience.name, err)
			}
			a.changes[i] = a.changes[i].Then(changes[i])
		}
	}
	return nil
}

// loadAudiences takes over the groups that the packed rows of audiences tell of.
func (s *immediate) loadAudiences(ctx context.Context, from *storeView) error {
	classOf := s.parts[0].partition.ClassOf
	for _, a := range s.audiences {
		sections, finer, groups := loadedSections{}, classOf, a.groups[0]
		err := readPacked(ctx, from.first, a.packed.classesQuery(), func(row packedKey, ids []incremental.RecordID) error {
			sections.note(a.packed, row, ids)
			for _, id := range ids {
				class := finer(id)
				group := groups.GroupOf(class)
				if group == row.class {
					continue
				}
				if err := groups.Load(class, row.class); err != nil {
					return internal(fmt.Errorf("record %d of group %d for %s: %w", id, row.class, a.audience.name, err))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		sections.put(a.packed)
		classOf = func(id incremental.RecordID) incremental.ClassID { return groups.GroupOf(finer(id)) }
	}
	return nil
}

// audienceStatus is empty where there are no audiences.
func (s *immediate) audienceStatus() map[string]AudienceStatus {
	if len(s.audiences) == 0 {
		return nil
	}
	all := make(map[string]AudienceStatus, len(s.audiences))
	why := s.infeasible()
	for _, a := range s.audiences {
		var status AudienceStatus
		for _, g := range a.groups {
			status.Classes += g.Classes()
			if err := g.Feasible(); err != nil && !g.Satisfiable() { // not withheld because of another part
				why = err // of those behind, too
			}
		}
		if why != nil {
			status.Reason = why.Error()
		}
		all[a.audience.name] = status
	}
	return all
}

// storedAudiences is what the store has of the status of audiences: NULL without any.
func storedAudiences(all map[string]AudienceStatus) *string {
	if len(all) == 0 {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // numbers and texts can be written
	}
	stored := string(text)
	return &stored
}

// packedReleases are those of the table's own readers and of its audiences; none where rows hold
// the values.
func (s *immediate) packedReleases() (all []*packedRelease) {
	if s.packed == nil {
		return nil
	}
	all = []*packedRelease{s.packed}
	for _, a := range s.audiences {
		all = append(all, a.packed)
	}
	return all
}
