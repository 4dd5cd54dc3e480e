package nested

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Finer is a division of records into classes, of which groups are made: a maintained partition, or
// other groups.
type Finer interface {
	// Classes is how many there are, and ClassAt gives each by its place.
	Classes() int
	ClassAt(place int) incremental.ClassID
	// AppendSlots appends the slots of a class's records (package incremental).
	AppendSlots(list []int32, class incremental.ClassID) []int32
	// Generalize gives what is published for a class.
	Generalize(class incremental.ClassID) []hierarchy.Generalization
	SlotOf(id incremental.RecordID) int32
	InSlot(slot int32) incremental.RecordID
	Summarize(slots []int32) privacy.Summary
	CodesBySlot() (sensitive [][]uint32, subjects []uint32)
	// Feasible returns nil, or why there are no classes.
	Feasible() error
}

// Groups are unions of the classes of a maintained division that satisfy constraints, and follow it.
// Which classes a group has follows from what is published of them, from the groups before, and from
// random numbers. It is not safe for concurrent use.
type Groups struct {
	finer       Finer
	attributes  []anonymizer.Attribute
	constraints privacy.ConstraintSet
	k           int
	random      *rand.Rand

	list    []*union
	places  map[incremental.ClassID]int                 // by group: its place in list
	of      map[incremental.ClassID]incremental.ClassID // by class: its group
	bySlot  []incremental.ClassID                       // by slot: the group of the record, when last settled
	next    incremental.ClassID
	axes    []axis
	err     error // why there are no groups
	changed int   // classes that have changed since there are none
}

// union is a group: classes that satisfy the constraints together.
type union struct {
	id      incremental.ClassID
	classes []incremental.ClassID
	size    int    // records
	box     []span // by attribute
	splitAt int    // size from which on a division is tried
	known   bool   // it existed at the last settling
}

// ErrRelative refuses constraints that compare groups with the whole table: that moves.
var ErrRelative = errors.New("constraints that compare classes with the whole table are not kept by maintained groups; those of the finer classes hold in any case")

// NewGroups returns groups without classes. The first one that is made gets the number first. The
// error is ErrRelative.
func NewGroups(finer Finer, attributes []anonymizer.Attribute, constraints privacy.ConstraintSet, first incremental.ClassID, seed uint64) (*Groups, error) {
	if constraints.Relative() {
		return nil, ErrRelative
	}
	return &Groups{
		finer: finer, attributes: attributes, constraints: constraints, k: max(1, constraints.K()), random: rand.New(rand.NewPCG(seed, 1)),
		places: map[incremental.ClassID]int{}, of: map[incremental.ClassID]incremental.ClassID{}, next: max(1, first),
	}, nil
}

// Begin makes groups of all classes, as Unite does. The error is the context's.
func (g *Groups) Begin(ctx context.Context) error {
	classes := make([]incremental.ClassID, g.finer.Classes())
	slots := make([]anonymizer.EquivalenceClass, len(classes))
	for i := range classes {
		classes[i] = g.finer.ClassAt(i)
		slots[i] = g.finer.AppendSlots(nil, classes[i])
	}
	labels := g.labelsOf(classes)
	g.clear()
	g.axes = axesOf(g.attributes, labels)
	if len(classes) == 0 {
		return nil
	}
	table, err := g.table()
	if err != nil {
		return err
	}
	united, err := unite(ctx, newUnitsOf(ctx, table, slots, g.random.Uint64(), func(a int) []hierarchy.Generalization { return labels[a] }), g.constraints, anonymizer.Options{Seed: g.random.Uint64()})
	if err != nil {
		return err
	}
	if united == nil {
		g.err = g.infeasible()
		return nil
	}
	byFirst := make(map[int32]incremental.ClassID, len(classes))
	for i, class := range classes {
		byFirst[slots[i][0]] = class
	}
	for _, members := range united {
		made := g.make()
		for _, slot := range members {
			if class, first := byFirst[slot]; first {
				g.join(made, class)
			}
		}
	}
	g.settled()
	return nil
}

// labelsOf are what is published of classes, by attribute.
func (g *Groups) labelsOf(classes []incremental.ClassID) [][]hierarchy.Generalization {
	labels := make([][]hierarchy.Generalization, len(g.attributes))
	for a := range labels {
		labels[a] = make([]hierarchy.Generalization, len(classes))
	}
	for i, class := range classes {
		for a, label := range g.finer.Generalize(class) {
			labels[a][i] = label
		}
	}
	return labels
}

// table has the sensitive values of the records, by slot. Their quasi-identifying ones are not known to it, as
// groups do not depend on them.
func (g *Groups) table() (*anonymizer.Table, error) {
	sensitive, subjects := g.finer.CodesBySlot()
	records := g.slots()
	cells := make([][]hierarchy.Cell, len(g.attributes))
	for a, nothing := 0, make([]hierarchy.Cell, records); a < len(cells); a++ {
		cells[a] = nothing
	}
	codes := make([][]uint32, len(sensitive))
	for a := range codes {
		codes[a] = sensitive[a][:records]
	}
	table, err := anonymizer.NewTable(g.attributes, cells, codes)
	if err == nil && subjects != nil {
		table, err = table.WithSubjects(subjects[:records])
	}
	if err != nil {
		return nil, fmt.Errorf("laying out what groups are made of: %w", err)
	}
	return table, nil
}

