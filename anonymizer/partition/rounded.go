package partition

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// RoundedPartition is the local recoding of Wu, Tang, Ni and Sun, "Algorithm
// for k-anonymity based on rounded partition function" (Journal of Software
// 23(8), 2012).
//
// A temporary class of alpha*k + beta records, 0 <= beta < k and alpha >= 2, is
// cut along one attribute into
//
//	floor(alpha/2)*k + floor(beta/2)  and  ceil(alpha/2)*k + ceil(beta/2)
//
// records; those on the cutting line fill up to the exact sizes. For n records,
// n >= k = ConstraintSet.K(), and constraints that only bound the class size:
// exactly floor(n/k) classes, each of k to k+ceil(beta/2^floor(log2 alpha))
// records; k or k+1 for n >= 2k^2, and k alone where k divides n as well.
//
// The paper leaves the attribute and the side that gets more open. Here every
// attribute and both sides are tried for each cut and the least information
// loss is taken; records on the line are ordered by the other attributes.
// Classes that violate further constraints are united with their neighbors in
// the tree of cuts, the lowest cut first. Time O(d^2 n log(n/k)) for d
// attributes, memory O(d n).
type RoundedPartition struct{}

// Name is "rounded-partition".
func (RoundedPartition) Name() string { return "rounded-partition" }

// Accepts takes every constraint set and every kind of attribute.
func (RoundedPartition) Accepts([]anonymizer.Attribute, privacy.ConstraintSet) error { return nil }

// Anonymize implements Method.
func (RoundedPartition) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := newPartitioning(t, c.K(), o)
	p.divide(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.release(t, c), nil
}

// roundedSizes gives the sizes of the two parts of a class of n >= 2k records;
// the first is not greater than the second.
func roundedSizes(n, k int) (lesser, greater int) {
	alpha, beta := n/k, n%k
	lesser = alpha/2*k + beta/2
	return lesser, n - lesser
}
