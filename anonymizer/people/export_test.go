package people

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Scramble gives the values of some rows of a table, of each attribute, to one another.
func (m *Maintained) Scramble(table int, rows []incremental.RecordID, random *rand.Rand) {
	t := m.relation(table)
	for a := range t.attributes {
		random.Shuffle(len(rows), func(i, j int) {
			x, y := t.cells.Row(t.find(rows[i])), t.cells.Row(t.find(rows[j]))
			x[a], y[a] = y[a], x[a]
		})
	}
}

// Exchange gives all rows of two persons, but the root rows, to each other.
func (m *Maintained) Exchange(one, other incremental.RecordID) {
	x, y := m.root.find(one), m.root.find(other)
	for _, table := range m.root.children {
		own, others := m.below(table, x), m.below(table, y)
		for _, row := range slices.Concat(own, others) {
			m.unlink(table, row)
		}
		for _, row := range own {
			m.hang(table, row, y)
		}
		for _, row := range others {
			m.hang(table, row, x)
		}
	}
}

// PublishBeside has a coarser release that is of no rows follow as well.
// It is told what is published as it is, or in disguise.
func (g *Guarded) PublishBeside(ctx context.Context, now time.Time, beside *GuardedCoarser, disguised func(*GuardedChanges) *GuardedChanges) (*GuardedChanges, error) {
	changes, err := g.publish(ctx, now)
	if err != nil {
		return nil, err
	}
	beside.numbers.nextCell = g.shown.nextCell
	told := changes
	if disguised != nil {
		told = disguised(changes)
	}
	if err := beside.settle(ctx, told, slices.Clone(g.moves)); err != nil {
		return nil, err
	}
	return changes, g.follow(ctx, changes)
}

// RunsOf unites cells of one attribute, each of its owners, one row each.
func RunsOf(attribute anonymizer.Attribute, labels []hierarchy.Generalization, owners [][]uint32, k int) [][]int {
	cells := shownCells{}
	for i, label := range labels {
		cells.add([]hierarchy.Generalization{label}, len(owners[i]), owners[i])
	}
	return runsOf([]anonymizer.Attribute{attribute}, cells, k)
}
