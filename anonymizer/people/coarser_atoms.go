package people

import (
	"context"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// atom is what a finer release publishes alike, so that it stays together: a class of persons, a cell,
// or rows without keys.
type atom struct {
	id     incremental.ClassID
	table  int
	rows   map[incremental.RecordID]struct{}
	values []hierarchy.Generalization
	pooled bool    // without keys in the finer release
	unit   unitKey // of a cell
	parent *atom   // what the rows of a cell hang on; nil where these are persons
	counts []count // of rows among the atoms that count them
	// tally counts the persons of a class with their values, where constraints for the audience do.
	tally privacy.Summary
	drawn float64 // what places it where nothing is shown
}

// count is a row as constraints count it.
type count struct {
	person uint32
	codes  []uint32
}

func (a *atom) sorted() []incremental.RecordID { return slices.Sorted(maps.Keys(a.rows)) }

// atoms are some of a table, as nested.Groups takes a finer release.
type atoms struct {
	of *relation
	// attributes are those of the table as they are shown, shown in number, and of more that is known of each atom.
	attributes []anonymizer.Attribute
	shown      int
	more       func(a *atom) []float64
	cellOf     map[incremental.RecordID]*atom
	person     func(slot int32) uint32 // whose a row is; nil where each is another's
	sensitive  int
	// tally counts the values of an atom's persons, who can have several or none; nil if no
	// constraint counts them.
	tally  func(a *atom) privacy.Summary
	list   []incremental.ClassID
	places map[incremental.ClassID]int
	byID   map[incremental.ClassID]*atom
	whole  privacy.Summary
}

var _ nested.Finer = (*atoms)(nil)

func newAtoms(of *relation, attributes []anonymizer.Attribute, cellOf map[incremental.RecordID]*atom, person func(slot int32) uint32, sensitive int) *atoms {
	a := &atoms{of: of, attributes: anonymizer.Following(attributes), shown: len(attributes), cellOf: cellOf, person: person, sensitive: sensitive, places: make(map[incremental.ClassID]int), byID: make(map[incremental.ClassID]*atom)}
	a.more = func(*atom) []float64 { return nil }
	a.whole = a.empty()
	return a
}

// divideAlike makes groups divide atoms that look alike at random. What unions show stays the same;
// otherwise all such atoms would stay together, however many there are.
func (a *atoms) divideAlike() {
	a.know(1, func(of *atom) []float64 {
		for i, attribute := range a.attributes[:a.shown] {
			low, high := attribute.Hierarchy.Encode(of.values[i].Lower), attribute.Hierarchy.Encode(of.values[i].Upper)
			if attribute.Hierarchy.Kind() != hierarchy.Numeric && attribute.Hierarchy.Kind() != hierarchy.Date || of.values[i].Hidden || hierarchy.IsOffScale(low) || hierarchy.IsOffScale(high) {
				continue
			}
			return []float64{1000*(low+high) + of.drawn}
		}
		return []float64{of.drawn}
	})
}

// know gives each atom additional features, the same number for all, that readers of the finer
// release know.
func (a *atoms) know(numbers int, more func(a *atom) []float64) {
	for range numbers {
		a.attributes = append(a.attributes, feature())
	}
	a.more = more
}

// count makes the groups count persons with their values of this many attributes.
func (a *atoms) count(sensitive int, tally func(a *atom) privacy.Summary) {
	a.sensitive, a.tally = sensitive, tally
	a.whole = a.empty()
}

// recount counts the values of an atom's persons again.
func (a *atoms) recount(of *atom) {
	a.whole.Subtract(of.tally)
	of.tally = a.tally(of)
	a.whole.Merge(of.tally)
}

func (a *atoms) empty() privacy.Summary {
	if a.person == nil {
		return privacy.NewSummary(a.sensitive)
	}
	return privacy.NewSubjectSummary(a.sensitive)
}

func (a *atoms) has(of *atom) bool { return a.byID[of.id] == of }

func (a *atoms) add(of *atom) {
	a.places[of.id], a.byID[of.id] = len(a.list), of
	a.list = append(a.list, of.id)
	switch {
	case a.tally != nil:
		of.tally = a.tally(of)
		a.whole.Merge(of.tally)
		return
	case a.person == nil:
		a.whole.Records += len(of.rows)
		return
	}
	for id := range of.rows {
		slot := a.of.find(id)
		one := count{a.person(slot), slices.Clone(a.of.sensitive.Row(slot))}
		of.counts = append(of.counts, one)
		a.whole.AddOf(one.person, one.codes)
	}
}

// remove forgets one. Of persons it has one row less already.
func (a *atoms) remove(of *atom) {
	place, last := a.places[of.id], len(a.list)-1
	a.list[place] = a.list[last]
	a.places[a.list[place]] = place
	a.list = a.list[:last]
	delete(a.places, of.id)
	delete(a.byID, of.id)
	switch {
	case a.tally != nil:
		a.whole.Subtract(of.tally)
		return
	case a.person == nil:
		a.whole.Records -= len(of.rows) + 1
		return
	}
	for _, one := range of.counts {
		a.whole.RemoveOf(one.person, one.codes)
	}
	of.counts = nil
}

// settle updates the groups after atoms were added and removed. At the start it restores which
// atoms were together, from the groups of their rows, and reports all groups.
func (a *atoms) settle(ctx context.Context, groups *nested.Groups, retired, added []incremental.ClassID, restored map[incremental.RecordID]incremental.ClassID) (incremental.Changes, error) {
	var fresh []incremental.ClassID
	for _, class := range added {
		group := a.restoredGroup(class, restored)
		if group == 0 || groups.GroupOf(class) != 0 {
			fresh = append(fresh, class)
			continue
		}
		if err := groups.Load(class, group); err != nil {
			return incremental.Changes{}, err
		}
	}
	changes, err := groups.Settle(ctx, incremental.Changes{Retired: retired, Rewrite: fresh})
	if restored != nil {
		changes.Rewrite = nil
		for at := range groups.Classes() {
			changes.Rewrite = append(changes.Rewrite, groups.ClassAt(at))
		}
		slices.Sort(changes.Rewrite)
	}
	return changes, err
}

// restoredGroup is the group in which all rows of an atom were; 0 for none.
func (a *atoms) restoredGroup(class incremental.ClassID, restored map[incremental.RecordID]incremental.ClassID) (group incremental.ClassID) {
	for id := range a.byID[class].rows {
		switch of := restored[id]; {
		case of == 0 || group != 0 && of != group:
			return 0
		default:
			group = of
		}
	}
	return group
}

// shows leaves out what is known besides the attributes of the table.
func (a *atoms) shows(values []hierarchy.Generalization) []hierarchy.Generalization {
	return values[:a.shown]
}

func (a *atoms) Classes() int                          { return len(a.list) }
func (a *atoms) ClassAt(place int) incremental.ClassID { return a.list[place] }

func (a *atoms) Generalize(class incremental.ClassID) []hierarchy.Generalization {
	of := a.byID[class]
	if of == nil {
		return nil
	}
	values := slices.Clone(of.values)
	for i, number := range a.more(of) {
		values = append(values, a.attributes[len(of.values)+i].Hierarchy.Generalize([]hierarchy.Cell{number}))
	}
	return values
}

func (a *atoms) Size(class incremental.ClassID) int {
	if of := a.byID[class]; of != nil {
		return len(of.rows)
	}
	return 0
}

func (a *atoms) Summarize(class incremental.ClassID) privacy.Summary {
	s, of := a.empty(), a.byID[class]
	switch {
	case of == nil:
	case a.tally != nil:
		s.Merge(of.tally)
	case a.person == nil:
		s.Records = len(of.rows)
	default:
		for _, one := range of.counts {
			s.AddOf(one.person, one.codes)
		}
	}
	return s
}

func (a *atoms) Whole() privacy.Summary { return a.whole }

func (a *atoms) AppendSlots(list []int32, class incremental.ClassID) []int32 {
	if of := a.byID[class]; of != nil {
		for _, id := range of.sorted() {
			list = append(list, a.of.find(id))
		}
	}
	return list
}

func (a *atoms) SlotOf(id incremental.RecordID) int32   { return a.of.find(id) }
func (a *atoms) InSlot(slot int32) incremental.RecordID { return a.of.ids[slot] }
func (a *atoms) In(slot int32) incremental.Record {
	r := incremental.Record{ID: a.of.ids[slot], Cells: slices.Clone(a.of.cells.Row(slot))}
	r.Cells = append(r.Cells, a.more(a.cellOf[r.ID])...)
	if a.person != nil {
		r.Sensitive, r.Subject = slices.Clone(a.of.sensitive.Row(slot)), a.person(slot)
	}
	return r
}
