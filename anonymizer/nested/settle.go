package nested

import (
	"cmp"
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// candidates is how many groups, drawn at random, one that is too small is compared with, besides
// those that change at the same time.
const candidates = 256

// patience is the share of the classes, as its inverse, that change before it is tried again to make
// groups of classes that did not satisfy the constraints together: that looks at all of them.
const patience = 100

// settling is one Settle.
type settling struct {
	*Groups
	touched map[incremental.ClassID]*union
	rewrite map[incremental.ClassID]bool // groups of which something shown has changed
	retired []incremental.ClassID
}

// Settle has the groups follow the classes that they are made of: finer is how these have changed
// since the last Settle, Begin or Load. It returns how the groups have changed. The error is the
// context's.
func (g *Groups) Settle(ctx context.Context, finer incremental.Changes) (incremental.Changes, error) {
	if g.isAnew(finer) {
		if g.changed += len(finer.Rewrite) + len(finer.Retired); g.err != nil && patience*g.changed < g.finer.Classes() {
			return incremental.Changes{}, nil
		}
		return g.anew(ctx)
	}
	s := &settling{Groups: g, touched: map[incremental.ClassID]*union{}, rewrite: map[incremental.ClassID]bool{}}
	for _, class := range finer.Retired {
		s.leave(class)
	}
	var homeless []incremental.ClassID
	for _, class := range finer.Rewrite {
		if id, known := g.of[class]; known {
			s.touch(g.list[g.places[id]])
		} else {
			homeless = append(homeless, class)
		}
	}
	for _, class := range homeless {
		s.house(class)
	}
	if err := s.repair(ctx); err != nil {
		return incremental.Changes{}, err
	}
	return s.changes(), nil
}

// isAnew reports whether nothing is left to follow: there are no groups, or most classes are others.
func (g *Groups) isAnew(finer incremental.Changes) bool {
	return len(g.list) == 0 || 2*len(finer.Retired) > len(g.of)
}

// anew makes all groups anew.
func (g *Groups) anew(ctx context.Context) (changes incremental.Changes, err error) {
	for _, one := range g.list {
		if one.known {
			changes.Retired = append(changes.Retired, one.id)
		}
	}
	slices.Sort(changes.Retired)
	if err := g.Begin(ctx); err != nil {
		return incremental.Changes{}, err
	}
	changes.Moved = map[incremental.RecordID]incremental.ClassID{}
	for _, one := range g.list {
		changes.Rewrite = append(changes.Rewrite, one.id)
		for _, slot := range g.AppendSlots(nil, one.id) {
			changes.Moved[g.finer.InSlot(slot)] = one.id
		}
	}
	slices.Sort(changes.Rewrite)
	return changes, nil
}

func (s *settling) touch(one *union) {
	s.touched[one.id] = one
	s.rewrite[one.id] = true
}

// leave takes a class that is no more out of its group.
func (s *settling) leave(class incremental.ClassID) {
	id, known := s.of[class]
	if !known {
		return
	}
	delete(s.of, class)
	one := s.list[s.places[id]]
	one.classes = slices.DeleteFunc(one.classes, func(other incremental.ClassID) bool { return other == class })
	s.touch(one)
}

// house has a new class join the group that most of its records were in, or the nearest one.
func (s *settling) house(class incremental.ClassID) {
	from := map[incremental.ClassID]int{}
	for _, slot := range s.finer.AppendSlots(nil, class) {
		if int(slot) < len(s.bySlot) {
			if _, there := s.places[s.bySlot[slot]]; there {
				from[s.bySlot[slot]]++
			}
		}
	}
	var home *union
	most := 0
	for id, records := range from {
		if records > most || records == most && id < home.id {
			home, most = s.list[s.places[id]], records
		}
	}
	if home == nil {
		home = s.nearest(s.boxOf(class), nil)
	}
	if home == nil {
		home = s.make()
	}
	s.join(home, class)
	s.touch(home)
}

// repair brings the touched groups into order: those without a class go, those that violate the
// constraints are united with others, and those that can be are divided.
func (s *settling) repair(ctx context.Context) error {
	waiting := make([]*union, 0, len(s.touched))
	for _, one := range s.touched {
		waiting = append(waiting, one)
	}
	slices.SortFunc(waiting, func(a, b *union) int { return cmp.Compare(a.id, b.id) })
	for _, one := range waiting {
		s.measure(one)
	}
	for len(waiting) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		one := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if s.touched[one.id] != one {
			continue // it has gone meanwhile
		}
		switch {
		case len(one.classes) == 0:
			s.drop(one)
		case !s.satisfied(one.classes):
			other := s.nearest(one.box, one)
			if other == nil {
				s.withhold()
				return nil
			}
			s.unite(one, other)
			waiting = append(waiting, other)
		case one.size >= 2*s.k && one.size >= one.splitAt:
			waiting = append(waiting, s.divide(one)...)
		}
	}
	return nil
}

