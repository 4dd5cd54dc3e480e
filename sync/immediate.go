package sync

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// immediate shows every commit of the source at once: the classes of each part are
// maintained, and a touched one is written anew.
type immediate struct {
	t       *table
	parts   []*maintained
	changes []incremental.Changes // of each part, at the last settling

	packed    *packedRelease // nil where rows hold the values
	audiences []*unitedRelease
}

func newImmediate(t *table, nextClass incremental.ClassID, seed uint64) (*immediate, error) {
	s := &immediate{t: t}
	for _, p := range t.parts {
		attributes := make([]anonymizer.Attribute, len(p.attributes))
		for i, a := range p.attributes {
			attributes[i] = t.layout.attributes[a]
		}
		s.parts = append(s.parts, &maintained{
			part:      p,
			threshold: incremental.RenewalThreshold{Share: t.layout.publication.Policy.Reanonymize},
			partition: incremental.New(attributes, p.constraints, t.layout.method, incremental.Options{
				Seed: seed, FirstClass: nextClass, Subjects: t.layout.subject >= 0,
				Appearance: func(published []hierarchy.Generalization) string { return p.displayedTexts(published) },
			}),
		})
	}
	if t.isPacked() {
		s.packed = newPackedRelease(t, t.parts[0], nil, t.layout.constraints.K(), s.parts[0].partition)
	}
	return s, s.addAudiences(nextClass, seed)
}

// maintained is the maintained partition of one part.
type maintained struct {
	part      *part
	partition *incremental.Partition
	threshold incremental.RenewalThreshold
	// loss is that of the release when it was last compared with one made afresh, and drift
	// its ratio to that one's; 0 before the first comparison.
	loss, drift float64
}

// each does the same to the partition of every part.
func (s *immediate) each(do func(*maintained) error) error {
	for _, p := range s.parts {
		if err := do(p); err != nil {
			return err
		}
	}
	return nil
}

func (s *immediate) insert(id incremental.RecordID, _ []byte, row coded, _ time.Time) (returned bool, err error) {
	return false, s.each(func(p *maintained) error { return p.partition.Insert(p.part.record(id, row)) })
}

func (s *immediate) modify(id incremental.RecordID, row coded, _ time.Time) error {
	return s.each(func(p *maintained) error {
		if err := p.partition.Modify(p.part.record(id, row)); err != nil {
			return err
		}
		// Columns that the partition does not know may have changed as well.
		return p.partition.Touch(id)
	})
}

// hash is nothing: who comes back is seen at once, like every change.
func (s *immediate) hash([]byte) keyHash { return keyHash{} }

func (s *immediate) remove(id incremental.RecordID, _ keyHash) error {
	for _, release := range s.packedReleases() {
		release.sections.forget(release.classes.SlotOf(id))
	}
	return s.each(func(p *maintained) error { return p.partition.Delete(id) })
}

func (s *immediate) truncate() {
	for _, release := range s.packedReleases() {
		release.sections.clear()
	}
	for _, p := range s.parts {
		p.partition.Truncate()
	}
}

// row puts together what the parts know of a record.
func (s *immediate) row(id incremental.RecordID) coded {
	row := coded{cells: make([]hierarchy.Cell, len(s.t.layout.attributes))}
	for _, p := range s.parts {
		r, _, _ := p.partition.Record(id)
		for i, a := range p.part.attributes {
			row.cells[a] = r.Cells[i]
		}
		row.sensitive, row.subject = r.Sensitive, r.Subject
	}
	return row
}

// infeasible is why nothing of the table can be published: a row needs a class
// in every part.
func (s *immediate) infeasible() error {
	return s.each(func(p *maintained) error { return p.partition.Feasible() })
}

// settle brings every part into order. A partition places all of its records or,
// where the constraints are infeasible, none; then the other parts must not show
// theirs either, and so the classes of a part are always those of the published
// rows.
func (s *immediate) settle(ctx context.Context, _ time.Time) error {
	s.touchCover()
	withheld := s.infeasible() != nil
	if s.changes == nil {
		s.changes = make([]incremental.Changes, len(s.parts))
	}
	settled := make([]incremental.Changes, len(s.parts))
	for i, p := range s.parts {
		p.threshold.Changed(len(s.t.pending.rows) + len(s.t.pending.deleted))
		var err error
		if withheld {
			settled[i] = p.partition.Withhold()
		} else if settled[i], err = p.partition.SettleContext(ctx); err != nil {
			return fmt.Errorf("settling the classes of %s: %w", s.t.layout.name(), err)
		}
		s.changes[i] = s.changes[i].Then(settled[i])
	}
	return s.settleAudiences(ctx, settled)
}

