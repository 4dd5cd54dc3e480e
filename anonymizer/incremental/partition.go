// Package incremental maintains the equivalence classes of a table whose
// records come, go and change: Song, Zhao, Liu et al., "Algorithm for increment
// update of k-anonymized dataset" (2010).
//
// Insert, Delete and Modify note changes; Settle does the work: new records
// join the class most similar to them, a changed class of 2k records or more is
// split on its raw values, and one that violates a constraint is merged with the
// most similar class. After Settle every class satisfies the whole constraint
// set, compared with the whole table where a constraint does so; between two
// Settles nothing is promised. Settle also says what has changed, so that a
// store can follow.
//
// All records are in classes or none is: a union of classes that satisfy the
// constraints satisfies them too, so that every record finds a class exactly
// where the whole table as one class would do (Feasible).
package incremental

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// RecordID names a record for its whole life.
type RecordID int64

// ClassID names a class for its whole life; ids are never used again. It is
// positive; 0 stands for "withheld": in no published class.
type ClassID int64

// withheld is the class of records that are not published.
const withheld ClassID = 0

// Record is what a partition keeps of a record.
type Record struct {
	ID        RecordID
	Cells     []hierarchy.Cell // one for each attribute
	Sensitive []uint32         // value code for each sensitive attribute
	Subject   uint32           // the person it is about; counts with Options.Subjects
}

// Errors that callers can test for.
var (
	ErrDuplicate = errors.New("record is in the partition already")
	ErrUnknown   = errors.New("record is not in the partition")
)

// Options of a partition; the zero value is valid.
type Options struct {
	// Seed is handed to the method. Same seed and operations, same classes.
	Seed uint64
	// FirstClass is the next class id to hand out; below 1 means 1. Loaded
	// classes raise it beyond their own ids.
	FirstClass ClassID
	// Subjects has the constraints count the different subjects of the records
	// instead of the records.
	Subjects bool
	// Appearance gives what readers see of what is published for a class, where that is
	// not all of it: they cannot tell classes of the same appearance apart. Nil means all.
	Appearance func([]hierarchy.Generalization) string
	// OmitMoved leaves Changes.Moved empty, which saves its memory where the caller does
	// not need it.
	OmitMoved bool
	// Progress is called with how many of the records that Settle divides together have
	// a class.
	Progress func(done, total int)
}

// Partition is the maintained division of the records into classes. It is not
// safe for concurrent use.
type Partition struct {
	members    membership
	population population
	looks      looks
	domain     domain
	nearest    nearest
	divider    divider
	scanLimit  int
}

// New returns an empty partition whose classes will satisfy the constraints;
// the method makes classes of many records at once and splits large classes.
func New(attributes []anonymizer.Attribute, constraints privacy.ConstraintSet, method anonymizer.Method, o Options) *Partition {
	distinct := o.Subjects && !onlySizes(constraints)
	p := &Partition{
		members: membership{
			attributes: attributes, k: constraints.K(), nextClass: max(1, o.FirstClass), distinct: distinct,
			records: newRecords(len(attributes), -1, o.Subjects),
			classes: newClasses(len(attributes), distinct || constraints.Relative()),
			changes: changeLog{withoutMoved: o.OmitMoved},
		},
		domain:    make(domain, len(attributes)),
		scanLimit: defaultScanLimit,
	}
	p.domain.clear()
	p.population = newPopulation(&p.members, constraints, o.Subjects)
	p.looks = newLooks(&p.members, o.Appearance)
	p.nearest = nearest{members: &p.members, domain: p.domain, scratch: make([]float64, len(attributes))}
	p.divider = divider{population: &p.population, looks: &p.looks, method: method, seed: o.Seed, progress: o.Progress}
	return p
}

func (p *Partition) clear() {
	p.members.clear()
	p.population = newPopulation(&p.members, p.population.constraints, p.members.records.subjects != nil)
	clear(p.looks.class)
	p.domain.clear()
}

// add stores a new record; the caller gives it a class or lets it wait.
func (p *Partition) add(r Record) int32 {
	p.domain.widen(p.members.attributes, r.Cells)
	slot := p.members.records.add(r)
	p.population.count(slot)
	return slot
}

