package sync

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// packedKey names a row of a packed release, and the rows of its members that have one of
// their own.
type packedKey struct {
	class   incremental.ClassID
	section int32
}

// packedRow is a row of a packed release with its members, in the order in which they lie
// in it.
type packedRow struct {
	class   incremental.ClassID
	section int32
	members []int32 // slots
}

// packedPlan is what a packed release has to be told of a group of changes.
type packedPlan struct {
	s       *packedRelease
	changes incremental.Changes
	planned map[incremental.ClassID]struct{}
	retired []incremental.ClassID // classes all of whose rows go
	gone    []packedKey           // rows that go
	stay    []packedRow           // rows that get other members, which are held in memory
	made    []packedRow           // new rows of such members
	restyle []incremental.ClassID // divided classes whose other rows may show what the class showed before
	// inServer are rows with members that are not held; those of replaced go, and have the
	// members that have not changed.
	inServer []packedRow
	replaced []packedKey
}

const (
	// coverLeast and coverMost bound the rows that are written besides those that changed.
	coverLeast = 2
	coverMost  = 32
)

// plan decides which rows are written.
func (s *packedRelease) plan(changes incremental.Changes) *packedPlan {
	p := &packedPlan{s: s, changes: changes, planned: map[incremental.ClassID]struct{}{}}
	for _, class := range changes.Retired {
		p.retired = append(p.retired, class)
		s.sections.release(class)
	}
	if s.hidden || s.t.pending.spilled {
		p.anew(changes.Rewrite)
		return p
	}
	s.follow(changes)
	for _, class := range changes.Rewrite {
		p.add(class)
	}
	p.cover()
	return p
}

// anew has classes written of which it is not known what has changed.
func (p *packedPlan) anew(classes []incremental.ClassID) {
	for _, class := range classes {
		p.s.sections.release(class)
	}
	for _, class := range classes {
		p.retired = append(p.retired, class)
		p.replace(class, p.s.divide(class), nil)
	}
}

// divide has the members of a class lie in new rows.
func (s *packedRelease) divide(class incremental.ClassID) []packedRow {
	rows := s.sections.divide(class, s.membersOf(class))
	if c := s.sections.classes[class]; c != nil {
		c.look = s.look(class)
	}
	return rows
}

func (s *packedRelease) membersOf(class incremental.ClassID) []int32 {
	return s.classes.AppendSlots(nil, class)
}

// look is what the rows of a class show.
func (s *packedRelease) look(class incremental.ClassID) string {
	return s.part.displayedTexts(s.classes.Generalize(class))
}

// holds tells whether the members of some rows are all held in memory. A release that conceals columns is written inside the
// server: otherwise the order in which rows are written would tell readers whose values there are wide.
func (s *packedRelease) holds(rows []packedRow) bool {
	return !s.concealing && !slices.ContainsFunc(rows, func(r packedRow) bool { return !s.t.copies.have(r.members) })
}

// follow has sections know who has left them, and whose values have changed.
func (s *packedRelease) follow(changes incremental.Changes) {
	for id, class := range changes.Moved {
		slot := s.classes.SlotOf(id)
		if of := s.sections.sectionOf(slot); of != nil && of.class != class {
			s.sections.forget(slot)
		}
	}
	for id, row := range s.t.pending.rows {
		if row.shown {
			s.sections.touch(s.classes.SlotOf(id))
		}
	}
}

// add has what changed of a class written.
func (p *packedPlan) add(class incremental.ClassID) {
	p.planned[class] = struct{}{}
	c := p.s.sections.classes[class]
	if c == nil {
		p.addWhole(class)
		return
	}
	for _, slot := range p.s.membersOf(class) {
		if p.s.sections.sectionOf(slot) == nil {
			index := p.s.sections.drawn(c)
			p.s.sections.put(slot, index)
			p.s.sections.list[index].touched = true
		}
	}
	p.addTouched(class, c)
}

// addWhole has a class written that has no sections so far.
func (p *packedPlan) addWhole(class incremental.ClassID) {
	rows := p.s.divide(class)
	_, single := p.s.sections.single[class]
	switch {
	case class >= p.s.sections.next:
		p.replace(class, rows, nil)
	case !single && len(rows) == 1 && p.s.holds(rows):
		p.stay = append(p.stay, rows...)
	default:
		p.replace(class, rows, []packedKey{{class, onlySection}})
	}
}

// addTouched has the touched sections of a divided class written, and has the others show
// what the class shows now.
func (p *packedPlan) addTouched(class incremental.ClassID, c *dividedClass) {
	sections := p.s.sections
	if touched := sections.touchedOf(c, p.s.k); len(touched) > 0 {
		var before []packedKey
		for _, index := range touched {
			before = append(before, packedKey{class, sections.list[index].number})
		}
		stay, made, gone := sections.deal(class, c, touched)
		_, single := sections.single[class]
		if rows := slices.Concat(stay, made); single || !p.s.holds(rows) {
			p.replace(class, rows, before)
		} else {
			p.stay, p.made, p.gone = append(p.stay, stay...), append(p.made, made...), append(p.gone, gone...)
		}
	}
	if look := p.s.look(class); look != c.look {
		c.look = look
		p.restyle = append(p.restyle, class)
	}
}

// replace has rows of a class written instead of others.
func (p *packedPlan) replace(class incremental.ClassID, rows []packedRow, instead []packedKey) {
	sections := p.s.sections
	if !p.s.holds(rows) {
		sections.single[class] = struct{}{}
		p.inServer, p.replaced = append(p.inServer, rows...), append(p.replaced, instead...)
		return
	}
	if sections.classes[class] == nil {
		delete(sections.single, class)
	}
	p.made, p.gone = append(p.made, rows...), append(p.gone, instead...)
}

// written is how many rows are written.
func (p *packedPlan) written() int { return len(p.stay) + len(p.made) + len(p.inServer) }

// cover has rows of other classes, drawn at random, written with those that changed, as many
// as these.
func (p *packedPlan) cover() {
	classes, sections := p.s.classes, p.s.sections
	changed := p.written()
	if changed == 0 || classes.Classes() == 0 {
		return
	}
	covers := min(coverMost, max(coverLeast, changed))
	for range 4 * covers {
		if p.written() >= changed+covers {
			return
		}
		class := classes.ClassAt(sections.draw(classes.Classes()))
		if _, planned := p.planned[class]; planned {
			continue
		}
		p.planned[class] = struct{}{}
		if c := sections.classes[class]; c != nil {
			sections.list[sections.drawn(c)].touched = true
			p.addTouched(class, c)
		} else {
			p.addWhole(class)
		}
	}
}
