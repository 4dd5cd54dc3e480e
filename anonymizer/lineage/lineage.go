// Package lineage publishes the classes of a table so that comparing versions reveals no more than
// one release: guarded publication, with immutable classes after Byun, Sohn, Bertino and Li (2006)
// and Xiao and Tao (m-invariance, 2007). DESIGN.md has the argument.
//
// A record waits until it is published with a batch of others, as a row of a new class. A class
// never gains a row. The row of a deleted record stays, as a ghost that stands for nobody; the row
// of a changed record stays as it was, and is stale. A class is cut only into parts that each
// satisfy the whole constraint set: its ghosts then vanish, or its stale rows are published anew as
// a class of their own.
//
// A Lineage has no clock: callers pass the time.
package lineage

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// RowID names a published row for its whole life; ids are positive and not used
// again while the row is published.
type RowID int64

// Record is what a lineage keeps of a record.
type Record struct {
	incremental.Record
	// Copied stands for the values that are published as they are and that constraints
	// do not count, one for each column: it differs where the value does. All records
	// have as many.
	Copied []uint64
}

// Options of a lineage; the zero value publishes every batch as soon as it can.
type Options struct {
	// Seed is handed to the method. Same seed and operations, same classes.
	Seed uint64
	// FirstClass is the next class id to hand out; below 1 means 1. Loaded
	// classes raise it beyond their own ids.
	FirstClass incremental.ClassID
	// Subjects has the constraints count the different subjects of the records
	// instead of the records.
	Subjects bool
	// Crowd has classes made of at least Crowd*k subjects, so that they can be cut
	// sooner; below 1 means 1.
	Crowd int
	// Least is the least number of waiting records, or subjects, that are tried as a
	// batch, and of those with changes that constraints count. For batches it is never
	// below Crowd*k; 0 means LeastBatch, and 10 changes where constraints count values.
	Least int
	// Batch is how many waiting records, or subjects, are published at once; below Least
	// means Least.
	Batch int
	// Within is how long a record waits before a smaller batch is tried; 0 means not at
	// all.
	Within time.Duration
	// Deadline is how long a record waits before it stays withheld for good; 0 means
	// that it waits as long as it takes.
	Deadline time.Duration
	// Progress is called with how many records of a batch have a class.
	Progress func(done, total int)
}

// ErrRelative refuses constraints that compare a class with the whole table: that
// moves, and a class that cannot move with it would come to violate them.
var ErrRelative = errors.New("constraints that compare classes with the whole table cannot be kept by classes that never change")

// Lineage is the history of what has been published of a table, as far as it matters for what may
// be published next. It is not safe for concurrent use.
type Lineage struct {
	options  Options
	least    int // as asked for
	rules    rules
	records  records
	released released
	backlog  backlog
	divider  divider
	log      changeLog
	coarser  []*Coarser
	begun    bool // the first batch of all has been tried, or was empty
}

// New returns a lineage without records and classes. The error is ErrRelative.
func New(attributes []anonymizer.Attribute, constraints privacy.ConstraintSet, method anonymizer.Method, o Options) (*Lineage, error) {
	if constraints.Relative() {
		return nil, ErrRelative
	}
	o.Crowd = max(1, o.Crowd)
	asked := o.Least
	var leastChanged int
	o.Least, leastChanged = leasts(asked, o.Crowd, constraints)
	o.Batch = max(o.Batch, o.Least)
	l := &Lineage{
		options: o, least: asked,
		rules: rules{
			attributes: attributes, constraints: constraints, k: constraints.K(), subjects: o.Subjects,
			sensitive: -1, copied: -1, leastChanged: leastChanged,
		},
		log: changeLog{changes: newChanges()},
	}
	l.released = released{
		tally: tally.New[*class](constraints.K(), tally.Options{Crowd: o.Crowd, SeveralRows: o.Subjects}), numbering: newNumbering(), records: &l.records, rules: &l.rules, log: &l.log, seed: o.Seed, nextClass: max(1, o.FirstClass), nextRow: 1,
	}
	l.backlog = backlog{records: &l.records, subjects: o.Subjects, bySubject: map[uint32]int{}}
	l.divider = divider{records: &l.records, rules: &l.rules, method: method, options: &l.options}
	return l, nil
}

