package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// ifShown is a constraint that holds, too, where no value of its attribute is published.
type ifShown struct {
	privacy.Constraint
	none privacy.AlphaBound
}

// Satisfied implements privacy.Constraint.
func (c ifShown) Satisfied(class privacy.Summary, whole *privacy.Population) bool {
	return c.none.Satisfied(class, whole) || c.Constraint.Satisfied(class, whole)
}

// whereShown has constraints, but k-anonymity, hold as far as something is published. Persons
// are published before their rows.
func whereShown(set privacy.ConstraintSet) privacy.ConstraintSet {
	set = slices.Clone(set)
	for i, c := range set {
		attribute := 0
		switch x := c.(type) {
		case privacy.DistinctDiversity:
			attribute = x.Attribute
		case privacy.EntropyDiversity:
			attribute = x.Attribute
		case privacy.RecursiveDiversity:
			attribute = x.Attribute
		case privacy.AlphaBound:
			attribute = x.Attribute
		default:
			continue
		}
		set[i] = ifShown{c, privacy.AlphaBound{Attribute: attribute}}
	}
	return set
}

// mayFollow reports whether a class, and each cell of a window, satisfy the constraints when
// the cells of a unit are published, too. Its members are places in the class.
func (p *publishing) mayFollow(f *timeframe, u *unit, members []int32) bool {
	class := p.summary(f.class, allMembers(f.class))
	for _, v := range p.valuesOf(f.class.past, nil) {
		class.AddValueOf(uint32(v.member), v.attribute, v.code)
	}
	for _, other := range f.class.frames {
		p.addValues(&class, p.valuesIn(other))
	}
	added := p.newValues(u, members)
	p.addValues(&class, added)
	if !p.constraints.Satisfied(class, nil) {
		return false
	}
	if p.knows.All {
		return true
	}
	values := append(p.valuesIn(f), added...)
	for _, cell := range p.memberSets(f, u, members) {
		s := p.summary(f.class, cell)
		for _, v := range values {
			if _, in := slices.BinarySearch(cell, v.member); in {
				s.AddValueOf(uint32(v.member), v.attribute, v.code)
			}
		}
		if !p.constraints.Satisfied(s, nil) {
			return false
		}
	}
	return true
}

// memberValue is a value that a person of a class has.
type memberValue struct {
	member int32
	valueOf
}

func allMembers(c *shownClass) []int32 {
	members := make([]int32, len(c.members))
	for i := range members {
		members[i] = int32(i)
	}
	return members
}

// summary counts members of a class with the values of their root records.
func (p *publishing) summary(c *shownClass, members []int32) privacy.Summary {
	s := privacy.NewSubjectSummary(p.values)
	root := p.shown.of(Root)
	for _, member := range members {
		s.AddSubject(uint32(member))
		for a, code := range root.codes.Row(c.members[member]) {
			s.AddValueOf(uint32(member), a, code)
		}
	}
	return s
}

func (p *publishing) addValues(s *privacy.Summary, values []memberValue) {
	for _, v := range values {
		s.AddValueOf(uint32(v.member), v.attribute, v.code)
	}
}

// valuesIn are the values published in a window.
func (p *publishing) valuesIn(f *timeframe) (values []memberValue) {
	for _, of := range f.parts {
		values = p.valuesOf(of.cells, values)
	}
	return values
}

func (p *publishing) valuesOf(cells []*shownCell, values []memberValue) []memberValue {
	for _, cell := range cells {
		t, first := p.shown.of(cell.part.table), p.relation(cell.part.table).first
		for _, at := range cell.rows {
			for a, code := range t.codes.Row(at) {
				values = append(values, memberValue{t.rows[at].member, valueOf{first + a, code}})
			}
		}
	}
	return values
}

// newValues are those of the rows in a unit's cells.
func (p *publishing) newValues(u *unit, members []int32) (values []memberValue) {
	for table := range u.tables {
		t, of := &p.tables[table], &u.tables[table]
		for _, at := range slices.Concat(of.cells...) {
			for a, code := range t.sensitive.Row(of.rows[at]) {
				values = append(values, memberValue{members[of.person[at]], valueOf{t.first + a, code}})
			}
		}
	}
	return values
}

// memberSets are the persons of each cell of a window, and of a unit, of whose rows an
// outsider may know one.
func (p *publishing) memberSets(f *timeframe, u *unit, members []int32) (sets [][]int32) {
	add := func(cell []int32) {
		slices.Sort(cell)
		sets = append(sets, slices.Compact(cell))
	}
	for table := range p.tables {
		if p.tables[table].unknown {
			continue
		}
		if of := f.parts[table]; of != nil {
			for _, cell := range of.cells {
				var in []int32
				for _, at := range cell.rows {
					in = append(in, p.shown.of(table).rows[at].member)
				}
				add(in)
			}
		}
		for _, cell := range u.tables[table].cells {
			var in []int32
			for _, at := range cell {
				in = append(in, members[u.tables[table].person[at]])
			}
			add(in)
		}
	}
	return sets
}

// earlier are the values that each of some members has in a window already.
func (p *publishing) earlier(f *timeframe, members []int32) [][]valueOf {
	earlier := make([][]valueOf, len(members))
	for _, v := range p.valuesIn(f) {
		if i, in := slices.BinarySearch(members, v.member); in {
			earlier[i] = append(earlier[i], v.valueOf)
		}
	}
	return earlier
}
