package sync

import (
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// A class with more members than a packed row has room for is divided into sections, each a
// row, so that a change writes some rows of a class and not all of them. Which section a
// member lies in is drawn at random and drawn again whenever its section is written; the
// constraints hold for the whole class alone.

const (
	// sectionMembers is about how many members new sections have, and sectionLeast how many
	// the sections that are written have at least, on average: with fewer, fewer are made of
	// them. None has more than packedMembers.
	sectionMembers = 12
	sectionLeast   = 6
	// onlySection is the number of the row of a class that is not divided. Sections are
	// numbered from 1 on.
	onlySection = 0
)

// sections are those of the divided classes of a packed release. Of the others, nothing is
// held. It belongs to the goroutine of its table.
type sections struct {
	classes map[incremental.ClassID]*dividedClass
	list    []section
	unused  []int32                          // of list
	of      []int32                          // by slot of the partition: the section among list, from 1 on; 0 for none
	single  map[incremental.ClassID]struct{} // classes with members that have rows of their own; see packing
	next    incremental.ClassID              // classes from this one on are not in the store
	shuffle func(n int, swap func(i, j int)) // random
	draw    func(n int) int                  // random
}

// dividedClass is a class with sections.
type dividedClass struct {
	sections []int32 // among sections.list
	number   int32   // the greatest of its sections
	look     string  // what all of its rows show; none where it was not compared since the start
}

// section is a row of a divided class.
type section struct {
	class   incremental.ClassID
	number  int32
	members []int32 // slots
	touched bool    // it has to be written
}

func newSections() *sections {
	return &sections{
		classes: map[incremental.ClassID]*dividedClass{}, single: map[incremental.ClassID]struct{}{}, next: 1,
		shuffle: rand.Shuffle, draw: rand.IntN,
	}
}

// clear forgets all classes.
func (s *sections) clear() {
	clear(s.classes)
	clear(s.single)
	s.list, s.unused, s.of = nil, nil, nil
}

// sectionOf is the section in which a slot lies; nil for none.
func (s *sections) sectionOf(slot int32) *section {
	if int(slot) >= len(s.of) || slot < 0 || s.of[slot] == 0 {
		return nil
	}
	return &s.list[s.of[slot]-1]
}

// put has a slot lie in a section.
func (s *sections) put(slot, index int32) {
	if missing := int(slot) + 1 - len(s.of); missing > 0 {
		s.of = append(s.of, make([]int32, missing)...)
	}
	s.of[slot] = index + 1
	s.list[index].members = append(s.list[index].members, slot)
}

// forget takes a slot out of its section, which has to be written.
func (s *sections) forget(slot int32) {
	if of := s.sectionOf(slot); of != nil {
		of.touched = true
		place := slices.Index(of.members, slot)
		of.members = slices.Delete(of.members, place, place+1)
		s.of[slot] = 0
	}
}

// touch has the section of a slot written.
func (s *sections) touch(slot int32) {
	if of := s.sectionOf(slot); of != nil {
		of.touched = true
	}
}

// add makes an empty section of a class.
func (s *sections) add(class incremental.ClassID, number int32) (index int32) {
	c := s.classes[class]
	if c == nil {
		c = &dividedClass{}
		s.classes[class] = c
	}
	c.number = max(c.number, number)
	if last := len(s.unused) - 1; last >= 0 {
		index, s.unused = s.unused[last], s.unused[:last]
	} else {
		index = int32(len(s.list))
		s.list = append(s.list, section{})
	}
	s.list[index] = section{class: class, number: number}
	c.sections = append(c.sections, index)
	return index
}

// release forgets a class with its sections.
func (s *sections) release(class incremental.ClassID) {
	delete(s.single, class)
	c := s.classes[class]
	if c == nil {
		return
	}
	delete(s.classes, class)
	for _, index := range c.sections {
		s.empty(index)
		s.unused = append(s.unused, index)
	}
}

// empty takes all slots out of a section.
func (s *sections) empty(index int32) {
	for _, slot := range s.list[index].members {
		s.of[slot] = 0
	}
	s.list[index].members = nil
}

// drawn draws a section of a class.
func (s *sections) drawn(c *dividedClass) int32 { return c.sections[s.draw(len(c.sections))] }

// touchedOf are the sections of a class that have to be written, and others, drawn at random,
// until there are two and they have so many members: the members of all are dealt anew.
func (s *sections) touchedOf(c *dividedClass, least int) (touched []int32) {
	members := 0
	var others []int32
	for _, index := range c.sections {
		if s.list[index].touched {
			touched, members = append(touched, index), members+len(s.list[index].members)
		} else {
			others = append(others, index)
		}
	}
	if len(touched) == 0 {
		return nil
	}
	for (len(touched) < 2 || members < least) && len(others) > 0 {
		i, last := s.draw(len(others)), len(others)-1
		touched, members = append(touched, others[i]), members+len(s.list[others[i]].members)
		others[i] = others[last]
		others = others[:last]
	}
	return touched
}

// rowsFor is how many rows some members get who lay in so many.
func rowsFor(members, before int) int {
	if members > packedMembers*before || members < sectionLeast*before {
		return max(1, (members+sectionMembers-1)/sectionMembers)
	}
	return before
}

// dealt divides shuffled members into rows of even sizes.
func (s *sections) dealt(members []int32, rows int) [][]int32 {
	s.shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	pieces := make([][]int32, rows)
	for i := range pieces {
		pieces[i] = members[len(members)*i/rows : len(members)*(i+1)/rows]
	}
	return pieces
}

// divide divides the members of a class that has no sections, and returns its rows.
func (s *sections) divide(class incremental.ClassID, members []int32) (rows []packedRow) {
	if len(members) <= packedMembers {
		s.shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return []packedRow{{class, onlySection, members}}
	}
	for i, piece := range s.dealt(members, (len(members)+packedMembers-1)/packedMembers) {
		rows = append(rows, s.fill(s.add(class, int32(i+1)), piece))
	}
	return rows
}

// fill has members, which lie nowhere, lie in an empty section, and returns its row.
func (s *sections) fill(index int32, members []int32) packedRow {
	of := &s.list[index]
	of.members, of.touched = make([]int32, 0, len(members)), false
	for _, slot := range members {
		s.put(slot, index)
	}
	return packedRow{of.class, of.number, members}
}

// deal deals the members of some sections of a class anew: into rows that stay, new ones and,
// where fewer are needed, none instead of those that are gone. A class that one row has
// room for has no sections any more.
func (s *sections) deal(class incremental.ClassID, c *dividedClass, touched []int32) (stay, made []packedRow, gone []packedKey) {
	var members []int32
	for _, index := range touched {
		members = append(members, s.list[index].members...)
		s.empty(index)
	}
	rows := rowsFor(len(members), len(touched))
	if rows == 1 && len(touched) == len(c.sections) {
		for _, index := range touched {
			gone = append(gone, packedKey{class, s.list[index].number})
		}
		_, single := s.single[class]
		if s.release(class); single {
			s.single[class] = struct{}{}
		}
		return nil, s.divide(class, members), gone
	}
	for i, piece := range s.dealt(members, rows) {
		if i < len(touched) {
			stay = append(stay, s.fill(touched[i], piece))
		} else {
			made = append(made, s.fill(s.add(class, c.number+1), piece))
		}
	}
	for _, index := range touched[min(rows, len(touched)):] {
		gone = append(gone, packedKey{class, s.list[index].number})
		c.sections = slices.DeleteFunc(c.sections, func(other int32) bool { return other == index })
		s.unused = append(s.unused, index)
	}
	return stay, made, gone
}
