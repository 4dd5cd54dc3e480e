package lineage

import (
	"context"
	"fmt"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// attempt is the last batch that could not be published.
type attempt struct {
	failed bool
	at     time.Time
	size   int
	churn  int // waiting records that came, went or changed since
}

// anew reports whether enough has happened to try again before it is time to: a
// quarter of the records, so that attempts stay cheap for each of them.
func (a attempt) anew() bool { return !a.failed || a.churn >= max(1, a.size/4) }

// Publish cuts the classes that can be cut, publishes a batch if one is due, and
// returns all that has changed since the last time. It is to be called after changes
// and when Due says so. After an error, which is the context's, the lineage must not be
// used any more.
func (l *Lineage) Publish(ctx context.Context, now time.Time) (Changes, error) {
	if err := l.cutAll(ctx); err != nil {
		return Changes{}, fmt.Errorf("cutting classes: %w", err)
	}
	l.stale.settle(l.lags)
	// Without the records that expire the others may be publishable: once more then.
	for expired := true; expired; expired = l.expire(now) {
		l.waiting.settle(l.waits)
		if !l.batchDue(now) {
			continue
		}
		if err := l.publishBatch(ctx, now); err != nil {
			return Changes{}, fmt.Errorf("publishing a batch: %w", err)
		}
	}
	return l.takeChanges(), nil
}

// batchDue reports whether enough records wait, one has waited long enough, or nothing
// is published yet. After a batch that could not be published enough must have happened,
// or some time must have passed.
func (l *Lineage) batchDue(now time.Time) bool {
	if l.waiting.count == 0 {
		return false
	}
	if l.options.Within > 0 && !now.Before(l.waiting.oldest().Add(l.options.Within)) {
		return l.attempt.anew() || !now.Before(l.attempt.at.Add(l.options.Within))
	}
	return l.attempt.anew() && (l.waiting.count >= l.options.Batch || len(l.classes) == 0)
}

// Due is when Publish should be called at the latest if nothing changes; zero for never.
func (l *Lineage) Due() time.Time {
	l.waiting.settle(l.waits)
	oldest := l.waiting.oldest()
	if oldest.IsZero() {
		return oldest
	}
	var due time.Time
	if l.options.Within > 0 {
		due = oldest.Add(l.options.Within)
		if again := l.attempt.at.Add(l.options.Within); !l.attempt.anew() && due.Before(again) {
			due = again
		}
	}
	if l.options.Deadline > 0 {
		if end := oldest.Add(l.options.Deadline); due.IsZero() || end.Before(due) {
			due = end
		}
	}
	return due
}

// publishBatch publishes all waiting records as new classes, or none of them: which of
// them can be published would depend on their sensitive values, and so would tell of
// these.
func (l *Lineage) publishBatch(ctx context.Context, now time.Time) error {
	var batch []*held
	for _, e := range l.waiting.entries {
		if l.waits(e) {
			batch = append(batch, l.records[e.id])
		}
	}
	for _, constraints := range l.demands() {
		classes, err := l.divide(ctx, batch, constraints)
		if err != nil {
			return err
		}
		if len(classes) == 0 {
			continue
		}
		for _, members := range classes {
			l.found(members, false)
		}
		l.waiting, l.attempt = queue{}, attempt{}
		return nil
	}
	l.attempt = attempt{failed: true, at: now, size: len(batch)}
	return nil
}

// demands are the constraint sets that classes of a batch are made with: crowds first.
func (l *Lineage) demands() []privacy.ConstraintSet {
	if l.options.Crowd == 1 {
		return []privacy.ConstraintSet{l.constraints}
	}
	crowds := append(privacy.ConstraintSet{privacy.KAnonymity{K: l.options.Crowd * l.k}}, l.constraints...)
	return []privacy.ConstraintSet{crowds, l.constraints}
}

// divide has a partition make classes of a batch; none where all records together
// violate the constraints.
func (l *Lineage) divide(ctx context.Context, batch []*held, constraints privacy.ConstraintSet) ([][]*held, error) {
	p := incremental.New(l.attributes, constraints, l.method, incremental.Options{Seed: l.options.Seed, Subjects: l.options.Subjects})
	for _, h := range batch {
		if err := p.Insert(h.record.Record); err != nil {
			return nil, fmt.Errorf("laying out the records: %w", err)
		}
	}
	if _, err := p.SettleContext(ctx); err != nil {
		return nil, err
	}
	classes := make([][]*held, p.Classes())
	for place := range classes {
		for _, id := range p.Members(p.ClassAt(place)) {
			classes[place] = append(classes[place], l.records[id])
		}
	}
	return classes, nil
}

// expire withholds for good the records whose deadline has passed, and reports whether
// there are any.
func (l *Lineage) expire(now time.Time) bool {
	found := false
	for l.options.Deadline > 0 && l.waiting.count > 0 {
		l.waiting.settle(l.waits)
		first := l.waiting.entries[0]
		if now.Before(first.since.Add(l.options.Deadline)) {
			break
		}
		found = true
		l.records[first.id].withheld = true
		l.withheld++
		l.waiting.drop()
		l.attempt.churn++
		l.touch(first.id)
	}
	return found
}
