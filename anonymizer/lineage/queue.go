package lineage

import (
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// queue holds records in the order in which they began to wait. Those that no longer
// do are passed over when they come to the front.
type queue struct {
	entries []entry
	count   int // of those that still wait
}

// entry names a record by its id and its life, for a record that was deleted can come
// again while its entry still stands; it holds nothing of the record's values.
type entry struct {
	id    incremental.RecordID
	life  uint64
	since time.Time
}

func (q *queue) add(h *held) {
	q.entries = append(q.entries, entry{h.record.ID, h.life, h.since()})
	q.count++
}

// drop notes that one of the records no longer waits.
func (q *queue) drop() { q.count-- }

// settle forgets the entries that no longer wait, as far as it is time to.
func (q *queue) settle(waits func(entry) bool) {
	if len(q.entries) > 2*q.count+queueSlack {
		kept := q.entries[:0]
		for _, e := range q.entries {
			if waits(e) {
				kept = append(kept, e)
			}
		}
		q.entries = kept
		return
	}
	for len(q.entries) > 0 && !waits(q.entries[0]) {
		q.entries = q.entries[1:]
	}
}

// queueSlack is how many entries may stand in a queue for nothing.
const queueSlack = 1024

// oldest is since when the first of the records waits; zero where none does. The queue
// is settled.
func (q *queue) oldest() time.Time {
	if len(q.entries) == 0 {
		return time.Time{}
	}
	return q.entries[0].since
}

// waits reports whether an entry's record has not been published yet, and may be.
func (l *Lineage) waits(e entry) bool {
	h, known := l.records[e.id]
	return known && h.life == e.life && h.class == nil && !h.withheld
}

// lags reports whether an entry's record is published as it was, since then.
func (l *Lineage) lags(e entry) bool {
	h, known := l.records[e.id]
	return known && h.life == e.life && h.class != nil && h.since().Equal(e.since)
}

// await has a record wait, and depart no longer.
func (l *Lineage) await(h *held) {
	l.waiting.add(h)
	l.gather(h.record.Subject, 1)
}

func (l *Lineage) depart(h *held) {
	l.waiting.drop()
	l.gather(h.record.Subject, -1)
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
