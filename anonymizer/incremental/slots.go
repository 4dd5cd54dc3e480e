package incremental

import "fmt"

// Slots are the places in which a partition keeps its records: numbers from 0 on of which
// few are unused, so that whoever keeps more of a record can do so in lists. An empty
// partition gives 0, 1, 2 and so on. A record keeps its slot; when it is gone, the slot is
// given to another one.

// SlotOf is the slot of a record, -1 for an unknown one.
func (p *Partition) SlotOf(id RecordID) int32 { return p.records.slot(id) }

// InSlot names the record in a slot that is in use.
func (p *Partition) InSlot(slot int32) RecordID { return p.records.ids[slot] }

// AppendSlots appends the slots of a class's records to a list, in an order that means
// nothing; none for an unknown class and for class 0.
func (p *Partition) AppendSlots(list []int32, class ClassID) []int32 {
	index := p.classes.index(class)
	if index < 0 {
		return list
	}
	return append(list, p.classes.list[index].members...)
}

// Seating puts records that were loaded without a class, and no others, into the classes
// that the store has for them. Like Load it is meant for the start. Between its beginning
// and its end the partition must not be used otherwise, and after an error not at all.
type Seating struct{ of *Partition }

// BeginSeating begins a Seating.
func (p *Partition) BeginSeating() Seating { return Seating{p} }

// Seat puts records into a class; it can be given in several calls. The error is ErrUnknown,
// or ErrDuplicate for a record that is in a class already.
func (s Seating) Seat(class ClassID, ids []RecordID) error {
	p := s.of
	if class <= withheld {
		return fmt.Errorf("seating records in class %d: class ids are positive", class)
	}
	if len(ids) == 0 {
		return nil
	}
	index := p.loaded(class, len(ids))
	// Records lie far apart. All are looked for before any is waited for.
	slots := make([]int32, len(ids))
	for i, id := range ids {
		slots[i] = p.records.slot(id)
	}
	for i, slot := range slots {
		switch {
		case slot < 0:
			return fmt.Errorf("seating record %d in class %d: %w", ids[i], class, ErrUnknown)
		case p.records.at[slot].class != unplaced:
			return fmt.Errorf("seating record %d in class %d: %w", ids[i], class, ErrDuplicate)
		}
		p.sit(slot, index)
	}
	return nil
}

// End has the records wait that have no class.
func (s Seating) End() {
	p := s.of
	loaded := p.waiting
	p.waiting = nil
	for _, slot := range loaded {
		if p.records.at[slot].class == unplaced {
			p.wait(slot)
		}
	}
}
