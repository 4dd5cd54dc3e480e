// Package incremental maintains the equivalence classes of a table whose
// records come, go and change: Song, Zhao, Liu et al., "Algorithm for increment
// update of k-anonymized dataset" (2010).
//
// A Partition is told of every change and does the work in Settle: newcomers
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
	"math"
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

// Record is what the partition has to know of a record.
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
	// Look gives what readers see of a class by what is published for it, where
	// that is not all: classes with the same look are one to them. Nil means all.
	Look func([]hierarchy.Generalization) string
	// Untold says that nobody wants to know which records have moved: Changes.Moved is
	// empty, which saves the memory for all of them where they are divided once.
	Untold bool
	// Progress is told how many of the records that Settle divides together have found
	// a class.
	Progress func(done, total int)
}

// Partition is the maintained division of the records into classes. It is not
// safe for concurrent use.
type Partition struct {
	attributes  []anonymizer.Attribute
	constraints privacy.ConstraintSet
	k           int
	method      anonymizer.Method
	seed        uint64
	subjects    bool
	untold      bool
	progress    func(done, total int)
	sizes       bool // the constraints look at nothing but numbers of records
	nextClass   ClassID
	scanLimit   int

	records   records
	classes   classes
	table     population
	alike     alike
	domain    []extent            // of each attribute: positions seen since the last Truncate
	waiting   []int32             // slots of records in no class
	made      *anonymizer.Release // of all records, by the method, before they were inserted
	due       []ClassID           // classes that Settle must examine
	changed   []ClassID           // classes of which the next Changes may tell
	moved     []move              // records whose class may differ from that at the last Settle
	retired   []ClassID           // classes of the last Settle that are gone
	ctx       context.Context     // of the Settle under way
	compared  int                 // boxes of the index looked at, since mending began
	whole     bool                // classes are not split
	scratch   []float64           // positions of a newcomer
	cells     []hierarchy.Cell    // of one attribute of a class
	sensitive []uint32            // value codes of one record
	measure   measure
	search    search
}

// New returns an empty partition whose classes will satisfy the constraints;
// the method makes classes of many records at once and splits large classes.
func New(attributes []anonymizer.Attribute, constraints privacy.ConstraintSet, method anonymizer.Method, o Options) *Partition {
	p := &Partition{
		attributes:  attributes,
		constraints: constraints,
		k:           constraints.K(),
		method:      method,
		seed:        o.Seed,
		progress:    o.Progress,
		subjects:    o.Subjects,
		untold:      o.Untold,
		sizes:       onlySizes(constraints, o.Subjects),
		nextClass:   max(1, o.FirstClass),
		scanLimit:   defaultScanLimit,
		alike:       newAlike(o.Subjects, constraints, o.Look),
		scratch:     make([]float64, len(attributes)),
		ctx:         context.Background(),
	}
	p.clear()
	return p
}

func (p *Partition) clear() {
	p.records = newRecords(len(p.attributes), p.records.sensitiveCount(), p.subjects)
	p.classes = newClasses(len(p.attributes))
	p.classes.related = p.alike.needed || p.constraints.Relative()
	p.table = population{relative: p.constraints.Relative(), drift: newDrift(p.constraints, p.subjects)}
	clear(p.alike.class)
	p.domain = make([]extent, len(p.attributes))
	for a := range p.domain {
		p.domain[a] = extent{math.Inf(1), math.Inf(-1)}
	}
	p.waiting, p.due, p.changed, p.moved = nil, nil, nil, nil
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
		if twice || p.records.slot(r.ID) >= 0 {
			return fmt.Errorf("loading class %d: record %d: %w", class, r.ID, ErrDuplicate)
		}
		if err := p.checkShape(r); err != nil {
			return fmt.Errorf("loading class %d: %w", class, err)
		}
	}
	if len(records) == 0 {
		return nil
	}
	index := int32(-1)
	if class != withheld {
		index = p.loaded(class)
		members := &p.classes.list[index].members
		*members = slices.Grow(*members, len(records))
	}
	for _, r := range records {
		slot := p.admit(r)
		if index < 0 {
			p.wait(slot)
		} else {
			p.sit(slot, index)
		}
	}
	return nil
}

// loaded is the index of a class of the store, which records are loaded into.
func (p *Partition) loaded(class ClassID) int32 {
	p.nextClass = max(p.nextClass, class+1)
	index := p.classes.index(class)
	if index < 0 {
		index = p.classes.add(class, 2*p.k)
		p.classes.list[index].known = true
	}
	p.examineLater(index)
	p.lookLater(index)
	return index
}

// repeats tells whether records have the same ID.
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
	if p.records.slot(r.ID) >= 0 {
		return fmt.Errorf("inserting record %d: %w", r.ID, ErrDuplicate)
	}
	if err := p.checkShape(r); err != nil {
		return fmt.Errorf("inserting: %w", err)
	}
	slot := p.admit(r)
	p.moveFrom(slot, unsettled)
	p.wait(slot)
	return nil
}

// Delete removes a record; the error is ErrUnknown.
func (p *Partition) Delete(id RecordID) error {
	slot := p.records.slot(id)
	if slot < 0 {
		return fmt.Errorf("deleting record %d: %w", id, ErrUnknown)
	}
	p.leave(slot)
	p.discount(slot)
	p.records.remove(slot)
	return nil
}

