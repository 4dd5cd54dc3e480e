package incremental

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Loading fills an empty partition with the records of a store, in the order in which
// they come, and with their classes, in any order. Like Load it is meant for the start, and
// what is loaded counts as the state at the last Settle; but the directory of the records
// is made once, when all are there, and nothing is looked for before. Between its beginning
// and its end the partition must not be used otherwise, and after an error not at all.
// Record and Seat may be called at the same time as the other one.
type Loading struct {
	of    *Partition
	seats []seats
	ids   []RecordID // of all seats
}

// seats are some of the records of a class: those of Loading.ids up to an end.
type seats struct {
	class ClassID
	index int32
	end   int
}

// BeginLoading begins a Loading of about so many records.
func (p *Partition) BeginLoading(room int) (*Loading, error) {
	if p.Len() > 0 || len(p.classes.list) > 0 {
		return nil, fmt.Errorf("loading %d records into a partition that has some", room)
	}
	p.records.reserve(room)
	return &Loading{of: p}, nil
}

// Record takes a further record, which gets the next slot, from 0 on. The error is about
// its shape.
func (l *Loading) Record(r Record) error {
	p := l.of
	if err := p.checkShape(r); err != nil {
		return fmt.Errorf("loading: %w", err)
	}
	p.widenDomain(r.Cells)
	p.count(p.records.append(r))
	return nil
}

// Seat says that records are in a class; it can be given in several calls.
func (l *Loading) Seat(class ClassID, ids []RecordID) error {
	if class <= withheld {
		return fmt.Errorf("seating records in class %d: class ids are positive", class)
	}
	if len(ids) == 0 {
		return nil
	}
	l.ids = append(l.ids, ids...)
	l.seats = append(l.seats, seats{class: class, end: len(l.ids)})
	return nil
}

// End gives the records their classes; those without one wait. The error is ErrDuplicate
// for a record that is there twice or has two classes, and ErrUnknown for one that has a
// class and is not there.
func (l *Loading) End() error {
	p := l.of
	if slot := p.records.enterAll(); slot >= 0 {
		return fmt.Errorf("loading record %d: %w", p.records.ids[slot], ErrDuplicate)
	}
	before := 0
	for i := range l.seats {
		s := &l.seats[i]
		s.index = p.loaded(s.class, s.end-before)
		before = s.end
	}
	if err := l.seatAll(); err != nil {
		return err
	}
	for i := range p.classes.list {
		if err := l.assign(int32(i)); err != nil {
			return err
		}
	}
	for slot := range p.records.ids {
		if p.records.at[slot].class == unplaced {
			p.wait(int32(slot))
		}
	}
	return nil
}

const (
	// fewSeats are so few records that dividing the work takes longer than doing it.
	fewSeats = 10_000
	// mostSeating bounds how many goroutines give seats.
	mostSeating = 4
	// seatRun is how many neighboring classes one of them has, so that they do not write
	// next to each other.
	seatRun = 64
)

// seatAll finds the records of all classes and widens what these cover: records lie far
// apart, so that the time is that of waiting for memory, which several can do at once.
// Each class is one goroutine's.
func (l *Loading) seatAll() error {
	shares := min(mostSeating, runtime.GOMAXPROCS(0))
	if len(l.ids) < fewSeats {
		shares = 1
	}
	failures := make([]error, shares)
	var running sync.WaitGroup
	for share := range shares {
		running.Go(func() { failures[share] = l.seatShare(int32(share), int32(shares)) })
	}
	running.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Loading) seatShare(share, shares int32) error {
	p, before := l.of, 0
	for _, s := range l.seats {
		ids := l.ids[before:s.end]
		before = s.end
		if s.index/seatRun%shares != share {
			continue
		}
		// All are looked for before any is waited for.
		members := p.classes.list[s.index].members
		from := len(members)
		for _, id := range ids {
			slot := p.records.slot(id)
			if slot < 0 {
				return fmt.Errorf("seating record %d in class %d: %w", id, s.class, ErrUnknown)
			}
			members = append(members, slot)
		}
		covers := p.classes.row(s.index)
		for _, slot := range members[from:] {
			p.include(covers, slot)
		}
		p.classes.list[s.index].members = members
	}
	return nil
}

// assign tells the members of a class where they sit.
func (l *Loading) assign(index int32) error {
	p := l.of
	c := &p.classes.list[index]
	for place, slot := range c.members {
		if at := &p.records.at[slot]; at.class != unplaced {
			return fmt.Errorf("seating record %d in class %d: %w", p.records.ids[slot], c.id, ErrDuplicate)
		}
		p.records.at[slot] = seat{index, int32(place)}
	}
	return nil
}

// reserve makes room for some records, so that what holds them need not grow.
func (s *records) reserve(room int) {
	s.ids, s.at = slices.Grow(s.ids, room), slices.Grow(s.at, room)
	for a := range s.sensitive {
		s.sensitive[a] = slices.Grow(s.sensitive[a], room)
	}
	if s.subjects != nil {
		s.subjects = slices.Grow(s.subjects, room)
	}
}

// append adds a record that the directory does not have, behind all others.
func (s *records) append(r Record) int32 {
	if s.sensitive == nil {
		s.sensitive = make([][]uint32, len(r.Sensitive))
		s.reserve(cap(s.ids) - len(s.ids))
	}
	slot := s.behind()
	s.ids[slot] = r.ID
	s.at[slot].class = unplaced
	s.set(slot, r)
	return slot
}

// enterAll makes the directory of all records; -1, or the slot of one that has another
// one's number.
func (s *records) enterAll() int32 { return s.numbers.Fill(s.ids) }
