package incremental

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/kproxy/kproxy/anonymizer/compact"
)

// Loading fills an empty partition with the records of a store, in the order in which
// they come, and with their classes, in any order. Like Load it is meant for the start, and
// what is loaded counts as the state at the last Settle; but the directory of the records
// is made once, when all are there, and nothing is looked for before. Between its beginning
// and its end the partition must not be used otherwise, and after an error not at all.
// Record and Assign may be called at the same time as the other one.
type Loading struct {
	of   *Partition
	runs []memberRun
	ids  []RecordID // of all runs
}

// memberRun is some of the records of a class: those of Loading.ids up to an end.
type memberRun struct {
	class ClassID
	index int32
	end   int
}

// BeginLoading begins a Loading of about so many records.
func (p *Partition) BeginLoading(room int) (*Loading, error) {
	if p.Len() > 0 || len(p.members.classes.list) > 0 {
		return nil, fmt.Errorf("loading %d records into a partition that has some", room)
	}
	p.members.records.reserve(room)
	return &Loading{of: p, ids: make([]RecordID, 0, room)}, nil
}

// Record takes one more record, which gets the next slot, from 0 on. The error is about its shape.
func (l *Loading) Record(r Record) error {
	p := l.of
	if err := p.members.records.checkShape(r); err != nil {
		return fmt.Errorf("loading: %w", err)
	}
	p.domain.widen(p.members.attributes, r.Cells)
	p.population.count(p.members.records.append(r))
	return nil
}

// Assign puts records into a class; several calls may name the same class.
func (l *Loading) Assign(class ClassID, ids []RecordID) error {
	if class <= withheld {
		return fmt.Errorf("assigning records to class %d: class ids are positive", class)
	}
	if len(ids) == 0 {
		return nil
	}
	l.ids = append(l.ids, ids...)
	l.runs = append(l.runs, memberRun{class: class, end: len(l.ids)})
	return nil
}

// End gives the records their classes; those without one wait. The error is ErrDuplicate
// for a record that is there twice or has two classes, and ErrUnknown for one that has a
// class and is not there.
func (l *Loading) End() error {
	p := l.of
	p.members.records.fit()
	slots, twice := compact.NewLookup(p.members.records.ids)
	if twice >= 0 {
		return fmt.Errorf("loading record %d: %w", p.members.records.ids[twice], ErrDuplicate)
	}
	var running sync.WaitGroup
	running.Go(func() { p.members.records.numbers.Fill(p.members.records.ids) })
	l.enterClasses()
	err := compact.InShares(len(l.ids), func(share, shares int) error { return l.addMembers(&slots, share, shares) })
	if err == nil {
		err = compact.InShares(len(l.ids), l.link)
	}
	running.Wait()
	if err != nil {
		return err
	}
	for slot := range p.members.records.ids {
		if p.members.records.at[slot].class == unplaced {
			p.members.wait(int32(slot))
		}
	}
	return nil
}

// enterClasses makes the classes, with room for their members.
func (l *Loading) enterClasses() {
	p, before := l.of, 0
	p.members.reserve(min(len(l.runs), len(l.ids)/max(1, p.members.k)))
	sizes := make([]int32, 0, cap(p.members.classes.list))
	for i := range l.runs {
		s := &l.runs[i]
		s.index = p.members.loaded(s.class)
		if int(s.index) == len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[s.index] += int32(s.end - before)
		before = s.end
	}
	var room []int32
	for index, size := range sizes {
		if int(size) > len(room) {
			room = make([]int32, max(int(size), membersPiece))
		}
		p.members.classes.list[index].members, room = room[:0:size], room[size:]
	}
}

// membersPiece is how many members of neighboring classes lie in one piece of memory,
// until their classes change. It is given back when the last of these has.
const membersPiece = 1 << 10

// shareRun is how many neighboring classes one goroutine has, so that they do not write next
// to each other.
const shareRun = 64

// addMembers finds the members of one run of classes in each share, and widens what these
// cover.
func (l *Loading) addMembers(slots *compact.Lookup[RecordID], share, shares int) error {
	p, before, touched := l.of, 0, 0.0
	for _, s := range l.runs {
		ids := l.ids[before:s.end]
		before = s.end
		if int(s.index)/shareRun%shares != share {
			continue
		}
		members := p.members.classes.list[s.index].members
		from := len(members)
		for _, id := range ids {
			slot := slots.Find(id)
			if slot < 0 {
				return fmt.Errorf("assigning record %d to class %d: %w", id, s.class, ErrUnknown)
			}
			members = append(members, slot)
		}
		// All are asked for before any is waited for.
		for _, slot := range members[from:] {
			if cells := p.members.records.cells.Row(slot); len(cells) > 0 {
				touched += cells[0]
			}
		}
		covers := p.members.classes.row(s.index)
		for _, slot := range members[from:] {
			p.members.include(covers, slot)
		}
		p.members.classes.list[s.index].members = members
	}
	runtime.KeepAlive(touched)
	return nil
}

// link notes the location of the records whose slots are in one share of all.
func (l *Loading) link(share, shares int) error {
	p := l.of
	at := p.members.records.at
	from, to := int32(len(at)*share/shares), int32(len(at)*(share+1)/shares)
	for index := range p.members.classes.list {
		for place, slot := range p.members.classes.list[index].members {
			switch {
			case slot < from || slot >= to:
			case at[slot].class != unplaced:
				return fmt.Errorf("assigning record %d to class %d: %w", p.members.records.ids[slot], p.members.classes.ids[index], ErrDuplicate)
			default:
				at[slot] = location{int32(index), int32(place)}
			}
		}
	}
	return nil
}
