package recoding

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Lattice is the full-domain recoding of simple (alpha,k)-anonymity in Wong, Li,
// Fu and Wang, "(alpha,k)-anonymity: an enhanced k-anonymity model" (KDD 2006),
// which extends Incognito (LeFevre, DeWitt and Ramakrishnan, "Incognito: efficient
// full-domain k-anonymity", SIGMOD 2005).
//
// All records are generalized to the same levels, one for each attribute. The
// vectors of levels form a lattice, in which a vector above one that satisfies
// the constraints satisfies them too, and so does its projection on fewer
// attributes. The search goes bottom-up through the lattices of ever larger
// subsets of the attributes and asks only vectors no projection of which violates
// and nothing below satisfies. Counts are rolled up from those of a vector below.
// Beyond Incognito, vectors are settled together where their upper bound violates
// or their lower bound satisfies, and what loses more than the best one found so
// far, at first Datafly's, is left out.
//
// Of the vectors that satisfy, the one with the least information loss is
// published: the mean of Levels.Share over all records and attributes, a withheld
// record counting 1. Of equal ones it is that of the least sum of levels, then
// the first in lexicographic order.
//
// Options.Suppression is the share of records that may violate and be withheld.
// With constraints other than k-anonymity the violating records can then become
// more from a vector to one above, and so they can where persons stand in several
// classes. The search then rests on the k-anonymity alone and asks the rest of
// the vectors that satisfy it.
//
// It honors every constraint set. The lattice has prod(height + 1) vectors, each
// of which costs O(d * distinct tuples) where it is counted: that is the worst
// case. Subsets of a size are searched while their lattices hold in sum at most
// subsetShare of the vectors of the whole one; larger subsets cost more than they
// save. If the whole lattice holds more than maxVectors, only those of its vectors
// are searched that lie below the one at which Datafly ends and above one at which
// Datafly came by, the lowest that leaves few enough: the release is then no worse
// than Datafly's, but not always the best.
type Lattice struct{}

const (
	// maxVectors bounds the lattice that is searched.
	maxVectors = 1 << 20
	// subsetShare is the part of the vectors of the whole lattice that those of
	// the subsets of a size may have in sum.
	subsetShare = 0.1
)

// Name is "alpha-k-lattice".
func (Lattice) Name() string { return "alpha-k-lattice" }

// Accepts takes every constraint set and every kind of attribute.
func (Lattice) Accepts(attributes []anonymizer.Attribute, c privacy.ConstraintSet) error {
	return known(attributes, c)
}

// Anonymize implements Method.
func (Lattice) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	r, err := begin(ctx, t, c, o)
	if err != nil {
		return nil, err
	}
	s := &search{run: r, allowed: allowance(t, o), most: maxVectors, share: subsetShare}
	levels, err := s.best(ctx)
	if err != nil {
		return nil, err
	}
	if levels != nil {
		if r.tuples, err = r.tuples.view(ctx, upTo(len(levels)), levels, true); err != nil {
			return nil, err
		}
		kept, err := anonymous(ctx, t, r.tuples, r.demands, true)
		if err != nil {
			return nil, err
		}
		if err := r.publish(ctx, kept); err != nil {
			return nil, err
		}
	}
	if err := r.withhold(ctx); err != nil {
		return nil, err
	}
	r.placed.Add(t.Len())
	return r.release, nil
}

// best is the vector to be published, nil where none satisfies.
func (s *search) best(ctx context.Context) ([]uint8, error) {
	if s.run.tuples.len() == 0 {
		return nil, nil
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if feasible, err := s.confine(ctx); err != nil || !feasible {
		return nil, err
	}
	best, err := s.climb(ctx)
	if best == nil {
		return nil, err
	}
	return best.levels, err
}

// withheldLoss is the loss with what must be withheld, and whether this is
// allowed.
func (s *search) withheldLoss(ctx context.Context, f *frequencies, levels []uint8) (loss float64, ok bool, err error) {
	v, err := f.at(ctx, levels)
	if err != nil {
		return 0, false, err
	}
	kept, err := anonymous(ctx, s.run.table, v, s.run.demands, true)
	if err != nil {
		return 0, false, err
	}
	n := v.records()
	withheld := n - v.covered(kept)
	if withheld > s.allowed {
		return 0, false, nil
	}
	if withheld == 0 {
		return s.choice(levels).loss, true, nil
	}
	sum := float64(withheld)
	for a, level := range levels {
		shares := s.shares[a][level]
		for tuple, keep := range kept {
			if keep {
				sum += float64(v.counts[tuple]) * shares[v.nodes[a][tuple]] / float64(len(levels))
			}
		}
	}
	return sum / float64(n), true, nil
}
