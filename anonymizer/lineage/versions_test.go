package lineage_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// restart builds a new lineage of what a store knows. A crash comes after a version.
func (m *model) restart() {
	o := m.setting.options
	o.FirstClass = m.lineage.NextClass()
	before := m.lineage.Freshness()
	m.lineage = m.newLineage(o)
	m.must(m.lineage.Load(m.journal.stored(m.members, m.record)))
	for i, left := range m.left {
		ghost, is, err := m.lineage.LoadGhost(left.as, left.row.values.Copied)
		m.must(err)
		m.require(is, "row %d is not the ghost's any more", left.as.Row)
		m.left[i].as.Ghost = ghost
	}
	m.require(m.lineage.Freshness() == before, "freshness %+v after loading, %+v before", m.lineage.Freshness(), before)
	m.quiet = false
	if m.restarted != nil {
		m.restarted()
	}
}

// publish makes the next version and checks all of it.
func (m *model) publish() {
	m.t.Helper()
	changes, err := m.lineage.Publish(m.t.Context(), m.now)
	m.must(err)
	if happened := len(changes.Rows)+len(changes.Gone)+len(changes.Touched)+len(changes.Weights)+len(changes.Classes) > 0; happened && m.quiet {
		m.require(!m.due.IsZero() && !m.due.After(m.now), "due at %v, and something happened at %v", m.due.Sub(began), m.now.Sub(began))
	}
	m.must(m.checkMoves(changes))
	m.must(m.journal.apply(changes, m.members))
	touched := maps.Clone(m.disturbed)
	for id := range changes.Weights {
		if id > 0 { // of a class
			touched[id] = true
		}
	}
	m.must(m.reader.checkVersion(slices.Sorted(maps.Keys(changes.Classes)), sortedClasses(touched)))
	m.must(m.follow(changes))
	for _, ghost := range changes.Vanished {
		m.left = slices.DeleteFunc(m.left, func(left leftMember) bool { return left.as.Ghost == ghost })
	}
	for _, left := range m.left {
		m.require(m.journal.rows[left.as.Row] != nil, "row %d has vanished untold", left.as.Row)
	}
	m.require(m.lineage.Ghosts() == len(m.left), "%d ghosts have a number, of %d who may come back", m.lineage.Ghosts(), len(m.left))
	clear(m.disturbed)
	m.due, m.quiet = m.lineage.Due(), true
	m.require(m.due.IsZero() || m.due.After(m.now), "due at %v, it is %v", m.due.Sub(began), m.now.Sub(began))
	if m.versioned != nil {
		m.versioned()
	}
}

// checkWithheld: who is withheld for good has waited as long as may be, or all who
// waited are, in a batch that cannot be published.
func (m *model) checkWithheld(c lineage.Changes) error {
	var refused []anonymizertest.Row
	for id, place := range c.Places() {
		b := m.members[id]
		if b == nil || !place.Withheld || b.expired {
			continue
		}
		if !m.waiting[id] {
			return fmt.Errorf("record %d is withheld, and did not wait", id)
		}
		if d := m.setting.options.Deadline; d <= 0 || m.now.Before(b.since.Add(d)) {
			refused = append(refused, b.values)
		}
	}
	if refused != nil {
		refused = nil
		for id := range m.waiting {
			if !c.Place(id).Withheld {
				return fmt.Errorf("record %d waits, others are withheld before their time", id)
			}
			refused = append(refused, m.members[id].values)
		}
		group := m.source.Group(refused)
		crowd := privacy.KAnonymity{K: max(1, m.setting.options.Crowd) * m.setting.constraints.K()}
		if len(refused) < m.setting.options.Least || anonymizertest.CheckConstraints(group, group, append(privacy.ConstraintSet{crowd}, m.setting.constraints...)) == nil {
			return fmt.Errorf("%d records are withheld that could be published", len(refused))
		}
	}
	for id, place := range c.Places() {
		if place.Withheld {
			delete(m.waiting, id)
		}
	}
	return nil
}

