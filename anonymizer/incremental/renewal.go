package incremental

import (
	"context"
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// ErrNotRenewed says that a Renewal cannot be adopted: it is another partition's,
// has not been run to its end, or was adopted before.
var ErrNotRenewed = errors.New("the renewal is not ready to be adopted")

// Renewal makes classes of a partition's records afresh, by the table's method, as
// if all had come at once. A maintained release drifts away from that: classes
// are widened by new records and merged where records leave, and are never laid out
// anew.
//
// BeginRenewal copies the records, Run makes the classes, on any goroutine and for
// as long as it takes while the partition goes on, and FinishRenewal has the
// partition take them over. What that did to the release is known before it is
// decided on: Before and Loss.
type Renewal struct {
	// Before is the partition's Loss when the renewal began.
	Before float64
	// Suppression is handed to the method (anonymizer.Options); set it before Run.
	Suppression float64

	of          *Partition
	ids         []RecordID
	table       *anonymizer.Table // of the records, in the order of ids; nil where there is nothing to do
	sensitive   int               // number of sensitive attributes
	constraints privacy.ConstraintSet
	methods     []anonymizer.Method
	seed        uint64
	scale       scale

	classes []freshClass
	loss    float64
	ready   bool
}

// freshClass is a class that a method made: indexes into the renewal's records, and
// the size at which it is divided.
type freshClass struct {
	members []int32
	splitAt int
}

// BeginRenewal copies the records for a Renewal. It belongs between a Settle and
// the next change, and takes the time of the copy: nothing is anonymized. Where
// the records are not Feasible, the renewal will change nothing.
func (p *Partition) BeginRenewal() *Renewal {
	r := &Renewal{
		Before: p.Loss(), of: p, sensitive: max(0, p.members.records.sensitiveCount()),
		constraints: p.population.constraints, methods: p.divider.methods(), seed: p.divider.seed,
	}
	attributes := make([]anonymizer.Attribute, len(p.members.attributes))
	for a, attribute := range p.members.attributes {
		attributes[a] = anonymizer.Attribute{Name: attribute.Name, Hierarchy: hierarchy.Frozen(attribute.Hierarchy)}
	}
	r.scale = newScale(attributes, p.domain)
	slots := p.members.records.all()
	r.ids = pick(p.members.records.ids, slots)
	if p.Feasible() != nil {
		return r
	}
	table, err := p.members.records.table(attributes, slots)
	if err != nil || table.Len() != len(slots) {
		return r // without columns all records are alike, and no class is better than another
	}
	if p.population.relative {
		table = table.ComparedWith(p.population.whole)
	}
	r.table = table
	return r
}

// Run makes the classes: those of the table's method and, of records that it
// leaves out or puts into classes that violate the constraints, those of rounded
// partition; then it divides large ones, as the partition would. Progress, if not
// nil, is called with how many of the records have a class, as in
// anonymizer.Options. The error is the context's or the method's; the renewal is
// then of no use.
func (r *Renewal) Run(ctx context.Context, progress func(done, total int)) error {
	r.classes, r.ready = nil, false
	rest := make([]int32, len(r.ids))
	for i := range rest {
		rest[i] = int32(i)
	}
	options := anonymizer.Options{Seed: r.seed, Progress: progress, Suppression: r.Suppression}
	for _, method := range r.methods {
		if r.table == nil || len(rest) == 0 {
			break
		}
		parts, left, err := r.divide(ctx, method, rest, options)
		if err != nil {
			return err
		}
		for _, part := range parts {
			r.classes = append(r.classes, freshClass{part, nextSplit(r.of.members.k, len(part), len(rest))})
		}
		rest, options.Progress = left, nil // what is left is little
	}
	if err := r.split(ctx); err != nil {
		return err
	}
	r.measure(len(rest))
	r.ready = true
	return nil
}

// split divides large classes as Partition.split does.
func (r *Renewal) split(ctx context.Context) error {
	for i := 0; i < len(r.classes); i++ {
		c := &r.classes[i]
		whole := len(c.members)
		if whole < c.splitAt {
			continue
		}
		parts, rest, err := r.divide(ctx, r.methods[0], c.members, anonymizer.Options{Seed: r.seed})
		if err != nil {
			return err
		}
		if len(rest) > 0 || len(parts) < 2 {
			c.splitAt = whole + max(1, whole/4)
			continue
		}
		*c = freshClass{parts[0], nextSplit(r.of.members.k, len(parts[0]), whole)}
		for _, part := range parts[1:] {
			r.classes = append(r.classes, freshClass{part, nextSplit(r.of.members.k, len(part), whole)})
		}
		i-- // the first part may be large as well
	}
	return nil
}

// divide has a method make classes of some records. It returns those that satisfy
// the constraints, and the records in none of them.
func (r *Renewal) divide(ctx context.Context, method anonymizer.Method, of []int32, o anonymizer.Options) (parts [][]int32, rest []int32, err error) {
	if !r.satisfied(of) {
		return nil, of, ctx.Err() // a method cannot do better: a union satisfies what its parts do
	}
	piece := r.table
	if len(of) < piece.Len() {
		piece = piece.Pick(of).ComparedWith(piece.Population())
	}
	release, err := method.Anonymize(ctx, piece, r.constraints, o)
	if err != nil {
		return nil, nil, fmt.Errorf("making the classes anew by %s: %w", method.Name(), err)
	}
	rest = pick(of, release.Withheld)
	for i, class := range release.Classes {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if members := pick(of, class); len(members) > 0 && r.satisfied(members) {
			parts = append(parts, members)
		} else {
			rest = append(rest, members...)
		}
	}
	return parts, rest, ctx.Err()
}

func (r *Renewal) satisfied(members []int32) bool {
	return r.constraints.Satisfied(r.table.Summarize(members), r.table.Population())
}

// measure finds the loss of the classes and of so many records outside of them.
func (r *Renewal) measure(rest int) {
	total := lossSum{}
	for _, class := range r.classes {
		loss := 0.0
		for a, attribute := range r.table.Attributes() {
			covered, cells := emptyExtent, r.table.Cells(a)
			for _, i := range class.members {
				covered = covered.include(attribute.Hierarchy.Position(cells[i]))
			}
			loss += r.scale.of(a, covered)
		}
		total.add(len(class.members), loss)
	}
	total.add(rest, float64(len(r.scale)))
	r.loss = total.mean(len(r.scale))
}

// Loss is the Loss of the classes made anew, over the same domain as Before; 0
// until Run has ended.
func (r *Renewal) Loss() float64 { return r.loss }

// Drift is how far the maintained release has drifted: its loss by that of the one
// made anew. 1 is none, 1.1 a tenth more; it is below 1 where maintenance did
// better than the method, and infinite where only the new release loses nothing.
func (r *Renewal) Drift() float64 {
	if r.Before == r.loss {
		return 1
	}
	return r.Before / r.loss
}

// FinishRenewal assigns the records to the classes of the renewal. Records that came
// meanwhile, and those whose quasi-identifying or counted values changed, wait as new
// ones do. Call Settle afterwards: it checks all classes against the constraints, places
// what waits, and reports everything that moved. A renewal that has made no classes, as where the
// records were not Feasible, changes nothing. The error is ErrNotRenewed.
func (p *Partition) FinishRenewal(r *Renewal) error {
	if r.of != p || !r.ready {
		return ErrNotRenewed
	}
	r.ready = false
	if len(r.classes) == 0 {
		return nil
	}
	p.members.withholdAll()
	slots := p.members.waiting
	p.members.waiting = nil
	members := []int32{}
	record := Record{Cells: make([]hierarchy.Cell, len(p.members.attributes)), Sensitive: make([]uint32, r.sensitive)}
	for _, class := range r.classes {
		members = members[:0]
		for _, i := range class.members {
			if slot, same := p.unchanged(r, i, &record); same {
				members = append(members, slot)
			}
		}
		if len(members) > 0 {
			p.members.found(members, class.splitAt)
		}
	}
	for _, slot := range slots {
		if p.members.records.at[slot].class < 0 {
			p.members.wait(slot)
		}
	}
	return nil
}

// unchanged finds a record of a renewal in the partition, if all that decides on
// its class is as it was. The record is only room to work in.
func (p *Partition) unchanged(r *Renewal, i int32, record *Record) (slot int32, same bool) {
	slot = p.members.records.slot(r.ids[i])
	if slot < 0 {
		return 0, false
	}
	for a := range record.Cells {
		record.Cells[a] = r.table.Cells(a)[i]
	}
	for a := range record.Sensitive {
		record.Sensitive[a] = r.table.Sensitive(a)[i]
	}
	if subjects := r.table.Subjects(); subjects != nil {
		record.Subject = subjects[i]
	}
	return slot, p.members.records.sameCells(slot, record.Cells) && p.members.records.sameCounted(slot, *record)
}
