package lineage

import (
	"cmp"
	"slices"
	"time"
)

// backlog is the records that are not published as they are now: those that were never
// published, and those whose rows are stale.
type backlog struct {
	records   *records
	subjects  bool
	waiting   queue
	bySubject map[uint32]int // how many waiting records each subject has; empty where each counts for itself
	stale     queue
	withheld  int // records that are not published for good
}

// wait adds a record that waits to be published.
func (b *backlog) wait(slot int32) {
	b.waiting.add(slot, b.records.at(slot).stamp)
	b.count(b.records.subject(slot), 1)
}

// stopWaiting removes a record that waits.
func (b *backlog) stopWaiting(slot int32) {
	b.waiting.drop()
	b.count(b.records.subject(slot), -1)
}

// addStale adds a record whose row is stale.
func (b *backlog) addStale(slot int32) { b.stale.add(slot, b.records.at(slot).stamp) }

// withhold keeps a waiting record from being published for good.
func (b *backlog) withhold(slot int32) {
	at := b.records.at(slot)
	at.class = withheld
	at.stamp++
	b.withheld++
}

// takeWaiting empties the queue of waiting records and lists them.
func (b *backlog) takeWaiting() []int32 {
	slots := make([]int32, 0, b.waiting.count)
	for _, e := range b.waiting.entries {
		if b.current(e) {
			slots = append(slots, e.slot)
		}
	}
	b.waiting = queue{}
	b.bySubject = map[uint32]int{} // the old one keeps the room of its largest batch
	return slots
}

// count adds to the number of waiting records of a subject.
func (b *backlog) count(subject uint32, records int) {
	if !b.subjects {
		return
	}
	if b.bySubject[subject] += records; b.bySubject[subject] <= 0 {
		delete(b.bySubject, subject)
	}
}

// persons is the number of records, or subjects, that wait.
func (b *backlog) persons() int {
	if b.subjects {
		return len(b.bySubject)
	}
	return b.waiting.count
}

// oldest is when the first record of a queue began to wait; zero for an empty one.
func (b *backlog) oldest(q *queue) time.Time {
	q.settle(b.current)
	if len(q.entries) == 0 {
		return time.Time{}
	}
	return b.records.difference(q.entries[0].slot).since
}

// current reports whether an entry's record still waits, or is stale, as it did then.
func (b *backlog) current(e entry) bool { return b.records.at(e.slot).stamp == e.stamp }

// sort orders both queues by when the records began to wait.
func (b *backlog) sort() {
	bySince := func(x, y entry) int {
		return cmp.Or(b.records.difference(x.slot).since.Compare(b.records.difference(y.slot).since), cmp.Compare(b.records.ids[x.slot], b.records.ids[y.slot]))
	}
	slices.SortFunc(b.waiting.entries, bySince)
	slices.SortFunc(b.stale.entries, bySince)
}

// clear forgets all records.
func (b *backlog) clear() {
	b.waiting, b.stale, b.withheld = queue{}, queue{}, 0
	clear(b.bySubject)
}

// queue holds records in the order in which they began to wait. Those that no longer
// do are passed over when they come to the front.
type queue struct {
	entries []entry
	count   int // of those that still wait
}

// entry names a record by its slot and the stamp that this has as long as the record waits;
// it holds nothing of the record's values.
type entry struct {
	slot  int32
	stamp uint32
}

func (q *queue) add(slot int32, stamp uint32) {
	q.entries = append(q.entries, entry{slot, stamp})
	q.count++
}

// drop notes that one of the records no longer waits.
func (q *queue) drop() { q.count-- }

// queueSlack is how many obsolete entries a queue may have.
const queueSlack = 1024

// settle removes obsolete entries: those at the front, or all once they are most.
func (q *queue) settle(current func(entry) bool) {
	if len(q.entries) > 2*q.count+queueSlack {
		q.entries = slices.DeleteFunc(q.entries, func(e entry) bool { return !current(e) })
		return
	}
	for len(q.entries) > 0 && !current(q.entries[0]) {
		q.entries = q.entries[1:]
	}
}
