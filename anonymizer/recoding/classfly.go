package recoding

import (
	"context"
	"errors"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Classfly is the recoding of Yang, Liu, Wang and Yu 2006 for one constraint,
// after which their Classfly+ is made.
//
// As Datafly, but the records of a class that satisfies leave and keep their
// levels: only the others are generalized further, by the attribute in which
// these have the most different values. It ends when fewer than
// ConstraintSet.K() records are left or when they cannot be generalized; they
// are withheld.
//
// It honors every constraint set, over classes of records alike in all
// attributes: several constraints <QI, K> are replaced by their joint one.
// Classes that leave at different times have different levels. Time O(sum of
// heights * d * n) at worst, memory O(d n).
type Classfly struct{}

// Name is "classfly".
func (Classfly) Name() string { return "classfly" }

// Accepts takes every constraint set and every kind of attribute.
func (Classfly) Accepts(attributes []anonymizer.Attribute, c privacy.ConstraintSet) error {
	return known(attributes, c)
}

// Anonymize implements Method.
func (Classfly) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	return filterOut(ctx, t, c, o, Naive)
}

// Variant is a way in which Classfly+ finds the records that are done.
type Variant int

// The variants of Classfly+.
const (
	// Naive looks at the joint constraint: all attributes with the largest K.
	Naive Variant = iota
	// Complete drops records until no constraint is violated.
	Complete
	// Partial does so for {C1}, then {C1, C2} and so on, in ascending order of K.
	Partial
)

var variantNames = [...]string{Naive: "naive", Complete: "complete", Partial: "partial"}

// ClassflyPlus is the family of Yang, Liu, Wang and Yu, "Supporting multi-
// constraint k-anonymity" (Journal of Software 17(5), 2006): Classfly for several
// constraints <QI, K> on one table that common attributes tie together. Those
// that are not tied are anonymized apart (privacy.ConstraintSet.Components).
//
// In each round the records that are left, all at the same levels, are
// candidates. Complete and Partial drop candidates whose projection on some QIi
// occurs fewer than Ki times among the candidates until none is left to drop;
// what remains is the unique maximal anonymous subset and is done. Both give the
// same release and differ in time only. The dropped records are generalized one
// level in the attribute in which they have the most different values, the first
// of equal ones. Records done earlier are not counted again, though they may
// have the same labels.
//
// Deviations from the print, which counts i up before its first use and has the
// steps (3) and (4) of the partial variant outside of the loop: the loop is over
// {C1}, {C1, C2}, ..., and (3) and (4) belong to each round. Attributes at the
// top are passed over. Instead of whole passes over the constraints, the drops
// follow the counts that they lower: O(n) for each constraint and round.
type ClassflyPlus struct{ Variant Variant }

// Name is "classfly-plus-naive", "-complete" or "-partial".
func (m ClassflyPlus) Name() string {
	if m.Variant < 0 || int(m.Variant) >= len(variantNames) {
		return "classfly-plus"
	}
	return "classfly-plus-" + variantNames[m.Variant]
}

// Accepts takes k-anonymity constraints alone, over all or some attributes.
func (m ClassflyPlus) Accepts(attributes []anonymizer.Attribute, c privacy.ConstraintSet) error {
	for _, constraint := range c {
		if _, counts := constraint.(privacy.KAnonymity); !counts {
			return errors.New("honors constraints <QI, K> alone")
		}
	}
	return known(attributes, c)
}

// Anonymize implements Method.
func (m ClassflyPlus) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	return filterOut(ctx, t, c, o, m.Variant)
}

// Reduces says that the naive variant is Classfly, that all variants are where there is one
// constraint, and that Partial gives Complete's release.
func (m ClassflyPlus) Reduces(c privacy.ConstraintSet) anonymizer.Method {
	switch {
	case m.Variant == Naive || len(c) <= 1:
		return Classfly{}
	case m.Variant == Partial:
		return ClassflyPlus{Variant: Complete}
	default:
		return nil
	}
}

// filterOut publishes what satisfies, generalizes the rest, and so on.
func filterOut(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options, v Variant) (*anonymizer.Release, error) {
	r, err := begin(ctx, t, c, o)
	if err != nil {
		return nil, err
	}
	if v == Naive {
		r.demands = r.demands.joint()
	}
	left := r.tuples.records()
	for left >= r.demands.most {
		kept, err := anonymous(ctx, t, r.tuples, r.demands, v == Partial)
		if err != nil {
			return nil, err
		}
		if err := r.publish(ctx, kept); err != nil {
			return nil, err
		}
		r.placed.Add(left - r.tuples.records())
		if left = r.tuples.records(); left < r.demands.most {
			break
		}
		more, err := r.generalize(ctx)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	r.placed.Add(left)
	if err := r.withhold(ctx); err != nil {
		return nil, err
	}
	return r.release, nil
}