// Modify replaces a record's values; the error is ErrUnknown. Where the new
// quasi-identifying values lie within what the record's class covers, as they
// do when only sensitive values change, the record stays (algorithm MOD's
// special case). Otherwise it leaves its class and is placed anew, in one step.
func (p *Partition) Modify(r Record) error {
	slot := p.records.slot(r.ID)
	if slot < 0 {
		return fmt.Errorf("modifying record %d: %w", r.ID, ErrUnknown)
	}
	if err := p.checkShape(r); err != nil {
		return fmt.Errorf("modifying: %w", err)
	}
	index := p.records.at[slot].class
	stays := index >= 0 && (p.records.sameCells(slot, r.Cells) || p.covers(index, r.Cells))
	if !stays && index >= 0 {
		p.move(slot)
		p.leave(slot)
		p.wait(slot)
	}
	p.revalue(slot, r)
	if stays {
		p.change(index)
		p.classes.list[index].stale = true
	}
	return nil
}

// Touch says that a value changed which the partition does not know: the
// record's class, if any, is to be written anew. The error is ErrUnknown.
func (p *Partition) Touch(id RecordID) error {
	slot := p.records.slot(id)
	if slot < 0 {
		return fmt.Errorf("touching record %d: %w", id, ErrUnknown)
	}
	if index := p.records.at[slot].class; index >= 0 {
		p.change(index)
	}
	return nil
}

// TouchClass has a class written anew although nothing in it changed; an unknown
// class is passed over.
func (p *Partition) TouchClass(class ClassID) {
	if index := p.classes.index(class); index >= 0 {
		p.rewrite(index)
	}
}

// ClassAt names the class at a place from 0 to Classes()-1. The order means
// nothing and changes with the classes: it is for drawing one at random.
func (p *Partition) ClassAt(place int) ClassID { return p.classes.list[place].id }

// Truncate deletes every record.
func (p *Partition) Truncate() {
	for i := range p.classes.list {
		p.retire(&p.classes.list[i])
	}
	p.clear()
}

// Record returns a copy of the record, the class it is in, and whether it
// exists. Until the next Settle a new record is withheld.
func (p *Partition) Record(id RecordID) (Record, ClassID, bool) {
	slot := p.records.slot(id)
	if slot < 0 {
		return Record{}, withheld, false
	}
	return p.records.get(slot), p.classOf(slot), true
}

// ClassOf is the class that the record is in, 0 for one that is withheld or
// unknown.
func (p *Partition) ClassOf(id RecordID) ClassID {
	slot := p.records.slot(id)
	if slot < 0 {
		return withheld
	}
	return p.classOf(slot)
}

// Len is the number of records, withheld ones included.
func (p *Partition) Len() int { return p.records.count() }

// Withheld is the number of records in no class.
func (p *Partition) Withheld() int { return len(p.waiting) }

// Classes is the number of classes.
func (p *Partition) Classes() int { return len(p.classes.list) }

// NextClass is the id that the next new class will get. Whoever keeps classes
// over a restart keeps it too and hands it to Options.FirstClass, so that the id
// of a retired class is not used again.
func (p *Partition) NextClass() ClassID { return p.nextClass }

// Members lists the records of a class in ascending order, those withheld for
// class 0, none for an unknown class.
func (p *Partition) Members(class ClassID) []RecordID {
	slots := p.waiting
	if class != withheld {
		index := p.classes.index(class)
		if index < 0 {
			return nil
		}
		slots = p.classes.list[index].members
	}
	ids := make([]RecordID, len(slots))
	for i, slot := range slots {
		ids[i] = p.records.ids[slot]
	}
	slices.Sort(ids)
	return ids
}

// Generalize gives what is published for a class, one generalization for each
// attribute; nil for an unknown class and for class 0.
func (p *Partition) Generalize(class ClassID) []hierarchy.Generalization {
	index := p.classes.index(class)
	if index < 0 {
		return nil
	}
	return p.generalize(p.classes.list[index].members)
}

func (p *Partition) generalize(members []int32) []hierarchy.Generalization {
	published := make([]hierarchy.Generalization, len(p.attributes))
	p.cells = slices.Grow(p.cells[:0], len(members))
	cells := p.cells[:len(members)]
	for a, attribute := range p.attributes {
		for i, slot := range members {
			cells[i] = p.records.cells.Row(slot)[a]
		}
		published[a] = attribute.Hierarchy.Generalize(cells)
	}
	return published
}

// checkShape compares a record with the attributes and, for the sensitive ones,
// with the first record.
func (p *Partition) checkShape(r Record) error {
	if len(r.Cells) != len(p.attributes) {
		return fmt.Errorf("record %d has %d cells, %d expected", r.ID, len(r.Cells), len(p.attributes))
	}
	if expected := p.records.sensitiveCount(); expected >= 0 && len(r.Sensitive) != expected {
		return fmt.Errorf("record %d has %d sensitive values, %d expected", r.ID, len(r.Sensitive), expected)
	}
	return nil
}
