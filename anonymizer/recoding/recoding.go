// Package recoding holds the methods that publish nodes of value generalization
// hierarchies (hierarchy.LevelsOf): Datafly, Classfly, the three of Classfly+ and
// simple (alpha,k)-anonymity by a lattice search. They give Release.Levels.
//
// What is counted is what a reader sees: records with equal nodes at equal
// levels have equal labels. Records that different levels happen to give equal
// labels, as a leaf of a taxonomy that stands directly below its root keeps its
// label for several levels, are counted apart and lie in different classes; a
// reader, who cannot tell them apart, counts more than was demanded.
package recoding

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// run is the state of a method: the tuples not yet done.
type run struct {
	table   *anonymizer.Table
	tuples  *tuples
	demands demands
	placed  *anonymizer.Tracker
	release *anonymizer.Release
}

// begin reads the table. There are no tuples where the constraints are
// infeasible, and all is withheld.
func begin(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*run, error) {
	r := &run{
		table: t, demands: newDemands(c, len(t.Attributes())), placed: o.Track(t.Len()),
		release: &anonymizer.Release{Levels: [][]uint8{}},
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Feasible(t.Population().Summary) != nil {
		r.tuples = &tuples{}
		for i := range t.Len() {
			r.release.Withheld = append(r.release.Withheld, int32(i))
		}
		r.placed.Add(t.Len())
		return r, nil
	}
	var err error
	r.tuples, err = newTuples(ctx, t)
	return r, err
}

// generalize raises the attribute with the most different values by a level for
// all tuples that are left; false where nothing would come of it.
func (r *run) generalize(ctx context.Context) (bool, error) {
	attribute := r.tuples.widest()
	if attribute < 0 || r.tuples.len() < 2 {
		return false, nil
	}
	return true, r.tuples.raise(ctx, attribute)
}

// publish makes classes of the marked tuples, at the present levels, and removes
// them.
func (r *run) publish(ctx context.Context, kept []bool) error {
	records := make([]int32, 0, r.tuples.covered(kept))
	if cap(records) == 0 {
		return nil
	}
	levels := append([]uint8{}, r.tuples.levels...)
	for tuple, keep := range kept {
		if !keep {
			continue
		}
		from := len(records)
		var err error
		if records, err = r.tuples.collect(ctx, int32(tuple), records); err != nil {
			return err
		}
		r.release.Classes = append(r.release.Classes, records[from:len(records):len(records)])
		r.release.Levels = append(r.release.Levels, levels)
	}
	r.tuples.remove(kept)
	return nil
}

// withhold gives up the tuples that are left.
func (r *run) withhold(ctx context.Context) (err error) {
	for tuple := range r.tuples.counts {
		if r.release.Withheld, err = r.tuples.collect(ctx, int32(tuple), r.release.Withheld); err != nil {
			return err
		}
	}
	return nil
}

// collect appends the records of a tuple.
func (t *tuples) collect(ctx context.Context, tuple int32, records []int32) ([]int32, error) {
	for r := t.first[tuple]; r >= 0; r = t.next[r] {
		if len(records)%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		records = append(records, r)
	}
	return records, nil
}

// covered is the number of records of the marked tuples.
func (t *tuples) covered(marked []bool) int {
	sum := 0
	for tuple, mark := range marked {
		if mark {
			sum += int(t.counts[tuple])
		}
	}
	return sum
}
