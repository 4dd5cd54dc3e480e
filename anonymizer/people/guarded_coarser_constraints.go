package people

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// followable returns the constraints on values that a coarser release has to enforce itself,
// because its unions do not satisfy them in any case: those of values of root records. The error is
// about a constraint that it cannot enforce. COARSER.md, "Coarser guarded releases", explains why.
func (g *Guarded) followable() (privacy.ConstraintSet, error) {
	var set privacy.ConstraintSet
	for _, c := range g.demanded {
		switch x := c.(type) {
		case privacy.KAnonymity:
		case privacy.DistinctDiversity:
			if !g.isOfRoot(x) {
				set = append(set, x)
			}
		case privacy.AlphaBound:
			switch {
			case !g.isOfRoot(x):
				set = append(set, x)
			case !g.knows.All: // else it holds for persons of several classes, as it does for those of each
				return nil, fmt.Errorf("%v: it bounds values of root records, and cells are united of one person's several rows", x)
			}
		default:
			return nil, fmt.Errorf("%v: it can hold for all values of a class, and not for those that are shown first", c)
		}
	}
	return whereShown(set), nil
}

// isOfRoot reports whether a constraint is on values of root records.
func (s *source) isOfRoot(c privacy.Constraint) bool {
	return attributeOf(c) < s.root.sensitive.Columns()
}

// statable are the constraints on values that are stated for a coarser release. The error is about one that it is not made for.
func (g *Guarded) statable(stated privacy.ConstraintSet) (set privacy.ConstraintSet, err error) {
	for _, c := range stated {
		switch c.(type) {
		case privacy.KAnonymity:
		case privacy.DistinctDiversity, privacy.AlphaBound:
			if g.isOfRoot(c) && !g.knows.All {
				return nil, fmt.Errorf("%v: it is on values of root records, and whose rows a window shows is not published", c)
			}
			set = append(set, c)
		default:
			return nil, fmt.Errorf("%v: %w", c, errOverColumns)
		}
	}
	return set, nil
}

// state has the release hold constraints of its own.
func (c *GuardedCoarser) state(stated privacy.ConstraintSet) {
	if len(stated) == 0 {
		return
	}
	for _, constraint := range stated {
		if c.of.isOfRoot(constraint) {
			c.ofPersons = append(c.ofPersons, constraint)
		} else {
			c.ofRows, c.constraints = true, append(c.constraints, whereShown(privacy.ConstraintSet{constraint})...)
		}
	}
	c.numbers.keepValues(c.of)
}

// mendGroups unites groups whose persons violate the constraints on values of root records; it
// returns none if all waiting persons together violate them.
func (c *GuardedCoarser) mendGroups(ctx context.Context, groups [][]*finerCell) ([][]*finerCell, error) {
	if len(c.ofPersons) == 0 || len(groups) == 0 {
		return groups, nil
	}
	person := uint32(0)
	return c.mend(ctx, Root, groups, c.ofPersons, func(cells []*finerCell) (s privacy.Summary, persons []uint32) {
		s = privacy.NewSubjectSummary(c.of.values)
		for _, cell := range cells {
			for _, r := range cell.rows {
				s.AddSubject(person)
				for a, code := range r.codes {
					s.AddValueOf(person, a, code)
				}
				persons = append(persons, person)
				person++
			}
		}
		return s, persons
	})
}

// mendCells has unions of cells united whose persons violate the constraints with what is shown of them in the window; none where all
// together do.
func (c *GuardedCoarser) mendCells(ctx context.Context, f *coarserFrame, table int, unions [][]*finerCell) ([][]*finerCell, error) {
	if len(c.constraints) == 0 || len(unions) == 0 {
		return unions, nil
	}
	if !c.of.knows.All && !c.of.tables[table].unknown {
		v := c.shownWith(f, table, unions)
		mended, err := c.mend(ctx, table, unions, c.constraints, func(cells []*finerCell) (s privacy.Summary, persons []uint32) {
			var members []int32
			for _, cell := range cells {
				for _, r := range cell.rows {
					member := f.group.first[cell.class] + r.member
					members, persons = append(members, member), append(persons, uint32(member))
				}
			}
			return v.summary(c.of, members), persons
		})
		if err != nil || mended == nil {
			return nil, err
		}
		unions = mended
	}
	if !c.mayFollow(f, c.shownWith(f, table, unions)) {
		return nil, nil
	}
	return unions, nil
}

