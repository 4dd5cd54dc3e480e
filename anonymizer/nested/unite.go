// Package nested makes coarser releases out of finer ones: the classes of the coarser, its groups, are
// unions of the finer one's classes, and follow from what readers of the finer one see. Who pools
// both learns what the finer one tells alone. Entry point: Unite. The argument is in DESIGN.md.
package nested

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Unite returns a release whose classes are unions of those of a finer one, each of which satisfies
// the constraints. Where all records of the finer release together do not satisfy them, all are
// withheld; records that the finer release withholds are withheld. The error is the context's.
//
// The result is the same for all tables that the readers of the finer release cannot tell apart, but
// for two things that the constraints look at: who the persons of records are, where the table has
// subjects, and the sensitive values of withheld records, where a constraint compares classes with
// the whole table.
func Unite(ctx context.Context, table *anonymizer.Table, finer *anonymizer.Release, constraints privacy.ConstraintSet, options anonymizer.Options) (*anonymizer.Release, error) {
	u := newUnits(ctx, table, finer.Classes, options.Seed)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if u.len() == 0 {
		return &anonymizer.Release{Withheld: slices.Clone(finer.Withheld)}, nil
	}
	groups, err := unite(ctx, u, constraints, options)
	if err != nil {
		return nil, err
	}
	if groups == nil {
		return anonymizer.WithholdAll(table), nil
	}
	return &anonymizer.Release{Classes: groups, Withheld: slices.Clone(finer.Withheld)}, nil
}

// unite gives the records of groups of units; nil where all units together do not satisfy the
// constraints.
func unite(ctx context.Context, u *units, constraints privacy.ConstraintSet, options anonymizer.Options) ([]anonymizer.EquivalenceClass, error) {
	d := &division{
		units: u, constraints: constraints, k: max(1, constraints.K()), seed: options.Seed,
		sizeDecides: partition.SizeDecides(u.table, constraints), placed: options.Track(u.records),
	}
	all := make([]int32, u.len())
	for i := range all {
		all[i] = int32(i)
	}
	if !d.satisfied(all) {
		return nil, nil
	}
	newCutter(d).divide(ctx, all)
	groups := d.improve(ctx, d.groups)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	classes := make([]anonymizer.EquivalenceClass, len(groups))
	for i, members := range groups {
		classes[i] = u.recordsOf(members)
	}
	return classes, nil
}
