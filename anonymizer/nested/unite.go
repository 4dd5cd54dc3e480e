// Package nested makes coarser releases out of finer ones: the classes of the coarser release, its
// groups, are unions of the finer classes, and follow from what readers of the finer release see.
// Pooling both reveals only what the finer one does. The entry point is Unite. DESIGN.md has the
// argument.
package nested

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Unite returns a release whose classes are unions of those of a finer one, each of which satisfies
// the constraints. If all records of the finer release together do not satisfy them, all are
// withheld; records that the finer release withholds stay withheld. The error is the context's.
//
// The result is the same for all tables that the readers of the finer release cannot tell apart,
// except for two things that the constraints look at: which person each record belongs to, if the
// table has subjects, and the sensitive values of withheld records, if a constraint compares
// classes with the whole table.
func Unite(ctx context.Context, table *anonymizer.Table, finer *anonymizer.Release, constraints privacy.ConstraintSet, options anonymizer.Options) (*anonymizer.Release, error) {
	return uniteCounted(ctx, table, finer, nil, constraints, options)
}

// uniteCounted is Unite of classes with given counts for constraints, in their order; nil if the
// table has all values.
func uniteCounted(ctx context.Context, table *anonymizer.Table, finer *anonymizer.Release, counts []privacy.Summary, constraints privacy.ConstraintSet, options anonymizer.Options) (*anonymizer.Release, error) {
	u := newUnits(ctx, table, finer.Classes, func(a int) []hierarchy.Generalization { return labels(table, a, finer.Classes) }, options.Seed).count(counts)
	groups, err := u.unite(ctx, constraints, options)
	if err != nil {
		return nil, err
	}
	if groups == nil && u.len() > 0 {
		return anonymizer.WithholdAll(table), nil
	}
	release := &anonymizer.Release{Withheld: slices.Clone(finer.Withheld)}
	for _, members := range groups {
		release.Classes = append(release.Classes, u.recordsOf(members))
	}
	return release, nil
}

// unite divides all units into groups; none where all together do not satisfy the constraints.
func (u *units) unite(ctx context.Context, constraints privacy.ConstraintSet, options anonymizer.Options) ([][]int32, error) {
	if err := ctx.Err(); err != nil || u.len() == 0 {
		return nil, err
	}
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
	if other := d.improve(ctx, d.gathered(ctx, all)); other != nil && d.lossOfAll(other) < d.lossOfAll(groups) {
		groups = other
	}
	return groups, ctx.Err()
}

// Class is a class of a finer release as its readers see it.
type Class struct {
	Labels    []hierarchy.Generalization // one for each attribute
	Sensitive [][]uint32                 // of each row, one for each sensitive attribute
	Persons   []uint32                   // whose each row is; nil where each is another one's
	// Counts are what counts for constraints instead of the rows, if any class has some: values of
	// persons who can have several of an attribute, or none.
	Counts privacy.Summary
}

// UniteClasses is Unite of classes of which no more is known than what readers see. It lists the places of the
// classes of each group; none where all together do not satisfy the constraints. The error is the context's, or
// says that the classes differ in shape.
func UniteClasses(ctx context.Context, attributes []anonymizer.Attribute, classes []Class, constraints privacy.ConstraintSet, options anonymizer.Options) ([][]int, error) {
	if len(classes) == 0 {
		return nil, nil
	}
	table, rows, err := tableOf(attributes, classes)
	if err != nil {
		return nil, err
	}
	u := newUnits(ctx, table, rows, func(a int) []hierarchy.Generalization {
		shown := make([]hierarchy.Generalization, len(classes))
		for i := range classes {
			shown[i] = classes[i].Labels[a]
		}
		return shown
	}, options.Seed).count(countsOf(classes))
	found, err := u.unite(ctx, constraints, options)
	if err != nil {
		return nil, err
	}
	groups := make([][]int, len(found))
	for i, members := range found {
		for _, m := range members {
			groups[i] = append(groups[i], int(u.order[m]))
		}
		slices.Sort(groups[i])
	}
	return groups, nil
}

// countsOf are those of the classes; nil without any.
func countsOf(classes []Class) (counts []privacy.Summary) {
	for _, class := range classes {
		if class.Counts.Records > 0 {
			counts = append(counts, class.Counts)
		}
	}
	return counts
}

// tableOf is a table of the rows of classes, with the rows of each. Its cells are empty: labels stand for them.
func tableOf(attributes []anonymizer.Attribute, classes []Class) (*anonymizer.Table, []anonymizer.EquivalenceClass, error) {
	rows, all, persons := make([]anonymizer.EquivalenceClass, len(classes)), 0, []uint32(nil)
	var sensitive [][]uint32
	for i, class := range classes {
		for r, values := range class.Sensitive {
			if sensitive == nil {
				sensitive = make([][]uint32, len(values))
			}
			for a, code := range values {
				sensitive[a] = append(sensitive[a], code)
			}
			if class.Persons != nil {
				persons = append(persons, class.Persons[r])
			}
			rows[i] = append(rows[i], int32(all))
			all++
		}
	}
	cells := make([][]hierarchy.Cell, len(attributes))
	for a := range cells {
		cells[a] = make([]hierarchy.Cell, all)
	}
	table, err := anonymizer.NewTable(attributes, cells, sensitive)
	if err == nil && persons != nil {
		table, err = table.WithSubjects(persons)
	}
	return table, rows, err
}
