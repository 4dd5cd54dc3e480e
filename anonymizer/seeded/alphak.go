// Package seeded anonymizes by growing clusters around seed records.
package seeded

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// AlphaK is the (alpha,k)-anonymous clustering of Yang, Yang and Zhang,
// "Achieving (alpha,k)-anonymity via clustering in data publishing" (Acta
// Electronica Sinica 39(8), 2011): every class has at least k records, and in
// none is a bounded sensitive value more frequent than alpha.
//
// A cluster starts from a seed, the record farthest from the clusters there are
// (the first is random), and takes k-1 further records, each time the one nearest
// to the centroid, which moves with every record. This ends when fewer than k
// records remain.
//
//   - One value s ("alpha-k-single", algorithm 1): afterwards the clusters in
//     which s exceeds alpha, the worst first, exchange the offending records that
//     are farthest from the centroid: each goes to the nearest cluster that can
//     take it, against the record there without s that is nearest to the giver.
//   - Several or all values ("alpha-k-multi", algorithm 2): a candidate whose
//     value already has its floor(alpha*k) places is passed over.
//
// Records that remain join the nearest cluster that stays within alpha.
//
// Dissimilarity, in [0, 1], is the mean over the attributes of: the difference by
// the range, for numbers and dates and for the ranks of ordered values; for other
// values the height of their lowest common ancestor by that of the hierarchy,
// which is 0 or 1 for values without a taxonomy; 0 between two values off the
// scale and 1 between such a one and another. The centroid of a cluster is its
// mean on an axis with a scale and its frequencies on the others: there a record
// is as far away as it is from the members on average.
//
// Deviations:
//
//   - The paper compares all pairs of records. Here the table is divided into
//     blocks of near records (partition.Blocks), each is clustered for itself, and
//     what a block cannot finish is looked for in the blocks around it. Blocks
//     in which a value of algorithm 2 exceeds alpha are united with their
//     neighbors first, and in large tables the records of the union dealt to as
//     many blocks, in each of which the values are as frequent as in the union.
//   - Candidates for a cluster are the 256+4k records nearest to its seed, and
//     further ones only where none of these may join.
//   - Algorithm 2 leaves many records that no cluster can take when frequent
//     values are passed over too long. Here a cluster keeps as many of its places
//     for a value as the clusters after it could not hold, so that where the
//     block allows it fewer than k records remain.
//   - Where the paper's steps end with constraints unsatisfied (no cluster can
//     take a record, an exchange finds no partner, a class has enough records but
//     too few subjects), a class is united with near ones until all satisfy. The
//     release is withheld only where the table as a whole violates them.
//
// A class of k records cannot hold a bounded value where alpha*k < 1; a larger one
// can: with alpha = 0.2 and k = 3 it takes 5 records. If algorithm 2 bounds every
// value, clusters have the least size at which the table's values can fill them
// within alpha, at least 1/alpha. If it bounds some, the cluster of a seed with
// such a value grows to 1/alpha, rounded up, and the others keep to k and pass
// over these values. Algorithm 1 unites classes with the value until they are
// large enough.
//
// Time O(n (B/k + k) d) for n records, d attributes and blocks of B to 2B-1
// records, B = 8192 or 16k if that is more; memory O(n d). For 10^4, 10^5 and 10^6
// records of 8 attributes, 14 sensitive values, k = 20 and alpha = 0.2 it took 0.13,
// 1.2 and 12 s of processor time for one value, 0.10, 0.97 and 11.8 s for all, and
// some 200 bytes a record besides the table (workload.AdultLike).
type AlphaK struct {
	// Multi chooses algorithm 2.
	Multi bool
}

// Name is "alpha-k-single" or "alpha-k-multi".
func (m AlphaK) Name() string {
	if m.Multi {
		return "alpha-k-multi"
	}
	return "alpha-k-single"
}

// Accepts takes k-anonymity and at most one privacy.AlphaBound, which has
// exactly one value for algorithm 1.
func (m AlphaK) Accepts(_ []anonymizer.Attribute, c privacy.ConstraintSet) error {
	bounds := 0
	for _, constraint := range c {
		switch constraint := constraint.(type) {
		case privacy.KAnonymity:
		case privacy.AlphaBound:
			if !m.Multi && len(constraint.Values) != 1 {
				return fmt.Errorf("bounds the frequency of exactly one sensitive value, not %v; alpha-k-multi bounds several", constraint)
			}
			bounds++
		default:
			return fmt.Errorf("honors k-anonymity and a bound (alpha) on sensitive values, not %v", constraint)
		}
	}
	if bounds > 1 {
		return fmt.Errorf("honors a bound (alpha) on one sensitive attribute at a time, not %d", bounds)
	}
	return nil
}

// Reduces says that both algorithms are the same where no sensitive value is bounded.
func (m AlphaK) Reduces(c privacy.ConstraintSet) anonymizer.Method {
	for _, constraint := range c {
		if _, bounds := constraint.(privacy.AlphaBound); bounds {
			return nil
		}
	}
	if !m.Multi {
		return nil
	}
	return AlphaK{}
}

// Anonymize implements Method.
func (m AlphaK) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Feasible(t.Population().Summary) != nil {
		return anonymizer.WithholdAll(t), nil
	}
	return newPlan(t, c, m.Multi).release(ctx, o)
}
