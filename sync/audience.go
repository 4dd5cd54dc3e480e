package sync

import (
	"context"
	"encoding/json"
	"fmt"

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
	publication catalog.Publication
	kept        catalog.Publication   // with all columns that its rows have; of guarded tables that stand alone
	constraints privacy.ConstraintSet // all that hold, those of the table among them
	attributes  []anonymizer.Attribute
}

// audiencesOf are the audiences that see a table.
func audiencesOf(p catalog.Publication, schema privacy.Schema, attributes []anonymizer.Attribute) (all []audience, err error) {
	for _, of := range p.Policy.Audiences {
		if attributes, err = p.AttributesFor(of.Audience, attributes); err != nil {
			return nil, err
		}
		a := audience{name: of.Audience, role: of.Role, attributes: attributes}
		a.publication, _ = p.For(of.Audience)
		a.kept = keptOf(a.publication, p)
		if a.constraints, err = p.ConstraintSetFor(of.Audience, schema); err != nil {
			return nil, fmt.Errorf("audience %s: %w", of.Audience, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// keptOf is a publication, of what is published of a table, with the columns that its rows have in the store. The rows of guarded tables
// that stand alone have all columns that anybody sees: they are copied from release to release, and show what they did when they were made.
func keptOf(seen, p catalog.Publication) catalog.Publication {
	if p.Membership != nil || p.Policy.Updates.Mode != catalog.Guarded {
		return seen
	}
	return p.Kept(seen.Policy.Audience)
}

func (a *audience) view() publishedView { return publishedView{&a.publication} }

// relation names one of the tables that a generation has for the audience.
func (a *audience) relation(kind string, generation int64) string {
	return storeTable(kind+"_"+a.name, generation).SQL()
}

// groupColumn is the column of the records of linked tables with the group of the class that a record is in.
func (a *audience) groupColumn() string { return catalog.ClassColumn(0) + "_" + a.name }

// unitedRelease is the packed release of an audience.
type unitedRelease struct {
	*packedRelease
	groups  *nested.Groups
	changes incremental.Changes // at the last settling
}

// addAudiences adds an empty release for each audience.
func (s *immediate) addAudiences(firstClass incremental.ClassID, seed uint64) {
	finer := nested.Finer(s.parts[0].partition)
	for i := range s.t.layout.audiences {
		a := &s.t.layout.audiences[i]
		first := s.parts[0].part
		groups := nested.NewGroups(finer, a.attributes, a.constraints, nested.Options{Seed: seed, FirstGroup: firstClass, Subjects: s.t.layout.subject >= 0})
		release := newPackedRelease(s.t, newPart(0, first.attributes, a.constraints, a.publication), a.constraints.K(), groups)
		release.audience = a
		s.audiences = append(s.audiences, &unitedRelease{packedRelease: release, groups: groups})
		finer = groups
	}
}

// settleAudiences has the groups of all audiences follow the changes of the classes.
func (s *immediate) settleAudiences(ctx context.Context, changes incremental.Changes) (err error) {
	for _, a := range s.audiences {
		if changes, err = a.groups.Settle(ctx, changes); err != nil {
			return fmt.Errorf("settling the groups of %s for %s: %w", s.t.layout.name(), a.audience.name, err)
		}
		a.changes = a.changes.Then(changes)
	}
	return nil
}

// loadAudiences takes over the groups that the packed rows of audiences tell of.
func (s *immediate) loadAudiences(ctx context.Context, from *storeView) error {
	classOf := s.parts[0].partition.ClassOf
	for _, a := range s.audiences {
		sections, finer := loadedSections{}, classOf
		err := readPacked(ctx, from.first, a.classesQuery(), func(row packedKey, ids []incremental.RecordID) error {
			sections.note(a.packedRelease, row, ids)
			for _, id := range ids {
				class := finer(id)
				group := a.groups.GroupOf(class)
				if group == row.class {
					continue
				}
				if err := a.groups.Load(class, row.class); err != nil {
					return internal(fmt.Errorf("record %d of group %d for %s: %w", id, row.class, a.audience.name, err))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		sections.put(a.packedRelease)
		classOf = func(id incremental.RecordID) incremental.ClassID { return a.groups.GroupOf(finer(id)) }
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
		status := AudienceStatus{Classes: a.groups.Classes()}
		if err := a.groups.Feasible(); err != nil {
			why = err // of those behind, too
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
		all = append(all, a.packedRelease)
	}
	return all
}
