package people

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Constraints on sensitive values that are stated for an audience hold for what those of the finer release hold for, and count the same:
// the persons of a union with all values of all their rows, and those of a cell with the values of its window.

// errOverColumns refuses what unions of classes of persons are not made for.
var errOverColumns = errors.New("unions of classes of persons satisfy constraints of k, l and alpha, over all columns")

// constrain takes over what holds for the release: k, what holds for the tables' own readers, and what is stated for audiences.
func (c *Coarser) constrain() error {
	for _, constraint := range c.options.Constraints {
		switch constraint.(type) {
		case privacy.KAnonymity:
		case privacy.DistinctDiversity, privacy.AlphaBound:
			c.stated = append(c.stated, constraint)
		default:
			return fmt.Errorf("%v: %w", constraint, errOverColumns)
		}
	}
	c.constraints = privacy.ConstraintSet{privacy.KAnonymity{K: c.k}}
	for _, constraint := range c.of.constraints {
		if _, is := constraint.(privacy.KAnonymity); !is {
			c.constraints = append(c.constraints, constraint)
		}
	}
	c.constraints = append(c.constraints, c.stated...)
	c.inCells = c.of.counting(c.constraints)
	return nil
}

// sizeDecides reports whether every cell of k persons satisfies the constraints.
func (c *Coarser) sizeDecides() bool { return len(c.constraints) == 1 }

// countClasses has the classes of persons united until the stated constraints hold: those of the finer release hold for unions, which have
// no person in common.
func (c *Coarser) countClasses() {
	if len(c.stated) == 0 {
		return
	}
	of := c.of.counting(c.stated)
	who := slices.ContainsFunc(c.stated, func(constraint privacy.Constraint) bool { // has which values counts, too, and not only how many have one
		_, diverse := constraint.(privacy.DistinctDiversity)
		return diverse
	})
	c.classes.count(c.of.values, func(a *atom) privacy.Summary {
		s := privacy.NewSubjectSummary(c.of.values)
		for id := range a.rows {
			c.of.count(&s, c.of.root.find(id), anyWindow, of)
		}
		if !who {
			return privacy.Summary{Records: s.Records, Sensitive: s.Sensitive}
		}
		return s
	})
}

// valuesInWindow counts the persons of finer cells with their values in the window of the unit.
func (u *coarserUnit) valuesInWindow(of ...*atom) privacy.Summary {
	s, window := privacy.NewSubjectSummary(u.of.values), u.key.window
	if u.of.knows.All {
		window = anyWindow
	}
	counted := make(map[int32]struct{})
	for _, a := range of {
		for id := range a.rows {
			person, _ := u.of.person(a.table, u.of.tables[a.table].find(id))
			if _, twice := counted[person]; !twice {
				counted[person] = struct{}{}
				u.of.count(&s, person, window, u.inCells)
			}
		}
	}
	return s
}

// recount has the groups and cells looked at of persons whose values have changed, seen by readers or not: those of rows that the finer
// release publishes one by one count here.
func (s *coarsening) recount(valued map[incremental.RecordID]map[int32]struct{}) {
	if s.sizeDecides() {
		return
	}
	classes := make(map[*atom]struct{})
	for id, windows := range valued {
		a := s.cellOf[0][id]
		if a == nil || !s.classes.has(a) {
			continue
		}
		classes[a] = struct{}{}
		if s.of.knows.All {
			windows = map[int32]struct{}{0: {}}
		}
		for window := range windows {
			if key := (unitKey{a.id, window}); s.units[key] != nil {
				s.dirty[key] = struct{}{}
			}
		}
	}
	if s.classes.tally == nil {
		return
	}
	for a := range maps.Keys(classes) {
		s.classes.recount(a)
		s.groups.Recount(a.id)
	}
}
