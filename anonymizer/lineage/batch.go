package lineage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// leastValued is the least number of records that are tried as a batch where constraints
// count sensitive values. That a batch is refused tells of these values: that all of two
// are alike, for certain; of twenty it rarely tells anything, as it is rarely refused.
const leastValued = 20

// leastValuedChange is the same for changed rows of a class. There are fewer to wait for.
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

// valued reports whether a constraint counts sensitive values.
func valued(constraints privacy.ConstraintSet) bool {
	for _, c := range constraints {
		if _, size := c.(privacy.KAnonymity); !size {
			return true
		}
	}
	return false
}

// Publish cuts the classes that can be cut, publishes a batch if one is due, and
// returns all that has changed since the last time. It is to be called after changes
// and when Due says so. After an error the lineage must not be used any more.
func (l *Lineage) Publish(ctx context.Context, now time.Time) (Changes, error) {
	if err := l.cutAll(ctx); err != nil {
		return Changes{}, fmt.Errorf("cutting classes: %w", err)
	}
	l.stale.settle(l.stands)
	l.waiting.settle(l.stands)
	due := l.batchDue(now)
	l.begun = true
	if due {
		if err := l.publishBatch(ctx); err != nil {
			return Changes{}, fmt.Errorf("publishing a batch: %w", err)
		}
	}
	l.expire(now)
	return l.takeChanges(), nil
}

// batchDue reports whether a batch waits: enough records, or the least number and one of
// them for long enough, or that number at the first Publish of all.
func (l *Lineage) batchDue(now time.Time) bool {
	if l.persons() < l.options.Least {
		return false
	}
	overdue := l.options.Within > 0 && !now.Before(l.oldest(&l.waiting).Add(l.options.Within))
	return overdue || l.persons() >= l.options.Batch || !l.begun
}

// Due is when Publish should be called at the latest if nothing changes; zero for never.
func (l *Lineage) Due() time.Time {
	l.waiting.settle(l.stands)
	oldest := l.oldest(&l.waiting)
	if oldest.IsZero() {
		return oldest
	}
	var due time.Time
	if l.options.Within > 0 && l.persons() >= l.options.Least {
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
	batch := make([]int32, 0, l.waiting.count)
	for _, e := range l.waiting.entries {
		if l.stands(e) {
			batch = append(batch, e.slot)
		}
	}
	l.waiting = queue{}
	classes, err := l.divide(ctx, batch)
	if err != nil {
		return err
	}
	for _, members := range classes {
		l.found(members, false)
	}
	if len(classes) == 0 {
		for _, slot := range batch {
			l.withhold(slot)
		}
	}
	l.gathered = map[uint32]int{} // as large as this batch needs, not the first
	return nil
}

// withhold keeps a waiting record from being published for good.
func (l *Lineage) withhold(slot int32) {
	at := l.records.at(slot)
	at.class = withheld
	at.stamp++
	l.withheld++
	if !l.unlisted {
		l.touch(slot)
	}
}

// divide makes classes of a batch, of crowds, each in the order of its records' ids; none
// where all records together are too few for one, or violate the constraints.
func (l *Lineage) divide(ctx context.Context, batch []int32) ([][]int32, error) {
	crowds := append(privacy.ConstraintSet{privacy.KAnonymity{K: l.options.Crowd * l.k}}, l.constraints...)
	columns := incremental.NewColumns(len(batch), len(l.attributes), max(0, l.sensitive), l.options.Subjects)
	for place, slot := range batch {
		columns.Set(place, l.records.view(slot).Record)
	}
	classes, err := incremental.Divide(ctx, l.attributes, columns, crowds, l.method, incremental.Options{
		Seed: l.options.Seed, Progress: l.options.Progress,
	})
	if err != nil {
		return nil, err
	}
	byID := func(a, b int32) int { return cmp.Compare(l.records.ids[a], l.records.ids[b]) }
	for _, members := range classes {
		for i, place := range members {
			members[i] = batch[place]
		}
		slices.SortFunc(members, byID)
	}
	return classes, nil
}

// expire withholds the records whose deadline has passed.
func (l *Lineage) expire(now time.Time) {
	for l.options.Deadline > 0 && l.waiting.count > 0 {
		l.waiting.settle(l.stands)
		if now.Before(l.oldest(&l.waiting).Add(l.options.Deadline)) {
			return
		}
		slot := l.waiting.entries[0].slot
		l.withhold(slot)
		l.depart(slot)
	}
}
