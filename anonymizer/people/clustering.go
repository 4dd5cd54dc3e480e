package people

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// clustering divides a block of persons into classes of k to 2k-1 whose trees lose
// little when they are aligned: it grows one class after the other, each from the
// person with the most rows that is left, and then exchanges persons between classes
// as long as that loses less.
type clustering struct {
	*trees
	left    []int32
	members [][]int32
	losses  []float64
}

func newClustering(t *trees, persons []int32) *clustering {
	c := &clustering{trees: t, left: slices.Clone(persons)}
	rows := make(map[int32]int, len(persons))
	for _, p := range persons {
		for _, table := range t.roots() {
			rows[p] += len(t.tables[table].below.of(p))
		}
	}
	slices.SortStableFunc(c.left, func(x, y int32) int { return rows[y] - rows[x] })
	return c
}

// classes divides the block. The method that made it leaves near persons near each
// other, but a block of one class is left as it is.
func (c *clustering) classes() []anonymizer.EquivalenceClass {
	for len(c.left) >= 2*c.k {
		c.grow()
	}
	c.members, c.losses = append(c.members, c.left), append(c.losses, c.loss(c.left))
	for range sweeps {
		if !c.improve() {
			break
		}
	}
	classes := make([]anonymizer.EquivalenceClass, len(c.members))
	for i, members := range c.members {
		classes[i] = members
	}
	return classes
}

// grow makes a class of k of the remaining persons.
func (c *clustering) grow() {
	class := []int32{c.left[0]}
	c.left = c.left[1:]
	loss := 0.0
	for len(class) < c.k {
		best, least := -1, math.Inf(1)
		for i, p := range c.left {
			if l := c.loss(append(class, p)); l < least {
				best, least = i, l
			}
		}
		class, loss = append(class, c.left[best]), least
		c.left = slices.Delete(c.left, best, best+1)
	}
	c.members, c.losses = append(c.members, class), append(c.losses, loss)
}

// sweeps bounds how often all pairs of classes are looked at.
const sweeps = 3

// improve exchanges persons between all pairs of classes, and reports whether it
// changed one.
func (c *clustering) improve() bool {
	changed := false
	for i := range c.members {
		for j := range i {
			for c.exchange(i, j) {
				changed = true
			}
		}
	}
	return changed
}

// exchange makes the best exchange of two persons, or the best move of one, between
// two classes, if it lowers their loss.
func (c *clustering) exchange(i, j int) bool {
	before := c.losses[i] + c.losses[j]
	const enough = 1e-9 // of what rounding may pretend
	for x := range c.members[i] {
		for y := range c.members[j] {
			c.members[i][x], c.members[j][y] = c.members[j][y], c.members[i][x]
			first := c.loss(c.members[i])
			if first < before-enough {
				if second := c.loss(c.members[j]); first+second < before-enough {
					c.losses[i], c.losses[j] = first, second
					return true
				}
			}
			c.members[i][x], c.members[j][y] = c.members[j][y], c.members[i][x]
		}
	}
	return c.move(i, j, before-enough) || c.move(j, i, before-enough)
}

// move gives a person of one class with more than k to another with less than 2k-1, if
// both then lose less than before.
func (c *clustering) move(from, to int, before float64) bool {
	if len(c.members[from]) <= c.k || len(c.members[to]) >= 2*c.k-1 {
		return false
	}
	for x, p := range c.members[from] {
		rest := slices.Delete(slices.Clone(c.members[from]), x, x+1)
		more := append(slices.Clone(c.members[to]), p)
		if first, second := c.loss(rest), c.loss(more); first+second < before {
			c.members[from], c.members[to] = rest, more
			c.losses[from], c.losses[to] = first, second
			return true
		}
	}
	return false
}
