package people

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

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

// PublishBeside has a coarser release that is of no rows follow as well.
func (g *Guarded) PublishBeside(ctx context.Context, now time.Time, beside *GuardedCoarser) (*GuardedChanges, error) {
	changes, err := g.publish(ctx, now)
	if err != nil {
		return nil, err
	}
	beside.numbers.nextCell = g.shown.nextCell
	if err := beside.settle(ctx, changes, slices.Clone(g.moves)); err != nil {
		return nil, err
	}
	return changes, g.follow(ctx, changes)
}
