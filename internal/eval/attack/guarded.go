package attack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// epoch is when simulated time begins; a tick is an hour.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func moment(tick int) time.Time { return epoch.Add(time.Duration(tick) * time.Hour) }

// guarded publishes by a lineage, after each commit what it then may.
type guarded struct {
	w       *world
	cs      privacy.ConstraintSet
	options lineage.Options
	lineage *lineage.Lineage
	left    departed
	seen    backlog
	*guardedRelease
}

// guardedRelease is what readers see of classes that never change.
type guardedRelease struct {
	w       *world
	shown   *history
	classes map[incremental.ClassID]*guardedClass
	rows    map[lineage.RowID]incremental.ClassID
	table   float64 // the weight of the table
}

func newGuardedRelease(w *world) *guardedRelease {
	return &guardedRelease{w: w, shown: newHistory(w, true), classes: map[incremental.ClassID]*guardedClass{}, rows: map[lineage.RowID]incremental.ClassID{}, table: 1}
}

type guardedClass struct {
	bounds []extent
	rows   []guardedRow
	weight float64
}

type guardedRow struct {
	id lineage.RowID
	row
	element
}

func newGuarded(w *world, cs privacy.ConstraintSet, s Setup, k, crowd int) (*guarded, error) {
	p := &guarded{
		w: w, cs: cs, guardedRelease: newGuardedRelease(w), left: departed{},
		options: lineage.Options{
			Seed: s.Seed, Subjects: w.subjects, Crowd: crowd, Least: s.Least, Batch: s.Batch * crowd * k, Within: time.Duration(s.Within) * time.Hour,
		},
	}
	var err error
	p.lineage, err = p.another()
	return p, err
}

// another is an empty lineage of the same settings.
func (p *guarded) another() (*lineage.Lineage, error) {
	return lineage.New(p.w.attributes, p.cs, partition.RoundedPartition{}, p.options)
}

func (p *guarded) apply(c commit, number int) error {
	return p.left.applyTo(p.lineage, p.w, c, p.w.record(c.record, number), moment(c.tick))
}

// departed are the records that have left and whose rows are published, by the record. As
// package sync does, it has those who come back take their rows back.
type departed map[int32]lineage.Left

func (d departed) applyTo(l *lineage.Lineage, w *world, c commit, r lineage.Record, now time.Time) error {
	switch c.kind {
	case arrival:
		former := w.lives[c.record].former
		if left, is := d[former]; is {
			delete(d, former)
			return l.Return(left.Ghost, r, now)
		}
		return l.Insert(r, now)
	case departure:
		left, published, err := l.Leave(r.ID)
		if published {
			d[c.record] = left
		}
		return err
	default:
		return l.Modify(r, now)
	}
}

// published forgets those whose rows have vanished.
func (d departed) published(c lineage.Changes) {
	for _, ghost := range c.Vanished {
		maps.DeleteFunc(d, func(_ int32, left lineage.Left) bool { return left.Ghost == ghost })
	}
}

func (p *guarded) publish(ctx context.Context, commit, tick int) error {
	changes, err := p.lineage.Publish(ctx, moment(tick))
	if err != nil {
		return err
	}
	p.left.published(changes)
	added := map[incremental.ClassID][]guardedRow{}
	for _, r := range changes.Rows {
		id := int32(r.Record)
		s := p.w.lives[id].at(commit)
		added[r.Class] = append(added[r.Class], guardedRow{r.ID, row{id, s.value}, element{id, s.epoch}})
	}
	return p.change(changes.Classes, added, changes.Gone, changes.Weights, commit, tick)
}

// change makes a version of what has changed, if that is anything.
func (p *guardedRelease) change(created map[incremental.ClassID][]hierarchy.Generalization, added map[incremental.ClassID][]guardedRow, gone []lineage.RowID, weights map[incremental.ClassID]lineage.Weight, commit, tick int) error {
	touched := map[incremental.ClassID]bool{}
	for class, published := range created {
		p.classes[class] = &guardedClass{bounds: bounds(p.w.attributes, published), weight: 1, rows: added[class]}
		for _, r := range added[class] {
			p.rows[r.id] = class
		}
		touched[class] = true
	}
	for _, id := range gone {
		class, known := p.rows[id]
		if !known {
			return fmt.Errorf("row %d vanishes that was not published", id)
		}
		c := p.classes[class]
		c.rows = slices.DeleteFunc(c.rows, func(r guardedRow) bool { return r.id == id })
		delete(p.rows, id)
		touched[class] = true
	}
	_, whole := weights[0]
	for class, weight := range weights {
		switch {
		case class > 0:
			p.classes[class].weight = weight.Share
			touched[class] = true
		case class == 0:
			p.table = weight.Share
		}
	}
	if whole || len(touched) > 0 {
		p.show(touched, commit, tick)
	}
	return nil
}

// show notes a version, with the classes that are different.
func (p *guardedRelease) show(touched map[incremental.ClassID]bool, commit, tick int) {
	var classes []incremental.ClassID
	for class := range touched {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	p.shown.begin(commit, tick, p.table)
	for _, class := range classes {
		c := p.classes[class]
		if len(c.rows) == 0 {
			p.shown.retire(int64(class))
			delete(p.classes, class)
			continue
		}
		var rows []row
		var elements []element
		for _, r := range c.rows {
			rows, elements = append(rows, r.row), append(elements, r.element)
		}
		p.shown.show(int64(class), c.bounds, rows, elements, c.weight)
	}
}

func (p *guarded) observe() {
	f := p.lineage.Freshness()
	p.seen.waiting += float64(f.Waiting)
	p.seen.withheld += float64(f.Withheld)
	p.seen.ghosts += float64(f.Ghosts)
	p.seen.stale += float64(f.Stale)
	p.seen.rows += float64(f.Rows)
	p.seen.ticks++
}

func (p *guarded) history() *history { return p.shown }
func (p *guarded) backlog() backlog  { return p.seen }
