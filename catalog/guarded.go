package catalog

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// withUpdates fills in what the policy leaves to defaults, and ties a guarded
// table into one part: a row of one part that vanished would show which row of the
// others was its person's.
func withUpdates(policy TablePolicy) TablePolicy {
	if policy.Updates.Mode != Guarded {
		return policy
	}
	if policy.Updates.Crowd == 0 {
		policy.Updates.Crowd = DefaultCrowd
	}
	k := 0
	for _, c := range policy.Constraints {
		if c.Model != privacy.K {
			continue
		}
		if policy.overAll(c) {
			return policy
		}
		k = max(k, c.K)
	}
	if k > 0 {
		policy.Constraints = append(slices.Clone(policy.Constraints), privacy.Spec{Model: privacy.K, K: k})
	}
	return policy
}

// overAll reports whether a constraint speaks of every quasi-identifying column.
func (t TablePolicy) overAll(c privacy.Spec) bool {
	return len(c.Over) == 0 || !slices.ContainsFunc(t.ByRole(QuasiIdentifying), func(column ColumnPolicy) bool {
		return !slices.Contains(c.Over, column.Name)
	})
}

// Relative reports whether a constraint of the model compares a class with the
// whole table, so that a class that never changes may come to violate it; see
// privacy.ConstraintSet.Relative.
func Relative(model privacy.Model) bool {
	switch model {
	case privacy.K, privacy.DistinctL, privacy.EntropyL, privacy.RecursiveCL, privacy.AlphaK:
		return false
	default:
		return true
	}
}

// checkUpdates checks that the mode of updates uses the settings, and that the classes of a
// guarded table can satisfy its constraints without changing.
func (b *builder) checkUpdates() {
	policy := b.publication.Policy
	u := policy.Updates
	switch {
	case u.Mode == 0:
		b.problem("", "does not say when changes become visible", "choose guarded, or immediate")
	case u.Mode != Immediate && u.Mode != Guarded:
		b.problem("", fmt.Sprintf("%v is no way of updating", u.Mode), "choose immediate or guarded")
	case u.Crowd < 0 || u.Batch < 0 || u.Within < 0 || u.Deadline < 0 || u.Rows < 0 || u.RowsWithin < 0:
		b.problem("", "a number or a time of its updates is negative", "correct it, or leave it out")
	case u.Deadline > 0 && u.Deadline < u.Within:
		b.problem("", fmt.Sprintf("its records are withheld for good after %v, before a small batch would be published, after %v", u.Deadline, u.Within),
			"choose a deadline that is not before within")
	}
	if policy.Reanonymize < 0 {
		b.problem("", "the share of reanonymize is negative", "correct it, or leave it out")
	}
	if u.Mode != Guarded {
		return
	}
	if policy.Reanonymize > 0 {
		b.problem("", "has guarded updates, so its classes cannot all be made anew: whoever compares the releases would learn more",
			"remove reanonymize, or choose updates: immediate")
	}
	if policy.Suppression > 0 {
		b.problem("", "has guarded updates, which publish all records of a batch or none: nothing can be set aside", "remove suppression")
	}
	for _, c := range policy.allConstraints() {
		if Relative(c.Model) {
			b.problem(c.Of, fmt.Sprintf("the constraint %v compares classes with the whole table, which moves; the classes of guarded updates cannot", c),
				"use entropy_l, recursive_l or alpha instead, or choose updates: immediate")
		}
	}
}

// publishMembership adds the columns by which readers of a guarded table distinguish its classes
// and correct for rows whose records are gone. Tables that are released together are joined by their
// keys: a class would be a column that all of them have.
func (b *builder) publishMembership() {
	if b.publication.Policy.Updates.Mode != Guarded {
		return
	}
	if !b.member {
		b.publication.Columns = append(b.publication.Columns, PublishedColumn{Name: ClassColumn(0), Type: "bigint", Part: ClassNumber, Attribute: -1})
	}
	b.publication.Columns = append(b.publication.Columns, PublishedColumn{Name: WeightColumn, Type: "real", Part: Weight, Attribute: -1})
}
