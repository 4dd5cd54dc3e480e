package incremental

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Divide makes the classes that the first Settle of a new partition would make of some
// records, and lists the places of each one's in the columns, in no order; none where the
// constraints are infeasible. Only options that affect the first Settle apply.
//
// As long as the method puts all records into classes that satisfy the constraints, as most
// do, it works on the columns in place. Otherwise it fills a partition, which holds all
// records a second time until the classes are made.
func Divide(ctx context.Context, attributes []anonymizer.Attribute, all Columns, constraints privacy.ConstraintSet, method anonymizer.Method, o Options) ([][]int32, error) {
	o.OmitMoved, o.Subjects = true, all.Subjects != nil
	d := &division{ctx: ctx, all: all, p: New(attributes, constraints, method, o)}
	// What looks alike has to be united, and some columns make no table.
	if table, err := all.table(attributes); err == nil && !d.p.members.distinct && !d.p.population.relative {
		classes, done := d.divide(table)
		if err := ctx.Err(); err != nil || done {
			return classes, err
		}
	}
	return d.settle()
}

// division is one Divide.
type division struct {
	ctx   context.Context
	all   Columns
	table *anonymizer.Table // of all; counts records
	p     *Partition        // empty, as long as it can be: it knows how methods are asked
}

// divide reports whether it could do without the partition.
func (d *division) divide(table *anonymizer.Table) (classes [][]int32, done bool) {
	if d.all.Records == 0 {
		return nil, true
	}
	d.table = table
	total := d.total()
	if d.p.population.constraints.Feasible(total) != nil || !d.p.population.satisfied(total) {
		return nil, true
	}
	release, err := d.p.divider.method.Anonymize(d.ctx, table, d.p.population.constraints, anonymizer.Options{Seed: d.p.divider.seed, Progress: d.p.divider.progress})
	if err != nil {
		return nil, false
	}
	classes, complete := d.satisfying(release.Classes, nil)
	if !complete {
		d.p.divider.made = release
		return nil, false
	}
	return d.split(classes), true
}

// total counts all records.
func (d *division) total() privacy.Summary {
	if d.p.population.sizes {
		return privacy.Summary{Records: d.all.Records}
	}
	places := make([]int32, d.all.Records)
	for i := range places {
		places[i] = int32(i)
	}
	return d.summarize(places)
}

// summarize counts records for the constraints, and no more than they ask for.
func (d *division) summarize(places []int32) privacy.Summary {
	if d.p.population.sizes {
		return privacy.Summary{Records: len(places)}
	}
	return d.table.Summarize(places)
}

// satisfying lists the classes that satisfy the constraints, and reports whether they hold
// all the records. Places are those of the records that were divided, nil for all.
func (d *division) satisfying(classes []anonymizer.EquivalenceClass, places []int32) (parts [][]int32, complete bool) {
	parts = make([][]int32, 0, len(classes))
	divided, records := 0, len(places)
	if places == nil {
		records = d.all.Records
	}
	for _, class := range classes {
		part := []int32(class)
		if places != nil {
			part = pick(places, class)
		}
		if len(part) > 0 && d.p.population.satisfied(d.summarize(part)) {
			parts, divided = append(parts, part), divided+len(part)
		}
	}
	return parts, divided == records
}

// piece is a class that may still be divided.
type piece struct {
	places  []int32
	at      int // its place among the classes
	splitAt int // the size from which on it is
}

// split divides what the method has left large, as a partition does with its new classes, and
// puts the parts where they would be there.
func (d *division) split(classes [][]int32) [][]int32 {
	var pieces, due []*piece
	add := func(places []int32, of int) {
		c := &piece{places, len(pieces), nextSplit(d.p.members.k, len(places), of)}
		pieces, due = append(pieces, c), append(due, c)
	}
	if !slices.ContainsFunc(classes, func(c []int32) bool { return len(c) >= nextSplit(d.p.members.k, len(c), d.all.Records) }) {
		return classes
	}
	for _, places := range classes {
		add(places, d.all.Records)
	}
	for i := 0; i < len(due) && d.ctx.Err() == nil; i++ {
		c := due[i]
		parts := d.parts(c)
		if len(parts) < 2 {
			continue
		}
		last := len(pieces) - 1
		pieces[c.at], pieces[last].at = pieces[last], c.at
		pieces = pieces[:last]
		for _, part := range parts {
			add(part, len(c.places))
		}
	}
	classes = classes[:0]
	for _, c := range pieces {
		classes = append(classes, c.places)
	}
	return classes
}

// parts are what a large class is divided into, nil where it is not.
func (d *division) parts(c *piece) [][]int32 {
	if len(c.places) < c.splitAt {
		return nil
	}
	release, err := d.p.divider.method.Anonymize(d.ctx, d.table.Pick(c.places), d.p.population.constraints, anonymizer.Options{Seed: d.p.divider.seed})
	if err != nil {
		return nil
	}
	parts, complete := d.satisfying(release.Classes, c.places)
	if !complete {
		return nil
	}
	return parts
}

// settle has a partition make the classes.
func (d *division) settle() ([][]int32, error) {
	p := d.p
	r := Record{Cells: make([]hierarchy.Cell, len(d.all.Cells)), Sensitive: make([]uint32, len(d.all.Sensitive))}
	for place := range d.all.Records {
		r.ID = RecordID(place)
		d.all.get(place, &r)
		if err := p.Insert(r); err != nil {
			return nil, fmt.Errorf("laying out the records: %w", err)
		}
	}
	d.all, d.table = Columns{}, nil // the partition has all of it
	if _, err := p.SettleContext(d.ctx); err != nil {
		return nil, err
	}
	classes := make([][]int32, len(p.members.classes.list))
	for i := range classes {
		classes[i] = slices.Clone(p.members.classes.list[i].members) // the slots of a new partition are 0, 1, 2 and so on
	}
	return classes, nil
}