// replace replaces the values of a record.
func (p *Partition) replace(slot int32, r Record) {
	p.domain.widen(p.members.attributes, r.Cells)
	if p.members.records.sameCounted(slot, r) {
		p.members.records.set(slot, r)
		return
	}
	p.population.discount(slot)
	p.members.records.set(slot, r)
	p.population.count(slot)
}

// Load takes a class over as it stands in the store, or with class 0 records
// that are withheld there. It is meant for the start: what is loaded counts as
// the state at the last Settle, and the next one checks it against the
// constraints. A class of 2k records or more stays as it is until a record of it
// changes. A class can be loaded in several calls. On ErrDuplicate, or an
// error about the shape of a record, nothing of the call is loaded.
func (p *Partition) Load(class ClassID, records []Record) error {
	if class < 0 {
		return fmt.Errorf("loading class %d: class ids are not negative", class)
	}
	twice := repeats(records)
	for _, r := range records {
		if twice || p.members.records.slot(r.ID) >= 0 {
			return fmt.Errorf("loading class %d: record %d: %w", class, r.ID, ErrDuplicate)
		}
		if err := p.members.records.checkShape(r); err != nil {
			return fmt.Errorf("loading class %d: %w", class, err)
		}
	}
	if len(records) == 0 {
		return nil
	}
	index := int32(-1)
	if class != withheld {
		index = p.members.loaded(class)
		members := &p.members.classes.list[index].members
		*members = slices.Grow(*members, len(records))
	}
	for _, r := range records {
		slot := p.add(r)
		if index < 0 {
			p.members.wait(slot)
		} else {
			p.members.enter(slot, index)
		}
	}
	return nil
}