// slots is a number above those of all records in classes.
func (g *Groups) slots() int {
	last, slots := int32(-1), []int32(nil)
	for i := range g.finer.Classes() {
		slots = g.finer.AppendSlots(slots[:0], g.finer.ClassAt(i))
		last = max(last, slices.Max(slots))
	}
	return int(last) + 1
}

// Load takes over groups that were stored, given by class; all classes are there. The error says what
// does not fit.
func (g *Groups) Load(groups map[incremental.ClassID]incremental.ClassID) error {
	classes := make([]incremental.ClassID, g.finer.Classes())
	for i := range classes {
		classes[i] = g.finer.ClassAt(i)
	}
	g.clear()
	g.axes = axesOf(g.attributes, g.labelsOf(classes))
	if len(groups) == 0 && len(classes) > 0 {
		g.err = g.infeasible()
		return nil
	}
	if len(groups) != len(classes) {
		return fmt.Errorf("%d classes have a group, and there are %d", len(groups), len(classes))
	}
	for _, class := range classes {
		id := groups[class]
		if id <= 0 {
			return fmt.Errorf("class %d has no group", class)
		}
		place, known := g.places[id]
		if !known {
			place = len(g.list)
			g.add(&union{id: id})
			g.next = max(g.next, id+1)
		}
		g.join(g.list[place], class)
	}
	g.settled()
	return nil
}

// clear forgets all groups, but not which numbers were given.
func (g *Groups) clear() {
	clear(g.places)
	clear(g.of)
	g.list, g.bySlot, g.err, g.changed = nil, nil, nil, 0
}

// settled notes what the next settling compares with.
func (g *Groups) settled() {
	for _, one := range g.list {
		one.known = true
		g.note(one)
	}
}

// note has the records of a group be known as its own.
func (g *Groups) note(one *union) {
	for _, slot := range g.AppendSlots(nil, one.id) {
		if missing := int(slot) + 1 - len(g.bySlot); missing > 0 {
			g.bySlot = append(g.bySlot, make([]incremental.ClassID, missing)...)
		}
		g.bySlot[slot] = one.id
	}
}

func (g *Groups) make() *union {
	one := &union{id: g.next}
	g.next++
	g.add(one)
	return one
}

func (g *Groups) add(one *union) {
	g.places[one.id] = len(g.list)
	g.list = append(g.list, one)
}

func (g *Groups) remove(one *union) {
	place, last := g.places[one.id], len(g.list)-1
	g.list[place] = g.list[last]
	g.places[g.list[place].id] = place
	g.list[last], g.list = nil, g.list[:last]
	delete(g.places, one.id)
}

// join adds a class, which is in no group, to a group.
func (g *Groups) join(one *union, class incremental.ClassID) {
	one.classes = append(one.classes, class)
	one.size += len(g.finer.AppendSlots(nil, class))
	one.box = include(one.box, g.boxOf(class))
	g.of[class] = one.id
}

// infeasible is why there are no groups.
func (g *Groups) infeasible() error {
	return fmt.Errorf("all classes together do not satisfy %v", g.constraints)
}

// Feasible returns nil, or why there are no groups.
func (g *Groups) Feasible() error {
	if g.err == nil && len(g.list) == 0 {
		return g.finer.Feasible()
	}
	return g.err
}

// Classes is the number of groups; with the following methods they are such a division as they are
// made of.
func (g *Groups) Classes() int { return len(g.list) }

// ClassAt gives each group by its place.
func (g *Groups) ClassAt(place int) incremental.ClassID { return g.list[place].id }

// NextClass is the number that the next group will get.
func (g *Groups) NextClass() incremental.ClassID { return g.next }

// AppendSlots appends the slots of a group's records.
func (g *Groups) AppendSlots(list []int32, id incremental.ClassID) []int32 {
	if place, known := g.places[id]; known {
		for _, class := range g.list[place].classes {
			list = g.finer.AppendSlots(list, class)
		}
	}
	return list
}

// Generalize gives what is published for a group: what stands for all that is published of its classes
// (hierarchy.Union).
func (g *Groups) Generalize(id incremental.ClassID) []hierarchy.Generalization {
	place, known := g.places[id]
	if !known {
		return nil
	}
	published := make([]hierarchy.Generalization, len(g.attributes))
	for a, labels := range g.labelsOf(g.list[place].classes) {
		published[a] = hierarchy.Union(g.attributes[a].Hierarchy, labels)
	}
	return published
}

// ClassOf is the group of a record when it was last settled, 0 for none.
func (g *Groups) ClassOf(id incremental.RecordID) incremental.ClassID {
	slot := g.finer.SlotOf(id)
	if slot < 0 || int(slot) >= len(g.bySlot) {
		return 0
	}
	return g.bySlot[slot]
}

// SlotOf, InSlot, Summarize and CodesBySlot are those of the finer division.
func (g *Groups) SlotOf(id incremental.RecordID) int32 { return g.finer.SlotOf(id) }

// InSlot names the record in a slot that is in use.
func (g *Groups) InSlot(slot int32) incremental.RecordID { return g.finer.InSlot(slot) }

// Summarize counts the records of some slots for constraints.
func (g *Groups) Summarize(slots []int32) privacy.Summary { return g.finer.Summarize(slots) }

// CodesBySlot are the sensitive values and the subjects of all records.
func (g *Groups) CodesBySlot() (sensitive [][]uint32, subjects []uint32) {
	return g.finer.CodesBySlot()
}
