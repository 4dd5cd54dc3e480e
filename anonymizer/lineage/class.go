package lineage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// class is a published equivalence class. It only ever loses rows.
type class struct {
	id   incremental.ClassID
	rows []row

	ghosts, stale int // rows
	// disturbed counts the rows that became ghosts or stale since a cut was last
	// tried; the next try waits for as many as patience says.
	disturbed, patience int
	dirty               bool
	// told is how many ghosts the published weight knows of, and toldOf whose.
	told, toldOf int
}

// row is a published row: what it shows, and whose it is.
type row struct {
	id     RowID
	record *held  // nil: a ghost
	person uint32 // numbered within the class, so that it leads to nobody
	codes  []uint32
}

// state of a row.
type state int

const (
	current state = iota
	stale
	ghost
)

func (r row) state() state {
	switch {
	case r.record == nil:
		return ghost
	case !r.record.since.IsZero():
		return stale
	default:
		return current
	}
}

// summarize counts the rows, as they are published, in any of these states.
func (l *Lineage) summarize(c *class, states ...state) privacy.Summary {
	s := l.newSummary()
	for _, r := range c.rows {
		if slices.Contains(states, r.state()) {
			l.addRow(&s, r)
		}
	}
	return s
}

func (l *Lineage) newSummary() privacy.Summary {
	if l.options.Subjects {
		return privacy.NewSubjectSummary(max(0, l.sensitive))
	}
	return privacy.NewSummary(max(0, l.sensitive))
}

func (l *Lineage) addRow(s *privacy.Summary, r row) {
	if l.options.Subjects {
		s.AddOf(r.person, r.codes)
	} else {
		s.Add(r.codes)
	}
}

// summarizeRecords counts records as they are now.
func (l *Lineage) summarizeRecords(members []*held) privacy.Summary {
	s := l.newSummary()
	for _, h := range members {
		if l.options.Subjects {
			s.AddOf(h.record.Subject, h.record.Sensitive)
		} else {
			s.Add(h.record.Sensitive)
		}
	}
	return s
}

func (l *Lineage) satisfied(s privacy.Summary) bool { return l.constraints.Satisfied(s, nil) }

// found publishes records as a new class, each as a row of its own.
func (l *Lineage) found(members []*held, published []hierarchy.Generalization) {
	c := &class{id: l.nextClass, patience: 1}
	l.nextClass++
	l.classes[c.id] = c
	persons := make(map[uint32]uint32)
	for _, h := range members {
		person, known := persons[h.record.Subject]
		if !known {
			person = uint32(len(persons))
			persons[h.record.Subject] = person
		}
		if !l.options.Subjects {
			person = uint32(len(c.rows))
		}
		h.class, h.row, h.since = c, len(c.rows), time.Time{}
		c.rows = append(c.rows, row{id: l.nextRow, record: h, person: person, codes: h.record.Sensitive})
		l.changes.Rows = append(l.changes.Rows, NewRow{ID: l.nextRow, Class: c.id, Record: h.record.ID, Person: person})
		l.nextRow++
		l.touch(h.record.ID)
	}
	l.rows += len(c.rows)
	l.changes.Classes[c.id] = published
}

// remove takes the rows in a state away from a class and returns them.
func (l *Lineage) remove(c *class, gone state) []row {
	var removed []row
	kept := c.rows[:0]
	for _, r := range c.rows {
		if r.state() == gone {
			l.changes.Gone = append(l.changes.Gone, r.id)
			removed = append(removed, r)
			continue
		}
		if r.record != nil {
			r.record.row = len(kept)
		}
		kept = append(kept, r)
	}
	l.rows -= len(removed)
	clear(c.rows[len(kept):])
	c.rows = kept
	toldOfGhosts := c.told > 0
	if gone == ghost {
		l.ghosts -= c.ghosts
		c.ghosts, c.told, c.toldOf = 0, 0, 0
	} else {
		c.stale = 0
	}
	if toldOfGhosts && len(kept) > 0 {
		l.changes.Weights[c.id] = c.weight()
	}
	return removed
}

func (l *Lineage) sortedClasses() []*class {
	byID := func(a, b *class) int { return cmp.Compare(a.id, b.id) }
	return slices.SortedFunc(maps.Values(l.classes), byID)
}
