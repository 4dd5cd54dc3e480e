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
	d := &division{
		units: u, constraints: constraints, k: max(1, constraints.K()), seed: options.Seed,
		sizeDecides: partition.SizeDecides(table, constraints), placed: options.Track(u.records),
	}
	all := make([]int32, u.len())
	for i := range all {
		all[i] = int32(i)
	}
	if !d.satisfied(all) {
		return anonymizer.WithholdAll(table), nil
	}
	newCutter(d).divide(ctx, all)
	groups := d.improve(ctx, d.groups)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	release := &anonymizer.Release{Withheld: slices.Clone(finer.Withheld)}
	for _, members := range groups {
		release.Classes = append(release.Classes, u.recordsOf(members))
	}
	return release, nil
}
