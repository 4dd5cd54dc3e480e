package incremental

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// membership is which record is in which class, and what has to be done about that:
// which classes a Settle must examine, and what it has to report.
type membership struct {
	attributes []anonymizer.Attribute
	k          int
	nextClass  ClassID
	distinct   bool // no two classes may look alike; see looks

	records records
	classes classes
	waiting []int32   // slots of records in no class
	due     []ClassID // classes that Settle must examine
	unseen  []ClassID // classes whose look may be new, each once; unless distinct, none
	changes changeLog
	cells   []hierarchy.Cell // room for one attribute of a class
}

// clear forgets all records and classes, which changes then lists as retired.
func (m *membership) clear() {
	for i := range m.classes.list {
		m.changes.retire(&m.classes.list[i])
	}
	m.records = newRecords(len(m.attributes), m.records.sensitiveCount(), m.records.subjects != nil)
	m.classes = newClasses(len(m.attributes), m.classes.related)
	m.waiting, m.due, m.changes.changed, m.changes.moved = nil, nil, nil, nil
}

func (m *membership) classOf(slot int32) ClassID {
	if index := m.records.at[slot].class; index >= 0 {
		return m.classes.list[index].id
	}
	return withheld
}

// wait puts a record without class among those waiting for one.
func (m *membership) wait(slot int32) {
	m.records.at[slot] = location{unplaced, int32(len(m.waiting))}
	m.waiting = append(m.waiting, slot)
}

// join adds a record without class to a class and widens what that covers.
func (m *membership) join(slot, index int32) {
	m.move(slot)
	m.enter(slot, index)
}

// enter is join for a record that is not to be listed as moved.
func (m *membership) enter(slot, index int32) {
	members := &m.classes.list[index].members
	m.records.at[slot] = location{index, int32(len(*members))}
	*members = append(*members, slot)
	m.include(m.classes.row(index), slot)
	m.classes.stray(index)
}

// include widens extents by a record.
func (m *membership) include(extents []extent, slot int32) {
	for a, c := range m.records.cells.Row(slot) {
		extents[a] = extents[a].include(m.attributes[a].Hierarchy.Position(c))
	}
}

// move notes where a record was at the last Settle, before it leaves for the first
// time since.
func (m *membership) move(slot int32) { m.moveFrom(slot, m.classOf(slot)) }

func (m *membership) moveFrom(slot int32, class ClassID) {
	if !m.changes.withoutMoved && m.records.moved.Set(slot) {
		m.changes.moved = append(m.changes.moved, move{slot, class})
	}
}

// leave takes a record out of its class or from those waiting.
func (m *membership) leave(slot int32) {
	from := &m.waiting
	if index := m.records.at[slot].class; index >= 0 {
		from = &m.classes.list[index].members
		m.change(index)
		m.classes.list[index].stale = true
	}
	place, last := m.records.at[slot].place, int32(len(*from)-1)
	other := (*from)[last]
	(*from)[place] = other
	m.records.at[other].place = place
	*from = (*from)[:last]
	m.records.at[slot].class = unplaced
}

// examineLater has Settle look at a class.
func (m *membership) examineLater(index int32) {
	if c := &m.classes.list[index]; !c.due {
		c.due = true
		m.due = append(m.due, c.id)
	}
}

// lookLater has Settle compare what readers see of a class with the others.
func (m *membership) lookLater(index int32) {
	if c := &m.classes.list[index]; m.distinct && !c.unseen {
		c.unseen = true
		m.unseen = append(m.unseen, c.id)
	}
}

// rewrite notes that the published rows of a class are to be written anew.
func (m *membership) rewrite(index int32) {
	m.changes.rewrite(&m.classes.list[index])
}

// change notes that members of a class or their values are not what they were.
func (m *membership) change(index int32) {
	m.classes.list[index].altered = true
	m.rewrite(index)
	m.examineLater(index)
	m.lookLater(index)
}

