package people

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// union is a published class of persons: a class of the partition or, where that violates
// the constraints, several that satisfy them together.
type union struct {
	classes []incremental.ClassID
	persons []int32 // slots
	boxes   []box   // of the root's values
	shown   bool    // as it is
}

// errTooAlike is why nothing is published although there are enough persons.
var errTooAlike = errors.New("all persons together violate the constraints")

// unions are the published classes.
type unions struct {
	of      map[incremental.ClassID]*union
	list    []*union // without those that are gone
	tooMany int      // gone unions in the list
}

func newUnions() unions { return unions{of: make(map[incremental.ClassID]*union)} }

func (u *unions) add(one *union) {
	for _, class := range one.classes {
		u.of[class] = one
	}
	u.list = append(u.list, one)
}

// remove forgets a union; what was shown of it is still shown.
func (u *unions) remove(one *union) {
	for _, class := range one.classes {
		delete(u.of, class)
	}
	one.classes = nil
	if u.tooMany++; 2*u.tooMany > len(u.list) {
		u.list = slices.DeleteFunc(u.list, func(o *union) bool { return o.classes == nil })
		u.tooMany = 0
	}
}

// regroup makes unions of the classes that have changed, and has those that violate the
// constraints united with the nearest others. It reports whether all that is left
// satisfies them.
func (s *settling) regroup(moved incremental.Changes) bool {
	if s.withheld != nil && !s.allHold() {
		return false // without another look at every class
	}
	changed := make(map[incremental.ClassID]struct{})
	for _, class := range slices.Concat(moved.Retired, moved.Rewrite) {
		changed[class] = struct{}{}
		if u := s.unions.of[class]; u != nil {
			for _, other := range u.classes {
				changed[other] = struct{}{}
			}
			s.unions.remove(u)
		}
	}
	if s.withheld != nil {
		for i := range s.partition.Classes() {
			changed[s.partition.ClassAt(i)] = struct{}{}
		}
	}
	for _, class := range sortedKeys(changed) {
		if u := s.newUnion(class); u.classes != nil {
			s.unions.add(u)
		}
	}
	if s.sizeDecides() {
		return true
	}
	united := 0
	for _, u := range s.suspects() {
		for u.classes != nil && !s.holds(u.persons) {
			near := s.nearest(u)
			if united++; near == nil || united == manyUnited && !s.allHold() {
				return false
			}
			u = s.unite(u, near)
		}
	}
	return true
}

// manyUnited is how many classes are united before all persons are counted: where all of them
// together violate the constraints, all classes would be united in vain, one after the other.
const manyUnited = 16

// allHold reports whether all persons together satisfy the constraints. Where they do not, no
// division of them does.
func (s *settling) allHold() bool {
	var all []int32
	for slot, id := range s.root.ids {
		if id != 0 {
			all = append(all, int32(slot))
		}
	}
	return s.sizeDecides() || s.holds(all)
}

// newUnion is of one class; a class that is gone has no persons, and makes none.
func (s *settling) newUnion(classes ...incremental.ClassID) *union {
	u := &union{boxes: s.root.space().reset(nil)}
	for _, class := range classes {
		members := s.partition.Members(class)
		if len(members) == 0 {
			continue
		}
		u.classes = append(u.classes, class)
		for _, id := range members {
			u.persons = append(u.persons, s.root.find(id))
		}
	}
	slices.SortFunc(u.persons, func(a, b int32) int { return cmp.Compare(s.root.ids[a], s.root.ids[b]) })
	for _, person := range u.persons {
		for a := range u.boxes {
			u.boxes[a] = u.boxes[a].with(s.root.position(a, person))
		}
	}
	return u
}

// suspects are the unions whose persons' values may have changed.
func (s *settling) suspects() []*union {
	var all []*union
	seen := make(map[*union]bool)
	for _, u := range s.unions.list {
		if !u.shown && u.classes != nil {
			all = append(all, u)
		}
	}
	for _, id := range sortedKeys(s.dirty.persons) {
		if u := s.unions.of[s.partition.ClassOf(id)]; u != nil && u.shown && !seen[u] {
			seen[u] = true
			all = append(all, u)
		}
	}
	return all
}

func (s *settling) unite(u, with *union) *union {
	classes := slices.Concat(u.classes, with.classes)
	slices.Sort(classes)
	s.unions.remove(u)
	s.unions.remove(with)
	united := s.newUnion(classes...)
	s.unions.add(united)
	return united
}

// nearest is the union that loses least of the root's values when it is united with one;
// nil where there is no other.
func (s *settling) nearest(u *union) *union {
	var best *union
	space, least := s.root.space(), math.Inf(1)
	both := make([]box, len(u.boxes))
	for _, other := range s.unions.list {
		if other == u || other.classes == nil {
			continue
		}
		for a := range both {
			both[a] = u.boxes[a].and(other.boxes[a])
		}
		loss := space.loss(both)*float64(len(u.persons)+len(other.persons)) - space.loss(other.boxes)*float64(len(other.persons))
		if best == nil || loss < least {
			best, least = other, loss
		}
	}
	return best
}

// holds reports whether persons with all values of all their rows satisfy the constraints.
func (m *Maintained) holds(persons []int32) bool {
	s := privacy.NewSubjectSummary(m.values)
	for _, p := range persons {
		m.count(&s, p, anyWindow, m.counted)
	}
	return m.constraints.Satisfied(s, nil)
}

// sizeDecides reports whether every class of at least k persons satisfies the constraints.
func (m *source) sizeDecides() bool { return len(m.constraints) == 1 }

// maintainable returns the constraints without those that another one of k implies.
func maintainable(c privacy.ConstraintSet) (privacy.ConstraintSet, error) {
	set := privacy.ConstraintSet{privacy.KAnonymity{K: c.K()}}
	if err := supported(c); err != nil {
		return nil, err
	}
	if c.Relative() {
		return nil, fmt.Errorf("%v: constraints that compare classes with all persons are not supported in a maintained release of several tables", c)
	}
	for _, constraint := range c {
		if _, is := constraint.(privacy.KAnonymity); !is {
			set = append(set, constraint)
		}
	}
	return set, nil
}

// ofTable are the constraints of the sensitive attributes from first on, which are
// numbered from 0, with k.
func ofTable(c privacy.ConstraintSet, first, attributes int) privacy.ConstraintSet {
	own := privacy.ConstraintSet{privacy.KAnonymity{K: c.K()}}
	in := func(attribute *int) bool {
		*attribute -= first
		return *attribute >= 0 && *attribute < attributes
	}
	for _, constraint := range c {
		switch x := constraint.(type) {
		case privacy.DistinctDiversity:
			if in(&x.Attribute) {
				own = append(own, x)
			}
		case privacy.EntropyDiversity:
			if in(&x.Attribute) {
				own = append(own, x)
			}
		case privacy.RecursiveDiversity:
			if in(&x.Attribute) {
				own = append(own, x)
			}
		case privacy.AlphaBound:
			if in(&x.Attribute) {
				own = append(own, x)
			}
		}
	}
	return own
}
