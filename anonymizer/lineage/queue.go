package lineage

import "time"

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

// settle forgets the entries that no longer wait, as far as it is time to.
func (q *queue) settle(stands func(entry) bool) {
	if len(q.entries) > 2*q.count+queueSlack {
		kept := q.entries[:0]
		for _, e := range q.entries {
			if stands(e) {
				kept = append(kept, e)
			}
		}
		q.entries = kept
		return
	}
	for len(q.entries) > 0 && !stands(q.entries[0]) {
		q.entries = q.entries[1:]
	}
}

// queueSlack is how many entries may stand in a queue for nothing.
const queueSlack = 1024

// oldest is since when the first record of a queue waits; zero where none does. The queue
// is settled.
func (l *Lineage) oldest(q *queue) time.Time {
	if len(q.entries) == 0 {
		return time.Time{}
	}
	return l.records.parting(q.entries[0].slot).since
}

// stands reports whether an entry's record still waits, or is stale, as it did then.
func (l *Lineage) stands(e entry) bool { return l.records.at(e.slot).stamp == e.stamp }

// await has a record wait, and depart no longer.
func (l *Lineage) await(slot int32) {
	l.waiting.add(slot, l.records.at(slot).stamp)
	l.gather(l.records.subject(slot), 1)
}

func (l *Lineage) depart(slot int32) {
	l.waiting.drop()
	l.gather(l.records.subject(slot), -1)
}

// gather counts the waiting records of a subject.
func (l *Lineage) gather(subject uint32, records int) {
	if !l.options.Subjects {
		return
	}
	if l.gathered[subject] += records; l.gathered[subject] <= 0 {
		delete(l.gathered, subject)
	}
}

// persons is the number of different persons who wait.
func (l *Lineage) persons() int {
	if l.options.Subjects {
		return len(l.gathered)
	}
	return l.waiting.count
}
