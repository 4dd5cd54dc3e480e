package incremental

// Slots are the places in which a partition keeps its records: numbers from 0 on, few of
// them unused, so that callers can keep more about a record in lists. An empty partition
// gives 0, 1, 2 and so on. A record keeps its slot; once it is gone, another one gets it.

// SlotOf is the slot of a record, -1 for an unknown one.
func (p *Partition) SlotOf(id RecordID) int32 { return p.members.records.slot(id) }

// InSlot names the record in a slot that is in use.
func (p *Partition) InSlot(slot int32) RecordID { return p.members.records.ids[slot] }

// AppendSlots appends the slots of a class's records to a list, in an order that means
// nothing; none for an unknown class and for class 0.
func (p *Partition) AppendSlots(list []int32, class ClassID) []int32 {
	index := p.members.classes.index(class)
	if index < 0 {
		return list
	}
	return append(list, p.members.classes.list[index].members...)
}
