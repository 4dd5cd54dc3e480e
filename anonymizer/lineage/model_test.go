package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// member is the life of a record, from its insertion to its deletion.
type member struct {
	id      incremental.RecordID
	values  anonymizertest.Row // as they are now
	since   time.Time          // when it was inserted, or its values parted from its row's
	row     *shownRow          // the last one that showed it
	parted  string             // which columns have had other values since then
	expired bool
	deleted bool
}

func (m *member) published() bool { return m.row != nil }

// setting is what a model is run with.
type setting struct {
	attributes, first int // how many, and the first of the kinds
	constraints       privacy.ConstraintSet
	method            anonymizer.Method
	sensitive         int
	persons           int // 0: each record is somebody
	options           lineage.Options
}

// model drives a lineage on a simulated clock and knows on its own what must hold.
type model struct {
	t       testing.TB
	random  *rand.Rand
	source  *anonymizertest.Source
	setting setting
	lineage *lineage.Lineage
	journal *journal
	reader  *observer

	now       time.Time
	members   map[incremental.RecordID]*member             // that exist
	roster    *anonymizertest.Roster[incremental.RecordID] // of members
	waiting   map[incremental.RecordID]bool                // for their first publication
	disturbed map[incremental.ClassID]bool                 // classes of which rows were left since the last version
	next      incremental.RecordID
	due       time.Time // as told after the last version
	quiet     bool      // nothing has happened since
	ghosts    int
	left      []leftMember // who may come back
	expired   int          // records, altogether
	returned  int          // likewise
	hasty     bool         // most versions are only followed, and few checked
	versioned func()       // called after each version; nil for nothing
	restarted func()       // likewise, after each restart
}

var began = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func newModel(t testing.TB, random *rand.Rand, s setting) *model {
	shape := workload.Shape{Attributes: s.attributes, Distinct: 9, Nulls: 0.04, Sensitive: 3 + random.IntN(8)}
	m := &model{
		t: t, random: random, setting: s, now: began,
		source:  anonymizertest.NewSource(random, shape, s.first, s.sensitive, s.persons),
		journal: newJournal(), members: map[incremental.RecordID]*member{}, disturbed: map[incremental.ClassID]bool{},
		roster: anonymizertest.NewRoster[incremental.RecordID](), waiting: map[incremental.RecordID]bool{},
	}
	m.source.Copied = 2
	m.setting.options.Subjects = s.persons > 0
	m.reader = &observer{source: m.source, constraints: s.constraints, journal: m.journal, told: map[incremental.ClassID]tale{}}
	m.lineage = m.newLineage(m.setting.options)
	return m
}

func (m *model) newLineage(o lineage.Options) *lineage.Lineage {
	l, err := lineage.New(m.source.Data.Attributes, m.setting.constraints, m.setting.method, o)
	m.must(err)
	return l
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("version %d, at %v: %v", m.journal.version, m.now.Sub(began), err)
	}
}

func (m *model) require(holds bool, format string, args ...any) {
	if !holds {
		m.t.Helper()
		m.must(fmt.Errorf(format, args...))
	}
}

func (m *model) record(b *member) lineage.Record {
	return lineage.Record{
		Record: incremental.Record{ID: b.id, Cells: m.source.Cells(b.values), Sensitive: b.values.Sensitive, Subject: b.values.Subject},
		Copied: b.values.Copied,
	}
}

func (m *model) insert(id incremental.RecordID, values anonymizertest.Row) {
	b := &member{id: id, values: values, since: m.now}
	m.must(m.lineage.Insert(m.record(b), m.now))
	m.members[id], m.waiting[id], m.quiet = b, true, false
	m.roster.Add(id)
}

func (m *model) remove(id incremental.RecordID) {
	m.must(m.lineage.Delete(id))
	m.gone(id)
}

func (m *model) gone(id incremental.RecordID) {
	m.forget(m.members[id])
	delete(m.members, id)
	delete(m.waiting, id)
	m.roster.Remove(id)
	delete(m.journal.places, id) // a store deletes it at once
	m.quiet = false
}

// leftMember is one whose row stays, and may become his again.
type leftMember struct {
	*member
	as lineage.Left
}

// leave has a record be deleted that may come back.
func (m *model) leave(id incremental.RecordID) {
	b := m.members[id]
	left, published, err := m.lineage.Leave(id)
	m.must(err)
	m.require(published == b.published(), "record %d left, published: %t", id, published)
	if published {
		m.require(left.Row == b.row.id && left.Class == b.row.class, "record %d left %+v", id, left)
		m.left = append(m.left, leftMember{b, left})
	}
	m.gone(id)
}