// maxUnplaced bounds the records that wait for a class while a large transaction goes on. So many
// are divided by the table's method, all at once. Tests lower it.
var maxUnplaced = 1 << 19

// unplacedExceed says that the memory which settling takes grows with the transaction.
func (s *immediate) unplacedExceed() bool {
	if s.infeasible() != nil {
		return false // they wait in any case
	}
	for _, p := range s.parts {
		if p.partition.Withheld() >= maxUnplaced {
			return true
		}
	}
	return false
}

// placed forgets which records have moved, as the store has been told.
func (s *immediate) placed() {
	for i := range s.changes {
		s.changes[i].Moved = nil
	}
	for _, a := range s.audiences {
		for i := range a.changes {
			a.changes[i].Moved = nil
		}
	}
}

// places are the classes of each part, and their groups for each audience.
func (s *immediate) places() []storeColumn {
	columns := s.marks()
	for _, a := range s.audiences {
		for i := range s.parts {
			columns = append(columns, storeColumn{a.audience.groupColumn(i), "bigint"})
		}
	}
	return columns
}

func (s *immediate) marks() []storeColumn {
	columns := make([]storeColumn, len(s.parts))
	for i, p := range s.parts {
		columns[i] = storeColumn{p.part.column, "bigint"}
	}
	return columns
}

func (s *immediate) indexed() []string {
	if s.packed != nil {
		return []string{s.packed.part.column + ", " + catalog.SectionColumn}
	}
	return columnNames(s.marks())
}

func (s *immediate) place(ids []incremental.RecordID) []any {
	var columns []any
	finer := make([]incremental.ClassID, len(ids)*len(s.parts)) // of each part
	add := func(part int, of func(i int) incremental.ClassID) {
		classes := make([]*int64, len(ids))
		for i := range ids {
			class := of(i)
			finer[part*len(ids)+i], classes[i] = class, storedNumber(int64(class))
		}
		columns = append(columns, classes)
	}
	for part, p := range s.parts {
		add(part, func(i int) incremental.ClassID { return p.partition.ClassOf(ids[i]) })
	}
	for _, a := range s.audiences {
		for part, groups := range a.groups {
			add(part, func(i int) incremental.ClassID { return groups.GroupOf(finer[part*len(ids)+i]) })
		}
	}
	return columns
}

func (s *immediate) moved() []incremental.RecordID {
	all := make(map[incremental.RecordID]struct{})
	take := func(changes []incremental.Changes) {
		for _, of := range changes {
			for id := range of.Moved {
				all[id] = struct{}{}
			}
		}
	}
	take(s.changes)
	for _, a := range s.audiences {
		take(a.changes)
	}
	return slices.Sorted(maps.Keys(all))
}

func (s *immediate) written() {
	s.changes = nil
	for _, a := range s.audiences {
		clear(a.changes)
	}
	s.stored()
}

// stored notes that the store has all classes that there are.
func (s *immediate) stored() {
	for _, release := range s.packedReleases() {
		release.stored()
	}
}

func (s *immediate) due() time.Time { return time.Time{} }

// nextClass is a number that no class of any part has had.
func (s *immediate) nextClass() incremental.ClassID {
	next := incremental.ClassID(1)
	for _, p := range s.parts {
		next = max(next, p.partition.NextClass())
	}
	for _, a := range s.audiences {
		for _, g := range a.groups {
			next = max(next, g.NextClass())
		}
	}
	return next
}

// status counts; a record is withheld in all parts or in none.
func (s *immediate) status() TableStatus {
	first := s.parts[0].partition
	status := TableStatus{Records: first.Len(), Withheld: first.Withheld()}
	for _, p := range s.parts {
		status.Classes += p.partition.Classes()
		status.Loss, status.Drift = max(status.Loss, p.loss), max(status.Drift, p.drift)
	}
	if err := s.infeasible(); err != nil {
		status.Reason = err.Error()
	}
	status.Audiences = s.audienceStatus()
	return status
}

// touchRandom has the classes of a record drawn at random written anew, in every
// part: what a change of that record would write.
func (s *immediate) touchRandom() {
	first := s.parts[0].partition
	if first.Classes() == 0 {
		return
	}
	class := first.ClassAt(rand.IntN(first.Classes()))
	first.TouchClass(class)
	if len(s.parts) == 1 {
		return
	}
	members := first.Members(class)
	if len(members) == 0 {
		return // all of them were deleted since the last Settle
	}
	id := members[rand.IntN(len(members))]
	for _, p := range s.parts[1:] {
		_, class, _ := p.partition.Record(id)
		p.partition.TouchClass(class)
	}
}
