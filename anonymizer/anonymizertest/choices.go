package anonymizertest

import (
	"cmp"
	"maps"
	"slices"
)

// holders are the persons who have each value, by value.
func (g Group) holders(attribute int) []map[uint32]bool {
	by := map[uint32]map[uint32]bool{}
	for i, code := range g.Sensitive[attribute] {
		person := uint32(i)
		if g.Subjects != nil {
			person = g.Subjects[i]
		}
		if by[code] == nil {
			by[code] = map[uint32]bool{}
		}
		by[code][person] = true
	}
	holders := slices.Collect(maps.Values(by))
	slices.SortFunc(holders, func(a, b map[uint32]bool) int { return cmp.Compare(len(b), len(a)) })
	return holders
}

// overlaps says whether somebody has two values.
func (g Group) overlaps(attribute int) bool {
	sum := 0
	for _, count := range g.counts(attribute) {
		sum += count
	}
	return sum > g.persons()
}

// fewest is the least number of values of which everybody has one, found by trying all
// sets of so many values: from one value on, until one set will do.
func (g Group) fewest(attribute int) int {
	holders := g.holders(attribute)
	if !g.overlaps(attribute) {
		return len(holders)
	}
	for size := 1; ; size++ {
		if g.someCover(holders, size, map[uint32]bool{}) {
			return size
		}
	}
}

func (g Group) someCover(holders []map[uint32]bool, size int, covered map[uint32]bool) bool {
	if len(covered) == g.persons() {
		return true
	}
	if size == 0 || len(holders) == 0 || len(covered)+size*len(holders[0]) < g.persons() {
		return false
	}
	for i, persons := range holders {
		more := maps.Clone(covered)
		maps.Copy(more, persons)
		if g.someCover(holders[i+1:], size-1, more) {
			return true
		}
	}
	return false
}

// everyChoice reports whether the counts of every choice of one value for each person
// hold, where counts hold if such hold that majorize them. It is enough to ask those of
// choices by an order of the values, in which each person has the first of hers, and
// whose counts descend: a person in a smaller place than she could be makes the counts
// less uneven.
func (g Group) everyChoice(attribute int, holds func(counts []int) bool) bool {
	holders := g.holders(attribute)
	if !g.overlaps(attribute) {
		counts := make([]int, len(holders))
		for i, persons := range holders {
			counts[i] = len(persons)
		}
		return holds(counts)
	}
	return g.everyOrder(holders, map[uint32]bool{}, nil, holds)
}

func (g Group) everyOrder(holders []map[uint32]bool, taken map[uint32]bool, counts []int, holds func([]int) bool) bool {
	if len(taken) == g.persons() {
		sorted := slices.Clone(counts)
		slices.SortFunc(sorted, func(a, b int) int { return cmp.Compare(b, a) })
		return holds(sorted)
	}
	least := g.persons()
	if len(counts) > 0 {
		least = counts[len(counts)-1]
	}
	// The last place is the smallest so far: of all orders those are enough that fill
	// places from the largest to the smallest.
	for i, persons := range holders {
		count := without(persons, taken)
		if count == 0 || count > least {
			continue
		}
		if holds(bestCase(counts, count, g.persons()-len(taken))) {
			continue // even if all that are left were as many as this
		}
		more := maps.Clone(taken)
		maps.Copy(more, persons)
		rest := slices.Delete(slices.Clone(holders), i, i+1)
		if !g.everyOrder(rest, more, append(slices.Clone(counts), count), holds) {
			return false
		}
	}
	return true
}

func without(persons, taken map[uint32]bool) int {
	count := 0
	for p := range persons {
		if !taken[p] {
			count++
		}
	}
	return count
}

// bestCase majorizes all counts that begin like these and go on with places of so many.
func bestCase(counts []int, each, left int) []int {
	all := slices.Clone(counts)
	for left > 0 {
		n := min(each, left)
		all, left = append(all, n), left-n
	}
	return all
}
