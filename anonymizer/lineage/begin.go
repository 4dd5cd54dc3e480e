package lineage

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Begin is the first Publish, whose Changes list nothing: all that is published is new, and
// a list of it would be as large as the rest. Classes, Generalize and RowsOf give it class
// by class, and Changes.Place each record.
func (l *Lineage) Begin(ctx context.Context, now time.Time) (Changes, error) {
	if l.begun {
		return Changes{}, errors.New("beginning a lineage that has begun")
	}
	l.log.touched, l.log.marked = nil, nil
	l.log.unlisted = true
	changes, err := l.Publish(ctx, now)
	l.log.unlisted = false
	return changes, err
}

// Classes yields the published classes, in no order.
func (l *Lineage) Classes() iter.Seq[incremental.ClassID] {
	return func(yield func(incremental.ClassID) bool) {
		for _, c := range l.released.classes.list {
			if c != nil && !yield(c.id) {
				return
			}
		}
	}
}

// Generalize gives what is published for a class, one generalization for each attribute, as long
// as nothing has changed since it was made; nil for an unknown class.
func (l *Lineage) Generalize(class incremental.ClassID) []hierarchy.Generalization {
	c := l.released.classes.find(class)
	if c == nil {
		return nil
	}
	members := make([]int32, 0, len(c.rows))
	for _, r := range c.rows {
		if !isGhost(r) {
			members = append(members, r.slot)
		}
	}
	return l.records.generalize(l.rules.attributes, members)
}

// RowsOf lists the published rows of a class that stand for a record.
func (l *Lineage) RowsOf(class incremental.ClassID) []NewRow {
	c := l.released.classes.find(class)
	if c == nil {
		return nil
	}
	rows := make([]NewRow, 0, len(c.rows))
	for _, r := range c.rows {
		if !isGhost(r) {
			rows = append(rows, l.released.newRow(c, r))
		}
	}
	return rows
}
