package incremental

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// records holds the records column by column; a record's place is its slot,
// which is used again after the record is gone.
type records struct {
	slots     map[RecordID]int32
	ids       []RecordID
	cells     [][]hierarchy.Cell // attribute, slot
	sensitive [][]uint32         // sensitive attribute, slot; nil until the first record
	subjects  []uint32           // slot; nil where each record counts for itself
	class     []int32            // index of its class, -1 = waiting
	seat      []int32            // index among the class's members or those waiting
	settled   []ClassID          // class at the last Settle, unsettled for none
	free      []int32
}

// unsettled stands for the class at the last Settle of a record that is newer.
const unsettled ClassID = -1

func newRecords(attributes, sensitive int, subjects bool) records {
	r := records{slots: map[RecordID]int32{}, cells: make([][]hierarchy.Cell, attributes)}
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

func (s *records) has(id RecordID) bool {
	_, ok := s.slots[id]
	return ok
}

func (s *records) add(r Record) int32 {
	if s.sensitive == nil {
		s.sensitive = make([][]uint32, len(r.Sensitive))
	}
	slot := s.slot()
	s.slots[r.ID] = slot
	s.ids[slot] = r.ID
	s.settled[slot] = unsettled
	s.set(slot, r)
	return slot
}

func (s *records) slot() int32 {
	if last := len(s.free) - 1; last >= 0 {
		slot := s.free[last]
		s.free = s.free[:last]
		return slot
	}
	slot := int32(len(s.ids))
	s.ids = append(s.ids, 0)
	s.class = append(s.class, -1)
	s.seat = append(s.seat, 0)
	s.settled = append(s.settled, unsettled)
	for a := range s.cells {
		s.cells[a] = append(s.cells[a], 0)
	}
	for a := range s.sensitive {
		s.sensitive[a] = append(s.sensitive[a], 0)
	}
	if s.subjects != nil {
		s.subjects = append(s.subjects, 0)
	}
	return slot
}

func (s *records) set(slot int32, r Record) {
	for a, c := range r.Cells {
		s.cells[a][slot] = c
	}
	for a, code := range r.Sensitive {
		s.sensitive[a][slot] = code
	}
	if s.subjects != nil {
		s.subjects[slot] = r.Subject
	}
}

func (s *records) get(slot int32) Record {
	r := Record{ID: s.ids[slot]}
	for a := range s.cells {
		r.Cells = append(r.Cells, s.cells[a][slot])
	}
	for a := range s.sensitive {
		r.Sensitive = append(r.Sensitive, s.sensitive[a][slot])
	}
	if s.subjects != nil {
		r.Subject = s.subjects[slot]
	}
	return r
}

func (s *records) remove(slot int32) {
	delete(s.slots, s.ids[slot])
	s.settled[slot] = unsettled
	s.free = append(s.free, slot)
}

// live reports whether a slot holds a record.
func (s *records) live(slot int32) bool {
	current, ok := s.slots[s.ids[slot]]
	return ok && current == slot
}

func (s *records) sameCells(slot int32, cells []hierarchy.Cell) bool {
	for a, c := range cells {
		old := s.cells[a][slot]
		if old != c && !(hierarchy.IsOffScale(old) && hierarchy.IsOffScale(c)) {
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
	cells := make([][]hierarchy.Cell, len(s.cells))
	for a := range s.cells {
		cells[a] = pick(s.cells[a], slots)
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
