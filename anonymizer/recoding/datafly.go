package recoding

import (
	"context"
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Datafly is the full-domain recoding of Sweeney, "Guaranteeing anonymity when
// sharing medical data, the Datafly system" (1997) and "Achieving k-anonymity
// privacy protection using generalization and suppression" (2002).
//
// While the records outside the maximal anonymous subset number more than
// Options.Suppression allows, the attribute with the most different values, the
// first of equal ones, is generalized one level for all records; attributes at
// the top are passed over. What violates in the end is withheld: at most the
// allowed share, or everything where even the top violates. All classes have the
// same levels.
//
// It honors every constraint set; a constraint <QI, K> is looked at over QI
// alone. Sweeney allows k records to be withheld; here zero allows none. Time
// O(sum of heights * d * n) at worst, memory O(d n).
type Datafly struct{}

// Name is "datafly".
func (Datafly) Name() string { return "datafly" }

// Accepts takes every constraint set and every kind of attribute.
func (Datafly) Accepts(attributes []anonymizer.Attribute, c privacy.ConstraintSet) error {
	return known(attributes, c)
}

// Anonymize implements Method.
func (Datafly) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	r, err := begin(ctx, t, c, o)
	if err != nil {
		return nil, err
	}
	kept, err := r.datafly(ctx, allowance(t, o), nil)
	if err != nil {
		return nil, err
	}
	if r.tuples.covered(kept) < r.tuples.records()-allowance(t, o) {
		clear(kept)
	}
	if err := r.publish(ctx, kept); err != nil {
		return nil, err
	}
	if err := r.withhold(ctx); err != nil {
		return nil, err
	}
	return r.release, nil
}

// allowance is the number of records that may be withheld.
func allowance(t *anonymizer.Table, o anonymizer.Options) int {
	share := o.Suppression
	if !(share > 0) {
		return 0
	}
	return int(math.Floor(min(share, 1) * float64(t.Len())))
}

// datafly generalizes until at most so many records violate or nothing is left
// to generalize, and marks the tuples that satisfy. It tells of the levels that
// it looks at, if somebody wants to know.
func (r *run) datafly(ctx context.Context, allowed int, visit func(levels []uint8)) ([]bool, error) {
	done, n := 0, r.tuples.records()
	for {
		if visit != nil {
			visit(r.tuples.levels)
		}
		kept, err := anonymous(ctx, r.table, r.tuples, r.demands, true)
		if err != nil {
			return nil, err
		}
		satisfied := r.tuples.covered(kept)
		if satisfied > done {
			r.placed.Add(satisfied - done)
			done = satisfied
		}
		if n-satisfied <= allowed {
			r.placed.Add(n - done)
			return kept, nil
		}
		more, err := r.generalize(ctx)
		if err != nil {
			return nil, err
		}
		if !more {
			r.placed.Add(n - done)
			return kept, nil
		}
	}
}