// comeBack has somebody who left come back, as he was or changed.
func (m *model) comeBack() {
	if len(m.left) == 0 {
		return
	}
	i := m.random.IntN(len(m.left))
	b := m.left[i].member
	if m.members[b.id] != nil { // another one has his number
		return
	}
	if m.random.IntN(2) == 0 {
		b.values = m.source.Changed(b.values)
	}
	m.must(m.lineage.Return(m.left[i].as.Ghost, m.record(b), m.now))
	m.left = slices.Delete(m.left, i, i+1)
	shown := m.record(&member{id: b.id, values: b.row.values})
	columns, _ := parted(shown, m.record(b))
	if m.setting.options.Subjects {
		columns += "z"
	}
	b.parted, b.since, b.deleted = union(b.parted, columns), m.now, false
	m.members[b.id], m.quiet = b, false
	m.roster.Add(b.id)
	m.ghosts--
	m.returned++
	m.disturbed[b.row.class] = true
}

func (m *model) forget(b *member) {
	b.deleted = true
	if b.published() {
		m.ghosts++
		m.disturbed[b.row.class] = true
	}
}

func (m *model) modify(id incremental.RecordID, values anonymizertest.Row) {
	b := m.members[id]
	before := m.record(b)
	b.values = values
	after := m.record(b)
	m.must(m.lineage.Modify(after, m.now))
	m.quiet = false
	if columns, same := parted(before, after); !same && b.published() {
		b.parted = union(b.parted, columns)
		if b.since.IsZero() {
			b.since = m.now
		}
		m.disturbed[b.row.class] = true
	}
}

// parted names the columns, other than quasi-identifying ones, in which two states of a
// record differ, a letter for each, and says whether they are the same altogether.
func parted(a, b lineage.Record) (columns string, same bool) {
	for i := range a.Sensitive {
		if a.Sensitive[i] != b.Sensitive[i] {
			columns += string(rune('a' + i))
		}
	}
	for i := range a.Copied {
		if a.Copied[i] != b.Copied[i] {
			columns += string(rune('p' + i))
		}
	}
	if a.Subject != b.Subject {
		columns += "z"
	}
	same = columns == ""
	for i, cell := range a.Cells {
		same = same && (cell == b.Cells[i] || hierarchy.IsOffScale(cell) && hierarchy.IsOffScale(b.Cells[i]))
	}
	return columns, same
}

func union(a, b string) string {
	letters := []rune(a + b)
	slices.Sort(letters)
	return string(slices.Compact(letters))
}

func (m *model) truncate() {
	m.lineage.Truncate()
	for _, b := range m.members {
		m.forget(b)
	}
	clear(m.members)
	clear(m.waiting)
	m.roster.Clear()
	clear(m.journal.places)
	m.quiet = false
}

// wave has about half of the people of a class leave, or change in the same way.
func (m *model) wave() {
	id, exists := m.roster.Any(m.random)
	if !exists || !m.members[id].published() {
		return
	}
	what := m.random.IntN(4)
	for _, r := range m.journal.classes[m.members[id].row.class].present() {
		b := r.member
		if b.deleted || m.random.IntN(2) == 0 {
			continue
		}
		values := b.values
		switch fresh := m.source.Row(); what {
		case 0:
			m.leave(b.id)
			continue
		case 1:
			values.Raw = fresh.Raw
		case 2:
			values.Subject = fresh.Subject
		default:
			values.Sensitive = slices.Clone(values.Sensitive)
			values.Sensitive[0] = (values.Sensitive[0] + 1 + fresh.Sensitive[0]) % uint32(m.source.Shape.Sensitive)
		}
		m.modify(b.id, values)
	}
}

// step does one random operation.
func (m *model) step(growth int) {
	id, exists := m.roster.Any(m.random)
	switch choice := m.random.IntN(12 + growth); {
	case !exists || choice >= 12:
		m.next++
		m.insert(m.next, m.source.Row())
	case choice < 2:
		m.remove(id)
	case choice < 4:
		m.leave(id)
		if m.random.IntN(2) == 0 {
			m.comeBack()
		}
	case choice < 6: // the same record again, another one of the same id
		values := m.members[id].values
		if choice == 5 {
			values = m.source.Row()
		}
		m.remove(id)
		m.insert(id, values)
	default:
		m.modify(id, m.source.Changed(m.members[id].values))
	}
}

// operate drives the model through growth, change, decline and truncation, with
// restarts and gaps of time.
func (m *model) operate(rounds int) {
	m.t.Helper()
	for i := range rounds {
		m.now = m.now.Add(time.Duration(m.random.IntN(4)) * time.Minute)
		growth := []int{30, 6, 2, 0}[i*8/rounds%4]
		for range m.random.IntN(2+i%9) + growth*m.random.IntN(2) {
			m.step(growth)
		}
		for range m.random.IntN(3) {
			m.wave()
		}
		for range len(m.left) * (m.random.IntN(8) / 7) { // nearly all come back
			m.comeBack()
		}
		if i == rounds/2 && m.random.IntN(2) == 0 || len(m.members) > 150 {
			m.truncate()
		}
		m.publish()
		if m.random.IntN(6) == 0 {
			m.restart()
			m.publish()
		}
		for range m.random.IntN(3) { // polls, or a gap
			m.now = m.now.Add(time.Duration(1+m.random.IntN([]int{3, 3, 60}[m.random.IntN(3)])) * time.Minute)
			m.publish()
		}
	}
	m.must(m.reader.checkHistory())
}
