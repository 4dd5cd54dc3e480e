package attack

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/lineage"
)

// replayer lets a publication be played again.
type replayer interface {
	// another is a lineage of the same settings of which nothing is published.
	another() (*lineage.Lineage, error)
}

// other is the first of the records, rows and classes that stand for the rest of the
// table in a replay.
const other = 1 << 40

// begin makes a lineage with one class of other people, since the first batch of all
// is published under other rules, and the given one.
func (a *reasoning) begin(members []element, founded int, value func(element) uint32) (*lineage.Lineage, error) {
	l, err := a.replay.another()
	if err != nil {
		return nil, err
	}
	rows := []lineage.StoredRow{{ID: other, Class: other, Sensitive: []uint32{0}}}
	somebody := a.record(members[0], 0, value)
	somebody.ID = other
	records := []lineage.StoredRecord{{Record: somebody, Place: lineage.Place{Class: other, Row: other}}}
	persons := map[uint32]uint32{}
	for i, e := range members {
		if founded < 0 {
			break
		}
		r := a.record(e, founded, value)
		person, known := persons[r.Subject]
		if !known {
			person = uint32(len(persons))
			persons[r.Subject] = person
		}
		if !a.w.subjects {
			person = uint32(i)
		}
		place := lineage.Place{Class: 1, Row: lineage.RowID(i + 1)}
		rows = append(rows, lineage.StoredRow{ID: place.Row, Class: 1, Person: person, Sensitive: r.Sensitive})
		records = append(records, lineage.StoredRecord{Record: r, Place: place})
	}
	return l, l.Load(rows, nil, records)
}

// record is the element's record after a commit, with the values that are assumed.
func (a *reasoning) record(e element, commit int, value func(element) uint32) lineage.Record {
	r := a.w.record(e.record, commit)
	r.Sensitive = []uint32{value(element{e.record, a.w.lives[e.record].at(commit).epoch})}
	return r
}

// cuts are the rows that vanish from a class after each commit of its story.
func (a *reasoning) cuts(s story, value func(element) uint32) [][]lineage.RowID {
	var observed [][]lineage.RowID
	a.playClass(s, value, func(gone []lineage.RowID) bool {
		observed = append(observed, gone)
		return true
	})
	return observed
}

// agree reports whether a class would be cut as observed.
func (a *reasoning) agree(s story, observed [][]lineage.RowID, value func(element) uint32) bool {
	step, same := 0, true
	a.playClass(s, value, func(gone []lineage.RowID) bool {
		same = step < len(observed) && slices.Equal(gone, observed[step])
		step++
		return same
	})
	return same
}

// playClass tells a class's story until seen says that it is enough.
func (a *reasoning) playClass(s story, value func(element) uint32, seen func(gone []lineage.RowID) bool) {
	l, err := a.begin(s.members, s.founded, value)
	if err != nil {
		a.err = err
		return
	}
	row := map[int32]lineage.RowID{}
	for i, e := range s.members {
		row[e.record] = lineage.RowID(i + 1)
	}
	for _, number := range s.commits {
		c := a.w.commits[number-1]
		if row[c.record] == 0 {
			continue // its row in this class is gone
		}
		r := a.record(element{record: c.record}, number, value)
		if err := applyTo(l, c, r, moment(c.tick)); err != nil {
			a.err = err
			return
		}
		if c.kind == departure {
			row[c.record] = 0
		}
		changes, err := l.Publish(a.ctx, moment(c.tick))
		if err != nil {
			a.err = err
			return
		}
		for _, published := range changes.Rows {
			row[int32(published.Record)] = 0
		}
		gone := slices.DeleteFunc(changes.Gone, func(id lineage.RowID) bool {
			return id > lineage.RowID(len(s.members)) || s.watched != nil && !s.watched[s.members[id-1].record]
		})
		if !seen(gone) {
			return
		}
	}
}

// wait is the time between two batches.
type wait struct {
	after, until version
	unpublished  map[int32]bool // records that are not published before
}

// waiting is what happened to the records of a batch before it was published.
func (a *reasoning) waiting(batch int) wait {
	s := wait{until: a.h.versions[batch], unpublished: map[int32]bool{}}
	known := map[int32]bool{}
	for _, v := range a.h.views {
		if v.from >= batch {
			continue
		}
		for _, e := range v.members {
			if v.from == v.founded && !known[e.record] && v.from > 0 {
				s.after = a.h.versions[v.from]
			}
			known[e.record] = true
		}
	}
	for i, c := range a.w.commits[:s.until.commit] {
		if i+1 > s.after.commit && !known[c.record] {
			s.unpublished[c.record] = true
		}
	}
	return s
}

// early reports whether a batch would have been published before it was.
func (a *reasoning) early(s wait, value func(element) uint32) bool {
	if len(s.unpublished) == 0 {
		return false
	}
	first := int32(-1)
	for record := range s.unpublished {
		first = max(first, record)
	}
	l, err := a.begin([]element{{record: first}}, -1, value)
	if err != nil {
		a.err = err
		return false
	}
	publish := func(tick int) bool {
		changes, err := l.Publish(a.ctx, moment(tick))
		if err != nil {
			a.err = err
		}
		return err != nil || len(changes.Rows) > 0
	}
	next := s.after.commit
	for tick := s.after.tick; tick <= s.until.tick; tick++ {
		for ; next < len(a.w.commits) && a.w.commits[next].tick == tick; next++ {
			c := a.w.commits[next]
			if s.unpublished[c.record] {
				if err := applyTo(l, c, a.record(element{record: c.record}, next+1, value), moment(tick)); err != nil {
					a.err = err
					return false
				}
			}
			if next+1 == s.until.commit && tick == s.until.tick {
				return false
			}
			if publish(tick) {
				return a.err == nil
			}
		}
		if tick < s.until.tick && publish(tick) {
			return a.err == nil
		}
	}
	return false
}