// measure finds the size and the box of a group whose classes have changed.
func (s *settling) measure(one *union) {
	one.size, one.box = 0, nil
	for _, class := range one.classes {
		one.size += len(s.finer.AppendSlots(nil, class))
		one.box = include(one.box, s.boxOf(class))
	}
}

// satisfied reports whether classes satisfy the constraints together.
func (g *Groups) satisfied(classes []incremental.ClassID) bool {
	var slots []int32
	for _, class := range classes {
		slots = g.finer.AppendSlots(slots, class)
	}
	return g.constraints.Satisfied(g.finer.Summarize(slots), nil)
}

// nearest is the group, other than one, with which a box loses least; nil for none. It is looked for
// among those that are touched, and some that are drawn at random.
func (s *settling) nearest(box []span, except *union) (best *union) {
	var least float64
	look := func(one *union) {
		if one == except || len(one.classes) == 0 {
			return
		}
		lost := s.loss(include(append([]span(nil), one.box...), box)) - s.loss(one.box)
		if best == nil || lost < least || lost == least && one.id < best.id {
			best, least = one, lost
		}
	}
	for _, one := range s.touched {
		look(one)
	}
	if len(s.list) <= 2*candidates {
		for _, one := range s.list {
			look(one)
		}
		return best
	}
	for range candidates {
		look(s.list[s.random.IntN(len(s.list))])
	}
	return best
}

// unite has the classes of a group join another one.
func (s *settling) unite(one, other *union) {
	for _, class := range one.classes {
		s.of[class] = other.id
	}
	other.classes, other.size, other.box = append(other.classes, one.classes...), other.size+one.size, include(other.box, one.box)
	one.classes = nil
	other.splitAt = 0
	s.drop(one)
	s.touch(other)
}

func (s *settling) drop(one *union) {
	if one.known {
		s.retired = append(s.retired, one.id)
	}
	delete(s.touched, one.id)
	delete(s.rewrite, one.id)
	s.remove(one)
}

// withhold has no group be left, as all classes together do not satisfy the constraints.
func (s *settling) withhold() {
	for _, one := range slices.Clone(s.list) {
		s.drop(one)
	}
	clear(s.of)
	s.bySlot = nil
	s.err = s.infeasible()
}

// changes is what Settle returns.
func (s *settling) changes() incremental.Changes {
	changes := incremental.Changes{Moved: map[incremental.RecordID]incremental.ClassID{}, Retired: s.retired}
	for id := range s.rewrite {
		one := s.list[s.places[id]]
		changes.Rewrite = append(changes.Rewrite, id)
		for _, slot := range s.AppendSlots(nil, id) {
			if int(slot) >= len(s.bySlot) || s.bySlot[slot] != id || !one.known {
				changes.Moved[s.finer.InSlot(slot)] = id
			}
		}
	}
	for id := range s.rewrite {
		one := s.list[s.places[id]]
		one.known = true
		s.note(one)
	}
	slices.Sort(changes.Rewrite)
	slices.Sort(changes.Retired)
	return changes
}