// repeats reports whether records have the same ID.
func repeats(records []Record) bool {
	if len(records) == 1 {
		return false
	}
	ids := make([]RecordID, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	slices.Sort(ids)
	return len(slices.Compact(ids)) < len(records)
}

// Insert adds a new record; the error is ErrDuplicate if its ID is known, or
// says that its shape is not that of the others.
func (p *Partition) Insert(r Record) error {
	if p.members.records.slot(r.ID) >= 0 {
		return fmt.Errorf("inserting record %d: %w", r.ID, ErrDuplicate)
	}
	if err := p.members.records.checkShape(r); err != nil {
		return fmt.Errorf("inserting: %w", err)
	}
	slot := p.add(r)
	p.members.moveFrom(slot, unsettled)
	p.members.wait(slot)
	return nil
}

// Delete removes a record; the error is ErrUnknown.
func (p *Partition) Delete(id RecordID) error {
	slot := p.members.records.slot(id)
	if slot < 0 {
		return fmt.Errorf("deleting record %d: %w", id, ErrUnknown)
	}
	p.members.leave(slot)
	p.population.discount(slot)
	p.members.records.remove(slot)
	return nil
}

// Modify replaces a record's values; the error is ErrUnknown. Where the new
// quasi-identifying values lie within what the record's class covers, as they
// do when only sensitive values change, the record stays (algorithm MOD's
// special case). Otherwise it leaves its class and is placed anew, in one step.
func (p *Partition) Modify(r Record) error {
	slot := p.members.records.slot(r.ID)
	if slot < 0 {
		return fmt.Errorf("modifying record %d: %w", r.ID, ErrUnknown)
	}
	if err := p.members.records.checkShape(r); err != nil {
		return fmt.Errorf("modifying: %w", err)
	}
	index := p.members.records.at[slot].class
	stays := index >= 0 && (p.members.records.sameCells(slot, r.Cells) || p.members.covers(index, r.Cells))
	if !stays && index >= 0 {
		p.members.move(slot)
		p.members.leave(slot)
		p.members.wait(slot)
	}
	p.replace(slot, r)
	if stays {
		p.members.change(index)
		p.members.classes.list[index].stale = true
	}
	return nil
}

// Touch says that a value changed which the partition does not know: the
// record's class, if any, is to be written anew. The error is ErrUnknown.
func (p *Partition) Touch(id RecordID) error {
	slot := p.members.records.slot(id)
	if slot < 0 {
		return fmt.Errorf("touching record %d: %w", id, ErrUnknown)
	}
	if index := p.members.records.at[slot].class; index >= 0 {
		p.members.change(index)
	}
	return nil
}

// TouchClass has a class written anew although nothing in it changed; an unknown
// class is passed over.
func (p *Partition) TouchClass(class ClassID) {
	if index := p.members.classes.index(class); index >= 0 {
		p.members.rewrite(index)
	}
}

// ClassAt names the class at a place from 0 to Classes()-1. The order means
// nothing and changes with the classes: it is for drawing one at random.
func (p *Partition) ClassAt(place int) ClassID { return p.members.classes.list[place].id }

// Truncate deletes every record.
func (p *Partition) Truncate() { p.clear() }

// Settle restores the constraint set and returns what has changed since the
// last Settle, which it then forgets. Afterwards all records are in classes, or
// none where the records are not Feasible. Records that a method or a store left
// out are placed like new ones. The time is that of the changed classes. Where a
// constraint compares classes with the whole table, it is also that of one look at
// each class, and where subjects are counted then, of counting all records once more.
func (p *Partition) Settle() Changes {
	changes, _ := p.SettleContext(context.Background())
	return changes
}

// SettleContext is Settle that ends soon after its context does, which is the
// only error. The partition must not be used any more then.
func (p *Partition) SettleContext(ctx context.Context) (Changes, error) {
	if p.Feasible() != nil {
		return p.Withhold(), ctx.Err()
	}
	s := p.settling(ctx)
	s.examine()
	s.restore()
	return p.members.takeChanges(), ctx.Err()
}

func (p *Partition) settling(ctx context.Context) *settling {
	return &settling{
		ctx: ctx, members: &p.members, population: &p.population, looks: &p.looks,
		nearest: &p.nearest, divider: &p.divider, scanLimit: p.scanLimit,
	}
}

// Feasible returns nil, or why no division of the records into classes can
// satisfy the constraints; Settle then withholds all of them. A partition without
// records is feasible.
func (p *Partition) Feasible() error { return p.population.feasible() }

// Withhold takes the place of Settle where records must not be published for a
// reason that lies outside of the partition: it withholds all of them.
func (p *Partition) Withhold() Changes {
	p.members.withholdAll()
	return p.members.takeChanges()
}

// Record returns a copy of the record, the class it is in, and whether it
// exists. Until the next Settle a new record is withheld.
func (p *Partition) Record(id RecordID) (Record, ClassID, bool) {
	slot := p.members.records.slot(id)
	if slot < 0 {
		return Record{}, withheld, false
	}
	return p.members.records.get(slot), p.members.classOf(slot), true
}

// ClassOf is the class that the record is in, 0 for one that is withheld or
// unknown.
func (p *Partition) ClassOf(id RecordID) ClassID {
	slot := p.members.records.slot(id)
	if slot < 0 {
		return withheld
	}
	return p.members.classOf(slot)
}

// Len is the number of records, withheld ones included.
func (p *Partition) Len() int { return p.members.records.count() }

// Withheld is the number of records in no class.
func (p *Partition) Withheld() int { return len(p.members.waiting) }

// Classes is the number of classes.
func (p *Partition) Classes() int { return len(p.members.classes.list) }

// NextClass is the id that the next new class will get. A store keeps it with the
// classes and passes it as Options.FirstClass after a restart, so that the id of a
// retired class is not used again.
func (p *Partition) NextClass() ClassID { return p.members.nextClass }

// Members lists the records of a class in ascending order, those withheld for
// class 0, none for an unknown class.
func (p *Partition) Members(class ClassID) []RecordID {
	slots := p.members.waiting
	if class != withheld {
		index := p.members.classes.index(class)
		if index < 0 {
			return nil
		}
		slots = p.members.classes.list[index].members
	}
	ids := make([]RecordID, len(slots))
	for i, slot := range slots {
		ids[i] = p.members.records.ids[slot]
	}
	slices.Sort(ids)
	return ids
}

// Generalize gives what is published for a class, one generalization for each
// attribute; nil for an unknown class and for class 0.
func (p *Partition) Generalize(class ClassID) []hierarchy.Generalization {
	index := p.members.classes.index(class)
	if index < 0 {
		return nil
	}
	return p.members.generalize(p.members.classes.list[index].members)
}