// found makes a new class of records without class, to be divided from some size on.
func (m *membership) found(slots []int32, splitAt int) int32 {
	index := m.classes.add(m.nextClass, splitAt)
	m.classes.list[index].members = make([]int32, 0, max(len(slots), min(splitAt, 2*m.k)))
	m.nextClass++
	for _, slot := range slots {
		m.join(slot, index)
	}
	m.change(index)
	return index
}

// dissolve takes a class away and returns its members, now without class.
func (m *membership) dissolve(index int32) []int32 {
	members, id := m.classes.list[index].members, m.classes.list[index].id
	m.changes.retire(&m.classes.list[index])
	m.classes.remove(index)
	if int(index) < len(m.classes.list) {
		for _, slot := range m.classes.list[index].members {
			m.records.at[slot].class = index
		}
	}
	for _, slot := range members {
		m.moveFrom(slot, id)
		m.records.at[slot].class = unplaced
	}
	return members
}

// tighten computes anew what a class covers.
func (m *membership) tighten(index int32) {
	c := &m.classes.list[index]
	covers := m.classes.row(index)
	for a := range covers {
		covers[a] = emptyExtent
	}
	for _, slot := range c.members {
		m.include(covers, slot)
	}
	m.classes.stray(index)
	c.stale = false
}

// covers reports whether all cells lie within what the class covers, so that
// their record fits in without any change of what is published.
func (m *membership) covers(index int32, cells []hierarchy.Cell) bool {
	for a, attribute := range m.attributes {
		e := m.classes.cover(index, a)
		position := attribute.Hierarchy.Position(cells[a])
		inside := position >= e.low && position <= e.high
		if !inside && e.low != hiddenAt {
			return false
		}
	}
	return true
}

func (m *membership) withholdAll() {
	ids := make([]ClassID, len(m.classes.list))
	for i := range ids {
		ids[i] = m.classes.list[i].id
	}
	slices.Sort(ids)
	m.withhold(ids)
	m.due = m.due[:0]
}

func (m *membership) withhold(ids []ClassID) {
	for _, id := range ids {
		for _, slot := range m.dissolve(m.classes.index(id)) {
			m.wait(slot)
		}
	}
}

// merge moves all records of a class into another, whose index it returns.
func (m *membership) merge(into, from int32) int32 {
	id := m.classes.list[into].id
	members := m.dissolve(from)
	into = m.classes.index(id)
	for _, slot := range members {
		m.join(slot, into)
	}
	m.change(into)
	return into
}

// settleDue forgets which classes are due.
func (m *membership) settleDue() {
	for _, id := range m.due {
		if index := m.classes.index(id); index >= 0 {
			m.classes.list[index].due = false
		}
	}
	m.due = m.due[:0]
}

func (m *membership) generalize(members []int32) []hierarchy.Generalization {
	published := make([]hierarchy.Generalization, len(m.attributes))
	m.cells = slices.Grow(m.cells[:0], len(members))
	cells := m.cells[:len(members)]
	for a, attribute := range m.attributes {
		for i, slot := range members {
			cells[i] = m.records.cells.Row(slot)[a]
		}
		published[a] = attribute.Hierarchy.Generalize(cells)
	}
	return published
}

// loaded is the index of a class of the store, which records are loaded into.
func (m *membership) loaded(class ClassID) int32 {
	m.nextClass = max(m.nextClass, class+1)
	index := m.classes.index(class)
	if index < 0 {
		index = m.classes.add(class, 2*m.k)
		m.classes.list[index].known = true
	}
	m.examineLater(index)
	m.lookLater(index)
	return index
}

// reserve makes room for some classes in a partition without any.
func (m *membership) reserve(room int) {
	c := &m.classes
	c.list, c.ids, c.astray, m.due = make([]class, 0, room), make([]ClassID, 0, room), make([]ClassID, 0, room), make([]ClassID, 0, room)
	c.numbers.Reserve(room)
}
