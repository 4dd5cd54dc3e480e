package lineage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// leastValued is the least number of records that are tried as a batch if constraints count
// sensitive values. A refused batch reveals something about these values: of two, that both are the
// same, with certainty; a batch of twenty is rarely refused, and its refusal rarely reveals
// anything.
const leastValued = 20

// leastValuedChange is the same for changed rows of a class, which are fewer.
const leastValuedChange = 10

// LeastBatch is the least number of records, or subjects, that are tried as a batch where
// Options.Least does not say: crowd*k, and 20 where constraints count sensitive values.
func LeastBatch(constraints privacy.ConstraintSet, crowd int) int {
	least := max(1, crowd) * constraints.K()
	if valued(constraints) {
		least = max(least, leastValued)
	}
	return least
}

// leasts are the least number of persons of a batch, and of those together with changes that constraints count,
// if a number is asked for, or 0.
func leasts(asked, crowd int, constraints privacy.ConstraintSet) (batch, changed int) {
	batch, changed = asked, asked
	if asked == 0 {
		batch = LeastBatch(constraints, crowd)
		if valued(constraints) {
			changed = leastValuedChange
		}
	}
	return max(batch, crowd*constraints.K()), changed
}

// valued reports whether a constraint counts sensitive values.
func valued(constraints privacy.ConstraintSet) bool {
	return slices.ContainsFunc(constraints, func(c privacy.Constraint) bool {
		_, size := c.(privacy.KAnonymity)
		return !size
	})
}

// Publish cuts the classes that can be cut, publishes a batch if one is due, and
// returns all that has changed since the last time. Call it after changes and when Due
// says so. After an error the lineage must not be used any more.
func (l *Lineage) Publish(ctx context.Context, now time.Time) (Changes, error) {
	if err := l.cutting(ctx).all(); err != nil {
		return Changes{}, fmt.Errorf("cutting classes: %w", err)
	}
	l.backlog.stale.settle(l.backlog.current)
	due := l.batchDue(now)
	l.begun = true
	if due {
		if err := l.publishBatch(ctx); err != nil {
			return Changes{}, fmt.Errorf("publishing a batch: %w", err)
		}
	}
	l.expire(now)
	if err := l.follow(ctx); err != nil {
		return Changes{}, fmt.Errorf("following with a coarser release: %w", err)
	}
	return l.takeChanges(), nil
}

// batchDue reports whether a batch is due: enough records wait, or the least number and one
// of them for long enough, or that number at the first Publish.
func (l *Lineage) batchDue(now time.Time) bool {
	oldest, persons := l.backlog.oldest(&l.backlog.waiting), l.backlog.persons()
	if persons < l.options.Least {
		return false
	}
	overdue := l.options.Within > 0 && !now.Before(oldest.Add(l.options.Within))
	return overdue || persons >= l.options.Batch || !l.begun
}

// Due is when Publish should be called at the latest if nothing changes; zero for never.
func (l *Lineage) Due() time.Time {
	oldest := l.backlog.oldest(&l.backlog.waiting)
	if oldest.IsZero() {
		return oldest
	}
	var due time.Time
	if l.options.Within > 0 && l.backlog.persons() >= l.options.Least {
		due = oldest.Add(l.options.Within)
	}
	if l.options.Deadline > 0 {
		if end := oldest.Add(l.options.Deadline); due.IsZero() || end.Before(due) {
			due = end
		}
	}
	return due
}

// publishBatch publishes all waiting records as new classes, or withholds all of them
// for good. Which of them could be published depends on their sensitive values; and so
// does it whether a batch can be that was refused before and has one person more or
// less: then that person's value would be known.
func (l *Lineage) publishBatch(ctx context.Context) error {
	batch := l.backlog.takeWaiting()
	classes, err := l.divider.divide(ctx, batch)
	if err != nil {
		return err
	}
	for _, members := range classes {
		l.released.found(members, false, nil)
	}
	if len(classes) == 0 {
		for _, slot := range batch {
			l.withhold(slot)
		}
	}
	return nil
}

// expire withholds the records whose deadline has passed.
func (l *Lineage) expire(now time.Time) {
	b := &l.backlog
	for l.options.Deadline > 0 && b.waiting.count > 0 {
		if now.Before(b.oldest(&b.waiting).Add(l.options.Deadline)) {
			return
		}
		slot := b.waiting.entries[0].slot
		l.withhold(slot)
		b.stopWaiting(slot)
	}
}

func (l *Lineage) withhold(slot int32) {
	l.backlog.withhold(slot)
	l.log.touch(slot)
}

// divider makes classes of records by the table's method.
type divider struct {
	records *records
	rules   *rules
	method  anonymizer.Method
	options *Options
}

// divide makes classes of a batch, of crowds, each in the order of its records' ids; none
// where all records together are too few for one, or violate the constraints.
func (d *divider) divide(ctx context.Context, batch []int32) ([][]int32, error) {
	crowds := append(privacy.ConstraintSet{privacy.KAnonymity{K: d.options.Crowd * d.rules.k}}, d.rules.constraints...)
	columns := incremental.NewColumns(len(batch), len(d.rules.attributes), max(0, d.rules.sensitive), d.rules.subjects)
	for place, slot := range batch {
		columns.Set(place, d.records.view(slot).Record)
	}
	classes, err := incremental.Divide(ctx, d.rules.attributes, columns, crowds, d.method, incremental.Options{
		Seed: d.options.Seed, Progress: d.options.Progress,
	})
	if err != nil {
		return nil, err
	}
	byID := func(a, b int32) int { return cmp.Compare(d.records.ids[a], d.records.ids[b]) }
	for _, members := range classes {
		for i, place := range members {
			members[i] = batch[place]
		}
		slices.SortFunc(members, byID)
	}
	return classes, nil
}
