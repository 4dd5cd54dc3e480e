package lineage

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// records keeps the records in slots, value by value: as objects of their own they would
// take twice the memory. A slot is cleared and used again once its record is gone.
type records struct {
	numbers     compact.Directory[incremental.RecordID]
	ids         []incremental.RecordID       // slot
	cells       compact.Slab[hierarchy.Cell] // slot, attribute
	sensitive   compact.Slab[uint32]         // slot, sensitive attribute
	copied      compact.Slab[uint64]         // slot, copied value
	subjects    []uint32                     // slot; nil until a record has one other than 0
	standings   compact.Slab[standing]       // one for each slot
	differences differences
	free        []int32
}

// standing is where a record stands.
type standing struct {
	class      int32 // index of its class, or one of those below
	row        int32 // its place among the class's rows
	difference int32 // among the differences
	// stamp is another one whenever the record no longer waits, or is stale, as it did: what a
	// queue has noted of the slot before is then void.
	stamp uint32
}

// What takes the place of a class's index.
const (
	unpublished = -1 // it waits
	withheld    = -2 // it is not published for good
)

// count is the number of records.
func (s *records) count() int { return s.numbers.Len() }

// slot finds a record, -1 for an unknown one.
func (s *records) slot(id incremental.RecordID) int32 { return s.numbers.Find(s.ids, id) }

func (s *records) at(slot int32) *standing { return &s.standings.Row(slot)[0] }

// parting is how a record differs from its row.
func (s *records) difference(slot int32) difference { return s.differences.of(s.at(slot).difference) }

// setDifference notes how a record differs from its row, or since when it waits.
func (s *records) setDifference(slot int32, d difference) {
	at := s.at(slot)
	before := at.difference
	at.difference = s.differences.take(d)
	s.differences.give(before)
}

// isStale reports whether a published record is not what its row is.
func (s *records) isStale(slot int32) bool { return !s.difference(slot).since.IsZero() }

func (s *records) isStaleRow(r row) bool { return !isGhost(r) && s.isStale(r.slot) }

// generalize gives what is published for some records.
func (s *records) generalize(attributes []anonymizer.Attribute, members []int32) []hierarchy.Generalization {
	published := make([]hierarchy.Generalization, len(attributes))
	cells := make([]hierarchy.Cell, len(members))
	for a, attribute := range attributes {
		for i, slot := range members {
			cells[i] = s.cells.Row(slot)[a]
		}
		published[a] = attribute.Hierarchy.Generalize(cells)
	}
	return published
}

// add keeps a record that is not known, nor published. All have the shape of the first one.
func (s *records) add(r Record) int32 {
	slot := s.append(r)
	s.numbers.Add(s.ids, slot)
	return slot
}

// append is add without the directory.
func (s *records) append(r Record) int32 {
	if len(s.ids) == 0 {
		s.cells, s.sensitive = compact.NewSlab[hierarchy.Cell](len(r.Cells)), compact.NewSlab[uint32](len(r.Sensitive))
		s.copied, s.standings = compact.NewSlab[uint64](len(r.Copied)), compact.NewSlab[standing](1)
	}
	slot := s.take()
	s.ids[slot] = r.ID
	s.at(slot).class = unpublished
	s.set(slot, r)
	return slot
}

// take finds an empty slot.
func (s *records) take() int32 {
	if last := len(s.free) - 1; last >= 0 {
		slot := s.free[last]
		s.free = s.free[:last]
		return slot
	}
	slot := int32(len(s.ids))
	s.ids = append(s.ids, 0)
	s.cells.Grow()
	s.sensitive.Grow()
	s.copied.Grow()
	s.standings.Grow()
	if s.subjects != nil {
		s.subjects = append(s.subjects, 0)
	}
	return slot
}

// set replaces a record's values.
func (s *records) set(slot int32, r Record) {
	copy(s.cells.Row(slot), r.Cells)
	copy(s.sensitive.Row(slot), r.Sensitive)
	copy(s.copied.Row(slot), r.Copied)
	if s.subjects == nil && r.Subject != 0 {
		s.subjects = make([]uint32, len(s.ids))
	}
	if s.subjects != nil {
		s.subjects[slot] = r.Subject
	}
}

// view is a record whose values must be copied to be kept.
func (s *records) view(slot int32) Record {
	r := Record{Copied: s.copied.Row(slot)}
	r.ID, r.Cells, r.Sensitive, r.Subject = s.ids[slot], s.cells.Row(slot), s.sensitive.Row(slot), s.subject(slot)
	return r
}

func (s *records) subject(slot int32) uint32 {
	if s.subjects == nil {
		return 0
	}
	return s.subjects[slot]
}

// remove forgets a record and all of its values.
func (s *records) remove(slot int32) {
	s.numbers.Remove(s.ids, s.ids[slot])
	s.ids[slot] = 0
	clear(s.cells.Row(slot))
	clear(s.sensitive.Row(slot))
	clear(s.copied.Row(slot))
	if s.subjects != nil {
		s.subjects[slot] = 0
	}
	st := s.at(slot)
	s.differences.give(st.difference)
	*st = standing{stamp: st.stamp + 1}
	s.free = append(s.free, slot)
}

func (s *records) same(slot int32, r Record) bool {
	old := s.view(slot)
	equal := func(x, y hierarchy.Cell) bool { return x == y || hierarchy.IsOffScale(x) && hierarchy.IsOffScale(y) }
	return slices.Equal(old.Copied, r.Copied) && old.Subject == r.Subject && slices.Equal(old.Sensitive, r.Sensitive) &&
		slices.EqualFunc(old.Cells, r.Cells, equal)
}
