package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Risk is the probability with which published records are identified (El Emam
// and Dankar 2008, Dankar and El Emam 2010). Where the table has subjects, the
// persons of a class are counted instead of its records. Both lie between 0
// (nothing is published) and 1; lower is better.
type Risk struct {
	// Highest is that of the record at the greatest risk.
	Highest float64
	// Average is that of all published records, each counted once: the share of them that a
	// marketer, who tries to identify all, gets right.
	Average float64
}

// UsualThreshold is the highest risk that practice cites for data that are made public (EMA/90915/2016). It takes LeastK, 12.
const UsualThreshold = 0.09

// LeastK is the least k whose risk is not above a threshold above 0.
func LeastK(threshold float64) int { return int(math.Ceil(1/threshold - 1e-9)) }

// Prosecutor returns the risk from an attacker who knows that a person is in the table: 1/|E| in a
// class E. Highest is 1 divided by the size of the smallest class, Average the number of classes
// divided by that of the published records. Highest is at most 1/k.
func Prosecutor(t *anonymizer.Table, r *anonymizer.Release) Risk {
	sizes := personsIn(t, r)
	return riskOf(sizes, sizes)
}

// Journalist returns the risk from somebody who only knows that a person is in the
// population of which the table is a sample: 1/F in a class, where F is the number of
// records (or persons) of the population that fit what is published for the class, at
// least 1. A record can fit several classes; NULL fits NULL, and
// where an attribute is hidden because of it. The population has the table's
// attributes in the same order, and its cells are of the same hierarchies; the
// error is about attributes that differ in name or kind.
func Journalist(t *anonymizer.Table, r *anonymizer.Release, population *anonymizer.Table) (Risk, error) {
	attributes := t.Attributes()
	if len(population.Attributes()) != len(attributes) {
		return Risk{}, fmt.Errorf("the population has %d attributes, the table %d", len(population.Attributes()), len(attributes))
	}
	own := t.Len()
	axes, over := make([]*axis, len(attributes)), make([]int, len(attributes))
	points := make([][]int32, len(attributes))
	for a, attribute := range attributes {
		if other := population.Attributes()[a]; other.Name != attribute.Name || other.Hierarchy.Kind() != attribute.Hierarchy.Kind() {
			return Risk{}, fmt.Errorf("attribute %d of the population is not %q or of another kind", a+1, attribute.Name)
		}
		both := slices.Concat(t.Cells(a), population.Cells(a))
		axes[a], over[a] = newAxis(attribute, t.Cells(a), both, r.Levels != nil), a
		points[a] = axes[a].ranks[own:]
	}
	index := newTree(points, population.Len())
	fitting := make([]int, len(r.Classes))
	for e, box := range boxes(r, axes, over) {
		fitting[e] = max(1, countWithin(index, box, population.Subjects()))
	}
	return riskOf(personsIn(t, r), fitting), nil
}

// countWithin counts points in a box, or their different subjects.
func countWithin(index *tree, box []span, subjects []uint32) int {
	count := 0
	persons := map[uint32]bool{}
	index.within(box, func(_ int, from, to int32) {
		if subjects == nil {
			count += int(to - from)
			return
		}
		for _, p := range index.order[from:to] {
			persons[subjects[p]] = true
		}
	})
	return count + len(persons)
}

// personsIn is the size of each class in persons.
func personsIn(t *anonymizer.Table, r *anonymizer.Release) []int {
	sizes := make([]int, len(r.Classes))
	subjects := t.Subjects()
	var persons []uint32
	for e, class := range r.Classes {
		sizes[e] = len(class)
		if subjects == nil {
			continue
		}
		persons = persons[:0]
		for _, i := range class {
			persons = append(persons, subjects[i])
		}
		slices.Sort(persons)
		sizes[e] = len(slices.Compact(persons))
	}
	return sizes
}

// riskOf returns the risk in classes of the sizes given, each of whose persons is one
// of so many candidates.
func riskOf(sizes, candidates []int) Risk {
	var risk Risk
	published := 0
	for e, size := range sizes {
		chance := 1 / float64(candidates[e])
		risk.Highest = max(risk.Highest, chance)
		risk.Average += chance * float64(size)
		published += size
	}
	risk.Average /= float64(max(1, published))
	return risk
}
