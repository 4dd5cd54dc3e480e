package people

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// classesByRoot makes classes of at least crowd times k persons by their root
// records, or one of all where there are fewer, that satisfy the constraints.
func (r *releasing) classesByRoot(ctx context.Context, crowd int) ([]anonymizer.EquivalenceClass, error) {
	classes, err := r.group(ctx, r.data.Root, min(crowd*r.k, r.data.Root.Len()))
	if err != nil {
		return nil, err
	}
	return r.unite(classes), nil
}

// group makes classes of at least size persons by some features.
func (r *releasing) group(ctx context.Context, features *anonymizer.Table, size int) ([]anonymizer.EquivalenceClass, error) {
	persons, err := anonymizer.NewTable(features.Attributes(), columnsOf(features), nil)
	if err != nil {
		return nil, err
	}
	if len(features.Attributes()) == 0 {
		return chunks(features.Len(), size), nil
	}
	k := privacy.ConstraintSet{privacy.KAnonymity{K: size}}
	if err := r.o.Method.Accepts(features.Attributes(), k); err != nil {
		return nil, fmt.Errorf("method %s %w", r.o.Method.Name(), err)
	}
	release, err := r.o.Method.Anonymize(ctx, persons, k, anonymizer.Options{Seed: r.o.Seed})
	if err != nil {
		return nil, err
	}
	if release.Levels != nil || len(release.Withheld) > 0 {
		return nil, fmt.Errorf("method %s recodes by levels or withholds records, which is not supported for several tables", r.o.Method.Name())
	}
	return release.Classes, nil
}

func columnsOf(t *anonymizer.Table) [][]float64 {
	columns := make([][]float64, len(t.Attributes()))
	for a := range columns {
		columns[a] = t.Cells(a)
	}
	return columns
}

// chunks divides n persons without known features into classes.
func chunks(n, size int) []anonymizer.EquivalenceClass {
	classes := make([]anonymizer.EquivalenceClass, max(1, n/size))
	for p := range n {
		class := min(p/size, len(classes)-1)
		classes[class] = append(classes[class], int32(p))
	}
	return classes
}

// neighborsTried bounds how far unite looks for the class to unite another with, in
// the order of the method, which leaves near classes near each other.
const neighborsTried = 16

// unite unites classes that violate the constraints with the near class that loses
// least by it, until none is left that does. All persons together satisfy them.
func (r *releasing) unite(classes []anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	if r.sizeDecides() {
		return classes
	}
	for i := 0; i < len(classes); {
		if len(classes) == 1 || r.holds(classes[i], -1) {
			i++
			continue
		}
		near := r.nearest(classes, i)
		into := min(i, near)
		classes[into] = slices.Concat(classes[i], classes[near])
		classes = slices.Delete(classes, max(i, near), max(i, near)+1)
		i = into
	}
	return classes
}

func (r *releasing) nearest(classes []anonymizer.EquivalenceClass, of int) int {
	best, least := -1, 0.0
	for j := max(0, of-neighborsTried); j < min(len(classes), of+neighborsTried+1); j++ {
		if j == of {
			continue
		}
		united := slices.Concat(classes[of], classes[j])
		loss := r.root.lossOfRows(united)*float64(len(united)) - r.root.lossOfRows(classes[j])*float64(len(classes[j]))
		if best < 0 || loss < least {
			best, least = j, loss
		}
	}
	return best
}
