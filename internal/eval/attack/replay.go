package attack

import (
	"errors"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
)

// replayer lets a publication be played again.
type replayer interface {
	// another is an empty lineage of the same settings.
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
	row, left := map[int32]lineage.RowID{}, departed{}
	for i, e := range s.members {
		row[e.record] = lineage.RowID(i + 1)
	}
	for _, number := range s.commits {
		c := a.w.commits[number-1]
		if as, back := left[a.w.lives[c.record].former]; back && c.kind == arrival {
			row[c.record] = as.Row
		}
		if row[c.record] == 0 {
			continue // its row in this class is gone
		}
		r := a.record(element{record: c.record}, number, value)
		if err := left.applyTo(l, a.w, c, r, moment(c.tick)); err != nil {
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
		left.published(changes)
		for _, renewed := range changes.Rows {
			row[int32(renewed.Record)] = 0
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

// tries are the batches that would have been tried while a batch waited: of each the
// number of records that were refused, or published for one that was not. They end
// with that, as nothing was published in truth.
func (a *reasoning) tries(s wait, value func(element) uint32) (outcomes []int) {
	if len(s.unpublished) == 0 {
		return nil
	}
	first := int32(-1)
	for record := range s.unpublished {
		first = max(first, record)
	}
	l, err := a.begin([]element{{record: first}}, -1, value)
	if err != nil {
		a.err = err
		return nil
	}
	publish := func(tick int) (ended bool) {
		changes, err := l.Publish(a.ctx, moment(tick))
		switch {
		case err != nil:
			a.err = err
			return true
		case len(changes.Rows) > 0:
			outcomes = append(outcomes, published)
			return true
		}
		refused := 0
		for _, place := range changes.Places() {
			if place.Withheld {
				refused++
			}
		}
		if refused > 0 {
			outcomes = append(outcomes, refused)
		}
		return false
	}
	next := s.after.commit
	for tick := s.after.tick; tick <= s.until.tick; tick++ {
		for ; next < len(a.w.commits) && a.w.commits[next].tick == tick; next++ {
			if a.follow(l, s, next, value); a.err != nil {
				return nil
			}
			if next+1 == s.until.commit && tick == s.until.tick || publish(tick) {
				return outcomes
			}
		}
		if tick < s.until.tick && publish(tick) {
			return outcomes
		}
	}
	return outcomes
}

// published is the outcome of a try that was not refused.
const published = -1

// follow applies a commit to the records that wait. Those that were refused before are
// not there.
func (a *reasoning) follow(l *lineage.Lineage, s wait, number int, value func(element) uint32) {
	c := a.w.commits[number]
	if !s.unpublished[c.record] {
		return
	}
	err := departed{}.applyTo(l, a.w, c, a.record(element{record: c.record}, number+1, value), moment(c.tick))
	if err != nil && !errors.Is(err, incremental.ErrUnknown) {
		a.err = err
	}
}