// Insert adds a new record, which waits from now on; the error is
// incremental.ErrDuplicate if its ID is known, or says that its shape is not that of
// the others. The record's values are copied.
func (l *Lineage) Insert(r Record, now time.Time) error {
	if l.records.slot(r.ID) >= 0 {
		return fmt.Errorf("inserting record %d: %w", r.ID, incremental.ErrDuplicate)
	}
	if err := l.rules.checkShape(r); err != nil {
		return fmt.Errorf("inserting: %w", err)
	}
	slot := l.records.add(r)
	l.records.setDifference(slot, difference{since: now})
	l.backlog.wait(slot)
	l.log.touch(slot)
	return nil
}

// Delete forgets a record at once and for good; if it was published, its row
// becomes a ghost. The error is incremental.ErrUnknown.
func (l *Lineage) Delete(id incremental.RecordID) error {
	slot := l.records.slot(id)
	if slot < 0 {
		return fmt.Errorf("deleting record %d: %w", id, incremental.ErrUnknown)
	}
	switch at := l.records.at(slot); at.class {
	case unpublished:
		l.backlog.stopWaiting(slot)
	case withheld:
		l.backlog.withheld--
	default:
		c := l.released.classes.list[at.class]
		if l.records.isStale(slot) {
			c.stale--
			l.backlog.stale.drop()
		}
		l.released.leave(c, &c.rows[at.row])
	}
	l.log.marked.Unset(slot)
	l.records.remove(slot)
	return nil
}

// Modify replaces a record's values; the error is incremental.ErrUnknown. The row
// of a published record stays as it is until its class can be cut.
func (l *Lineage) Modify(r Record, now time.Time) error {
	slot := l.records.slot(r.ID)
	if slot < 0 {
		return fmt.Errorf("modifying record %d: %w", r.ID, incremental.ErrUnknown)
	}
	if err := l.rules.checkShape(r); err != nil {
		return fmt.Errorf("modifying: %w", err)
	}
	if l.records.same(slot, r) {
		return nil
	}
	switch l.records.at(slot).class {
	case unpublished:
		l.backlog.count(l.records.subject(slot), -1)
		l.backlog.count(r.Subject, 1)
	case withheld:
	default:
		l.markStale(slot, r, now)
	}
	l.records.set(slot, r)
	return nil
}

// depose notes that the values of a published record are no longer those of its row.
func (l *Lineage) markStale(slot int32, r Record, now time.Time) {
	c, before := l.released.classes.list[l.records.at(slot).class], l.records.difference(slot)
	after := difference{before.since, change{before.change.columns.with(l.records.view(slot), r), before.change.refused}}
	switch {
	case before.since.IsZero():
		after.since = now
		l.records.setDifference(slot, after)
		c.stale++
		l.backlog.addStale(slot)
	case after == before:
		return
	default:
		l.records.setDifference(slot, after)
	}
	l.log.touch(slot)
	l.released.disturb(c)
}

// Truncate deletes every record.
func (l *Lineage) Truncate() {
	l.released.clear()
	l.released.numbering.clear()
	l.backlog.clear()
	l.records, l.log.touched, l.log.marked = records{}, nil, nil
}

// Record returns a copy of the record's values as they are now, and whether it exists.
func (l *Lineage) Record(id incremental.RecordID) (Record, bool) {
	slot := l.records.slot(id)
	if slot < 0 {
		return Record{}, false
	}
	r := l.records.view(slot)
	r.Cells, r.Sensitive, r.Copied = slices.Clone(r.Cells), slices.Clone(r.Sensitive), slices.Clone(r.Copied)
	return r, true
}

// NextClass is the id that the next new class will get; see Options.FirstClass.
func (l *Lineage) NextClass() incremental.ClassID { return l.released.nextClass }
