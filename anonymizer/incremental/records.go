package incremental

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// records holds the records; a record's place is its slot, which is used again after
// the record is gone. The cells of a record lie side by side, as they are
// read together.
type records struct {
	numbers   compact.Directory[RecordID]
	ids       []RecordID
	cells     compact.Slab[hierarchy.Cell] // slot, attribute
	sensitive [][]uint32                   // sensitive attribute, slot; nil until the first record
	subjects  []uint32                     // slot; nil where each record counts for itself
	at        []location                   // slot
	moved     compact.Marks                // slots whose class at the last Settle is noted
	free      []int32
	codes     []uint32 // room for the sensitive values of one record
}

// location is the index of a record's class, or what takes its place, and the index
// among the class's members or those waiting.
type location struct{ class, place int32 }

// What takes the place of a class's index.
const (
	unplaced = -1 // the record waits, or is on its way
	vacant   = -2 // there is no record
)

// unsettled stands for the class at the last Settle of a record that is newer.
const unsettled ClassID = -1

func newRecords(attributes, sensitive int, subjects bool) records {
	r := records{cells: compact.NewSlab[hierarchy.Cell](attributes)}
	if sensitive >= 0 {
		r.sensitive = make([][]uint32, sensitive)
	}
	if subjects {
		r.subjects = []uint32{}
	}
	return r
}

// sensitiveCount is the number of sensitive attributes, -1 while unknown.
func (s *records) sensitiveCount() int {
	if s.sensitive == nil {
		return -1
	}
	return len(s.sensitive)
}

// count is the number of records.
func (s *records) count() int { return s.numbers.Len() }

// slot finds a record, -1 for an unknown one.
func (s *records) slot(id RecordID) int32 { return s.numbers.Find(s.ids, id) }

func (s *records) add(r Record) int32 {
	if s.sensitive == nil {
		s.sensitive = make([][]uint32, len(r.Sensitive))
	}
	slot := s.take()
	s.ids[slot] = r.ID
	s.numbers.Add(s.ids, slot)
	s.at[slot].class = unplaced
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
	return s.behind()
}

// behind makes a slot behind all others.
func (s *records) behind() int32 {
	slot := int32(len(s.ids))
	s.ids = append(s.ids, 0)
	s.at = append(s.at, location{})
	s.cells.Grow()
	for a := range s.sensitive {
		s.sensitive[a] = append(s.sensitive[a], 0)
	}
	if s.subjects != nil {
		s.subjects = append(s.subjects, 0)
	}
	return slot
}

func (s *records) set(slot int32, r Record) {
	copy(s.cells.Row(slot), r.Cells)
	for a, code := range r.Sensitive {
		s.sensitive[a][slot] = code
	}
	if s.subjects != nil {
		s.subjects[slot] = r.Subject
	}
}

func (s *records) get(slot int32) Record {
	r := Record{ID: s.ids[slot], Cells: slices.Clone(s.cells.Row(slot))}
	for a := range s.sensitive {
		r.Sensitive = append(r.Sensitive, s.sensitive[a][slot])
	}
	if s.subjects != nil {
		r.Subject = s.subjects[slot]
	}
	return r
}

func (s *records) remove(slot int32) {
	s.numbers.Remove(s.ids, s.ids[slot])
	s.at[slot].class = vacant
	s.moved.Unset(slot)
	s.free = append(s.free, slot)
}

func (s *records) sameCells(slot int32, cells []hierarchy.Cell) bool {
	for a, old := range s.cells.Row(slot) {
		if c := cells[a]; old != c && !(hierarchy.IsOffScale(old) && hierarchy.IsOffScale(c)) {
			return false
		}
	}
	return true
}

// sameCounted reports whether a record's values that constraints count are the
// same.
func (s *records) sameCounted(slot int32, r Record) bool {
	for a, code := range r.Sensitive {
		if s.sensitive[a][slot] != code {
			return false
		}
	}
	return s.subjects == nil || s.subjects[slot] == r.Subject
}