// checkMoves: a batch is all that waited or nothing; the other new rows are of stale
// ones whose old rows go; no other row of a live record goes.
func (m *model) checkMoves(c lineage.Changes) error {
	renewed, newcomers := map[incremental.RecordID]bool{}, 0
	for _, n := range c.Rows {
		b := m.members[n.Record]
		switch {
		case b == nil || b.expired:
			return fmt.Errorf("record %d is published and must not be", n.Record)
		case m.waiting[n.Record]:
			newcomers++
		case b.published() && !b.since.IsZero():
			renewed[n.Record] = true
		default:
			return fmt.Errorf("record %d is published anew and has not changed", n.Record)
		}
	}
	if err := m.checkWithheld(c); err != nil {
		return err
	}
	if newcomers != 0 && newcomers != len(m.waiting) {
		return fmt.Errorf("%d of %d records that waited are published", newcomers, len(m.waiting))
	}
	if newcomers != 0 {
		clear(m.waiting)
	}
	for _, id := range c.Gone {
		r := m.journal.rows[id]
		if r == nil {
			return fmt.Errorf("row %d is gone and was not there", id)
		}
		m.disturbed[r.class] = true
		switch {
		case r.member.deleted:
			m.ghosts--
		case renewed[r.record]:
			delete(renewed, r.record)
		default:
			return fmt.Errorf("row %d is gone, and record %d is there", id, r.record)
		}
	}
	if len(renewed) > 0 {
		return errors.New("records are published anew beside their old rows")
	}
	return nil
}

// follow takes over what the journal says of the records.
func (m *model) follow(c lineage.Changes) error {
	for _, n := range c.Rows {
		b := m.members[n.Record]
		b.since, b.parted = time.Time{}, ""
	}
	for id, place := range c.Places() {
		if b := m.members[id]; place.Withheld && !b.expired {
			b.expired = true
			m.expired++
		}
	}
	if m.hasty {
		return nil
	}
	return m.checkPlaces()
}

// checkPlaces compares where the journal has the records with where they must be.
func (m *model) checkPlaces() error {
	want := lineage.Freshness{Ghosts: m.ghosts, Rows: len(m.journal.rows)}
	oldest := func(least *time.Time, t time.Time) {
		if least.IsZero() || t.Before(*least) {
			*least = t
		}
	}
	for id, b := range m.members {
		place, known := m.journal.places[id]
		if !known || !place.Since.Equal(b.since) || place.Withheld != b.expired || (place.Row != 0) != b.published() {
			return fmt.Errorf("record %d stands at %+v, since %v expected", id, place, b.since.Sub(began))
		}
		switch {
		case b.published():
			if r := m.journal.rows[place.Row]; r != b.row || r.class != place.Class {
				return fmt.Errorf("record %d stands at %+v, which is not its row", id, place)
			}
			if !b.since.IsZero() {
				want.Stale++
				oldest(&want.OldestStale, b.since)
			}
		case b.expired:
			want.Withheld++
		default:
			want.Waiting++
			oldest(&want.OldestWaiting, b.since)
			if d := m.setting.options.Deadline; d > 0 && !m.now.Before(b.since.Add(d)) {
				return fmt.Errorf("record %d waits since %v", id, b.since.Sub(began))
			}
		}
	}
	classes := map[incremental.ClassID]bool{}
	for _, r := range m.journal.rows {
		classes[r.class] = true
	}
	want.Classes = len(classes)
	got := m.lineage.Freshness()
	if weighed := m.journal.weighed(); math.Abs(weighed-float64(len(m.journal.rows)-m.ghosts+got.Untold)) > 0.51 {
		return fmt.Errorf("weights add up to %.2f of %d rows and %d ghosts, but %d are said to be untold", weighed, len(m.journal.rows), m.ghosts, got.Untold)
	}
	want.Untold = got.Untold
	if got != want {
		return fmt.Errorf("freshness %+v, %+v expected", got, want)
	}
	return m.checkRecords()
}

func (m *model) checkRecords() error {
	if m.lineage.Len() != len(m.members) {
		return fmt.Errorf("%d records, %d expected", m.lineage.Len(), len(m.members))
	}
	for id, b := range m.members {
		got, known := m.lineage.Record(id)
		want := m.record(b)
		if !known || !slices.Equal(got.Copied, want.Copied) || got.Subject != want.Subject || !slices.Equal(got.Sensitive, want.Sensitive) || len(got.Cells) != len(want.Cells) {
			return fmt.Errorf("record %d is %+v, %+v expected", id, got, want)
		}
	}
	return nil
}