// mend unites unions of cells that violate constraints, by what is published of them, until all
// satisfy these; it returns none if all together do not. Counts are the persons of a union with
// their values, and the owner of each row.
func (c *GuardedCoarser) mend(ctx context.Context, table int, unions [][]*finerCell, constraints privacy.ConstraintSet, counts func([]*finerCell) (privacy.Summary, []uint32)) ([][]*finerCell, error) {
	classes, violated := make([]nested.Class, len(unions)), false
	for i, cells := range unions {
		summary, persons := counts(cells)
		violated = violated || !constraints.Satisfied(summary, nil)
		classes[i] = nested.Class{Labels: c.union(table, cells), Persons: persons, Sensitive: make([][]uint32, len(persons)), Counts: summary}
	}
	switch all := slices.Concat(unions...); {
	case !violated:
		return unions, nil
	case len(unions) == 1:
		return nil, nil
	case len(c.attributes.of(table)) == 0:
		if summary, _ := counts(all); !constraints.Satisfied(summary, nil) {
			return nil, nil
		}
		return [][]*finerCell{all}, nil
	}
	found, err := nested.UniteClasses(ctx, c.attributes.of(table), classes, constraints, anonymizer.Options{Seed: c.options.Seed})
	if err != nil {
		return nil, fmt.Errorf("uniting what is published of table %q by its values: %w", c.of.relation(table).name, err)
	}
	var mended [][]*finerCell
	for _, places := range found {
		var cells []*finerCell
		for _, place := range places {
			cells = append(cells, unions[place]...)
		}
		mended = append(mended, cells)
	}
	return mended, nil
}

// mayFollow reports whether the persons of a group, and those of each cell of a window, satisfy the constraints with the values
// that are shown of them in the window. It counts what the finer release shows of a pseudonym in the window, and nothing else.
func (c *GuardedCoarser) mayFollow(f *coarserFrame, v *shownValues) bool {
	all := make([]int32, len(f.group.classOf))
	for i := range all {
		all[i] = int32(i)
	}
	if !c.constraints.Satisfied(v.summary(c.of, all), nil) {
		return false
	}
	if c.of.knows.All {
		return true
	}
	for _, members := range v.cells {
		if !c.constraints.Satisfied(v.summary(c.of, members), nil) {
			return false
		}
	}
	return true
}

// shownValues are what is shown in a window of a group.
type shownValues struct {
	values map[int32][]valueOf // by member
	cells  map[int64][]int32   // the members of each cell of whose rows an outsider may know one
}

// shownWith are what a window shows with unions of cells of a table.
func (c *GuardedCoarser) shownWith(f *coarserFrame, table int, unions [][]*finerCell) *shownValues {
	v := &shownValues{values: make(map[int32][]valueOf), cells: make(map[int64][]int32)}
	for of, part := range f.parts {
		for _, r := range part.rows {
			v.add(c.of, of, r.cell, r.member, r.codes)
		}
	}
	for i, cells := range unions {
		for _, cell := range cells {
			for _, r := range cell.rows {
				v.add(c.of, table, int64(-1-i), f.group.first[cell.class]+r.member, r.codes)
			}
		}
	}
	return v
}

func (v *shownValues) add(of *source, table int, cell int64, member int32, codes []uint32) {
	for a, code := range codes {
		v.values[member] = append(v.values[member], valueOf{of.relation(table).first + a, code})
	}
	if !of.tables[table].unknown {
		v.cells[cell] = append(v.cells[cell], member)
	}
}

// summary counts members with their values.
func (v *shownValues) summary(of *source, members []int32) privacy.Summary {
	s := privacy.NewSubjectSummary(of.values)
	for _, member := range members {
		s.AddSubject(uint32(member))
		for _, value := range v.values[member] {
			s.AddValueOf(uint32(member), value.attribute, value.code)
		}
	}
	return s
}

// withhold has cells that violate the constraints together not be shown for good, nor what is below them: which part of
// them can be shown would tell of the values of the others.
func (c *GuardedCoarser) withhold(unions [][]*finerCell) {
	for _, cells := range unions {
		for _, cell := range cells {
			cell.withheld = true
			c.changes[cell.table+1].Withheld = append(c.changes[cell.table+1].Withheld, cell.id)
		}
	}
}

// close has a group show nothing more: all that was shown below its persons has vanished, by pseudonyms that stay, and its values would have
// to count. A store knows it by a cell that is never shown and has the group's number.
func (c *GuardedCoarser) close(group *coarserGroup) {
	group.closed = true
	c.changes[0].Waiting, c.changes[0].Withheld = append(c.changes[0].Waiting, WaitingCell{Cell: group.id}), append(c.changes[0].Withheld, group.id)
}

// withholdClosed withholds what waits for a closed group.
func (c *GuardedCoarser) withholdClosed(group *coarserGroup) {
	var cells []*finerCell
	for class := range group.first {
		if of := c.waiting[class]; of != nil {
			for cell := range of.cells {
				if !cell.withheld {
					cells = append(cells, cell)
				}
			}
		}
	}
	slices.SortFunc(cells, compareFiner)
	c.withhold([][]*finerCell{cells})
}
