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
)

// immediate shows every commit of the source at once: the classes of each part are
// maintained, and a touched one is written anew.
type immediate struct {
	t       *table
	changes []incremental.Changes // of each part, at the last settling
	hidden  bool                  // the stored release is empty, as all records are withheld
}

func newImmediate(t *table, nextClass incremental.ClassID, seed uint64) *immediate {
	for _, p := range t.parts {
		attributes := make([]anonymizer.Attribute, len(p.attributes))
		for i, a := range p.attributes {
			attributes[i] = t.attributes[a]
		}
		p.recent, p.loss, p.drift = nil, 0, 0
		p.threshold = incremental.RenewalThreshold{Share: t.publication.Policy.Reanonymize}
		p.partition = incremental.New(attributes, p.constraints, t.method, incremental.Options{
			Seed: seed, FirstClass: nextClass, Subjects: t.subject >= 0,
			Appearance: func(published []hierarchy.Generalization) string { return t.look(p, published) },
		})
	}
	return &immediate{t: t}
}

// each does the same to the partition of every part.
func (s *immediate) each(do func(*part) error) error {
	for _, p := range s.t.parts {
		if err := do(p); err != nil {
			return err
		}
	}
	return nil
}

func (s *immediate) insert(id incremental.RecordID, _ []byte, row coded, _ time.Time) (returned bool, err error) {
	return false, s.each(func(p *part) error { return p.partition.Insert(p.record(id, row)) })
}

func (s *immediate) modify(id incremental.RecordID, row coded, _ time.Time) error {
	return s.each(func(p *part) error {
		if err := p.partition.Modify(p.record(id, row)); err != nil {
			return err
		}
		// Columns that the partition does not know may have changed as well.
		return p.partition.Touch(id)
	})
}

// hash is nothing: who comes back is seen at once, like every change.
func (s *immediate) hash([]byte) keyHash { return keyHash{} }

func (s *immediate) remove(id incremental.RecordID, _ keyHash) error {
	return s.each(func(p *part) error { return p.partition.Delete(id) })
}

func (s *immediate) truncate() {
	for _, p := range s.t.parts {
		p.partition.Truncate()
	}
}

// row puts together what the parts know of a record.
func (s *immediate) row(id incremental.RecordID) coded {
	row := coded{cells: make([]hierarchy.Cell, len(s.t.attributes))}
	for _, p := range s.t.parts {
		r, _, _ := p.partition.Record(id)
		for i, a := range p.attributes {
			row.cells[a] = r.Cells[i]
		}
		row.sensitive, row.subject = r.Sensitive, r.Subject
	}
	return row
}

// infeasible is why nothing of the table can be published: a row needs a class
// in every part.
func (s *immediate) infeasible() error {
	return s.each(func(p *part) error { return p.partition.Feasible() })
}

// settle brings every part into order. A partition places all of its records or,
// where the constraints are infeasible, none; then the other parts must not show
// theirs either, and so the classes of a part are always those of the published
// rows.
func (s *immediate) settle(ctx context.Context, _ time.Time) error {
	s.hide()
	withheld := s.infeasible() != nil
	if s.changes == nil {
		s.changes = make([]incremental.Changes, len(s.t.parts))
	}
	for i, p := range s.t.parts {
		p.threshold.Changed(len(s.t.pending) + len(s.t.deleted))
		if withheld {
			s.changes[i] = s.changes[i].Then(p.partition.Withhold())
			continue
		}
		changes, err := p.partition.SettleContext(ctx)
		if err != nil {
			return fmt.Errorf("settling the classes of %s: %w", s.t.name(), err)
		}
		s.changes[i] = s.changes[i].Then(changes)
	}
	return nil
}

// crowd bounds the records that wait for a class while a large transaction goes on. So many
// are divided by the table's method, all at once. Tests lower it.
var crowd = 1 << 19

// crowded says that the memory which settling takes grows with the transaction.
func (s *immediate) crowded() bool {
	if s.infeasible() != nil {
		return false // they wait in any case
	}
	for _, p := range s.t.parts {
		if p.partition.Withheld() >= crowd {
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
}

func (s *immediate) places() []storeColumn {
	columns := make([]storeColumn, len(s.t.parts))
	for i, p := range s.t.parts {
		columns[i] = storeColumn{p.column, "bigint"}
	}
	return columns
}

func (s *immediate) marks() []storeColumn { return s.places() }

func (s *immediate) place(ids []incremental.RecordID) []any {
	columns := make([]any, len(s.t.parts))
	for i, p := range s.t.parts {
		classes := make([]*int64, len(ids))
		for j, id := range ids {
			classes[j] = storedNumber(int64(p.partition.ClassOf(id)))
		}
		columns[i] = classes
	}
	return columns
}

func (s *immediate) moved() []incremental.RecordID {
	all := make(map[incremental.RecordID]struct{})
	for _, changes := range s.changes {
		for id := range changes.Moved {
			all[id] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (s *immediate) written() {
	for i, changes := range s.changes {
		s.t.parts[i].rememberWritten(changes.Rewrite)
	}
	s.changes = nil
	s.hidden = s.t.parts[0].partition.Classes() == 0
}

func (s *immediate) due() time.Time { return time.Time{} }

// nextClass is a number that no class of any part has had.
func (s *immediate) nextClass() incremental.ClassID {
	next := incremental.ClassID(1)
	for _, p := range s.t.parts {
		next = max(next, p.partition.NextClass())
	}
	return next
}

// status counts; a record is withheld in all parts or in none.
func (s *immediate) status() TableStatus {
	first := s.t.parts[0].partition
	status := TableStatus{Records: first.Len(), Withheld: first.Withheld()}
	for _, p := range s.t.parts {
		status.Classes += p.partition.Classes()
		status.Loss, status.Drift = max(status.Loss, p.loss), max(status.Drift, p.drift)
	}
	if err := s.infeasible(); err != nil {
		status.Reason = err.Error()
	}
	return status
}

// touchRandom has the classes of a record drawn at random written anew, in every
// part: what a change of that record would write.
func (s *immediate) touchRandom() {
	first := s.t.parts[0].partition
	if first.Classes() == 0 {
		return
	}
	class := first.ClassAt(rand.IntN(first.Classes()))
	first.TouchClass(class)
	if len(s.t.parts) == 1 {
		return
	}
	members := first.Members(class)
	if len(members) == 0 {
		return // all of them were deleted since the last Settle
	}
	id := members[rand.IntN(len(members))]
	for _, p := range s.t.parts[1:] {
		_, class, _ := p.partition.Record(id)
		p.partition.TouchClass(class)
	}
}
