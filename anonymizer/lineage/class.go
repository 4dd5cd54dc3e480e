package lineage

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

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
	// sealed says that counted values of its records were others when they were
	// published before: it is not cut, as a part might have had too few of those.
	sealed bool
	// told is how many ghosts the published weight knows of, and toldOf whose.
	told, toldOf int
}

// row is a published row: what it shows of the sensitive attributes, and whose it is.
type row struct {
	id     RowID
	record *held  // nil: a ghost
	person uint32 // numbered within the class, so that it leads to nobody
	codes  []uint32
}

func (r row) isStale() bool { return r.record != nil && !r.record.since().IsZero() }

func isGhost(r row) bool { return r.record == nil }
func isAny(row) bool     { return true }

// summarize counts rows of a class as they are published.
func (l *Lineage) summarize(c *class, part func(row) bool) privacy.Summary {
	s := l.newSummary()
	for _, r := range c.rows {
		if part(r) {
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

// found publishes records as a new class, each as a row of its own. Rows and persons are
// numbered in random order, so that a number tells nothing of when its record came.
func (l *Lineage) found(members []*held, sealed bool) {
	c := &class{id: l.nextClass, patience: 1, sealed: sealed}
	l.nextClass++
	l.classes[c.id] = c
	l.changes.Classes[c.id] = l.generalize(members)
	random := rand.New(rand.NewPCG(l.options.Seed, uint64(c.id)))
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	persons := make(map[uint32]uint32)
	c.rows = make([]row, 0, len(members))
	for _, h := range members {
		person := uint32(len(c.rows))
		if l.options.Subjects {
			known := false
			if person, known = persons[h.record.Subject]; !known {
				person = uint32(len(persons))
				persons[h.record.Subject] = person
			}
		}
		h.class, h.row, h.parted = c, int32(len(c.rows)), nil
		c.rows = append(c.rows, row{id: l.nextRow, record: h, person: person, codes: h.record.Sensitive})
		l.changes.Rows = append(l.changes.Rows, NewRow{ID: l.nextRow, Class: c.id, Record: h.record.ID, Person: person, Sealed: sealed})
		l.nextRow++
		l.touch(h)
	}
	l.rows += len(c.rows)
}

// remove takes rows away from a class and returns them.
func (l *Lineage) remove(c *class, part func(row) bool) []row {
	var removed []row
	kept := c.rows[:0]
	for _, r := range c.rows {
		if !part(r) {
			if r.record != nil {
				r.record.row = int32(len(kept))
			}
			kept = append(kept, r)
			continue
		}
		l.changes.Gone, l.changes.GoneFrom = append(l.changes.Gone, r.id), append(l.changes.GoneFrom, c.id)
		removed = append(removed, r)
		if r.record == nil {
			l.ghosts--
			c.ghosts--
		} else {
			c.stale--
		}
	}
	l.rows -= len(removed)
	clear(c.rows[len(kept):])
	c.rows = kept
	if c.told > 0 && len(kept) > 0 {
		if c.ghosts == 0 {
			c.told, c.toldOf = 0, 0
		}
		l.changes.Weights[c.id] = c.weight()
	}
	return removed
}

func (l *Lineage) sortedClasses() []*class {
	byID := func(a, b *class) int { return cmp.Compare(a.id, b.id) }
	return slices.SortedFunc(maps.Values(l.classes), byID)
}