// table copies the records of some slots.
func (s *records) table(attributes []anonymizer.Attribute, slots []int32) (*anonymizer.Table, error) {
	cells, all := make([][]hierarchy.Cell, s.cells.Columns()), make([]hierarchy.Cell, s.cells.Columns()*len(slots))
	for a := range cells {
		cells[a] = all[a*len(slots) : (a+1)*len(slots)]
	}
	for i, slot := range slots {
		for a, c := range s.cells.Row(slot) {
			cells[a][i] = c
		}
	}
	sensitive := make([][]uint32, len(s.sensitive))
	for a := range s.sensitive {
		sensitive[a] = pick(s.sensitive[a], slots)
	}
	t, err := anonymizer.NewTable(attributes, cells, sensitive)
	if err != nil || s.subjects == nil {
		return t, err
	}
	return t.WithSubjects(pick(s.subjects, slots))
}

func pick[T any](column []T, slots []int32) []T {
	picked := slices.Grow([]T(nil), len(slots))
	for _, slot := range slots {
		picked = append(picked, column[slot])
	}
	return picked
}

// checkShape compares a record's shape with the attributes and, for the sensitive
// values, with that of the first record.
func (s *records) checkShape(r Record) error {
	if len(r.Cells) != s.cells.Columns() {
		return fmt.Errorf("record %d has %d cells, %d expected", r.ID, len(r.Cells), s.cells.Columns())
	}
	if expected := s.sensitiveCount(); expected >= 0 && len(r.Sensitive) != expected {
		return fmt.Errorf("record %d has %d sensitive values, %d expected", r.ID, len(r.Sensitive), expected)
	}
	return nil
}

// all lists the slots in use, ascending.
func (s *records) all() []int32 {
	used := make([]bool, len(s.ids))
	for i := range used {
		used[i] = true
	}
	for _, slot := range s.free {
		used[slot] = false
	}
	slots := make([]int32, 0, len(s.ids)-len(s.free))
	for slot, is := range used {
		if is {
			slots = append(slots, int32(slot))
		}
	}
	return slots
}

// reserve makes room for some records, so that what holds them need not grow.
func (s *records) reserve(room int) {
	s.ids, s.at = slices.Grow(s.ids, room), slices.Grow(s.at, room)
	for a := range s.sensitive {
		s.sensitive[a] = slices.Grow(s.sensitive[a], room)
	}
	if s.subjects != nil {
		s.subjects = slices.Grow(s.subjects, room)
	}
}

// fit gives back room that was made for far more records.
func (s *records) fit() {
	s.ids, s.at, s.subjects = compact.Fit(s.ids), compact.Fit(s.at), compact.Fit(s.subjects)
	for a := range s.sensitive {
		s.sensitive[a] = compact.Fit(s.sensitive[a])
	}
}

// append adds a record that the directory does not have, behind all others.
func (s *records) append(r Record) int32 {
	if s.sensitive == nil {
		s.sensitive = make([][]uint32, len(r.Sensitive))
		s.reserve(cap(s.ids) - len(s.ids))
	}
	slot := s.behind()
	s.ids[slot] = r.ID
	s.at[slot].class = unplaced
	s.set(slot, r)
	return slot
}

// newSummary is an empty summary, of persons where records are about persons.
func (s *records) newSummary() privacy.Summary {
	sensitive := max(0, s.sensitiveCount())
	if s.subjects != nil {
		return privacy.NewSubjectSummary(sensitive)
	}
	return privacy.NewSummary(sensitive)
}

// codesOf gives a record's sensitive values until the next call.
func (s *records) codesOf(slot int32) []uint32 {
	s.codes = s.codes[:0]
	for _, column := range s.sensitive {
		s.codes = append(s.codes, column[slot])
	}
	return s.codes
}

func (s *records) addTo(summary *privacy.Summary, slot int32) {
	if s.subjects != nil {
		summary.AddOf(s.subjects[slot], s.codesOf(slot))
	} else {
		summary.Add(s.codesOf(slot))
	}
}

func (s *records) removeFrom(summary *privacy.Summary, slot int32) {
	if s.subjects != nil {
		summary.RemoveOf(s.subjects[slot], s.codesOf(slot))
	} else {
		summary.Remove(s.codesOf(slot))
	}
}

// summarize counts the records of some slots for constraints.
func (s *records) summarize(slots []int32) privacy.Summary {
	all := s.newSummary()
	if s.subjects != nil {
		for _, slot := range slots {
			s.addTo(&all, slot)
		}
		return all
	}
	all.Records = len(slots)
	for a, column := range s.sensitive {
		for _, slot := range slots {
			all.Sensitive[a][column[slot]]++
		}
	}
	return all
}
