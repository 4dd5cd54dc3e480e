package agglomerative

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// axis is an attribute of all records: cells or positions.
type axis struct {
	codes  []int32   // of each record: the rank of its value
	values []float64 // of each rank, ascending
	counts []int     // records of each rank
	// offScale is the code that records off the scale share, -1 where there are
	// none. It is the last one and has no entry in values.
	offScale int32
}

func newAxis(x ranking.Ranking) axis {
	c := axis{codes: x.Ranks, values: x.Values, counts: make([]int, len(x.Values), len(x.Values)+1), offScale: -1}
	if x.OffScale {
		c.offScale = int32(len(x.Values))
		c.counts = append(c.counts, 0)
	}
	for _, code := range c.codes {
		c.counts[code]++
	}
	return c
}

// cellsOf are the cells of an attribute, compared for equality only.
func cellsOf(t *anonymizer.Table, attribute int) axis {
	return newAxis(ranking.Of(context.Background(), t.Cells(attribute)))
}

// positionsOf are the positions of an attribute, scaled to [0, 1] over the table.
func positionsOf(t *anonymizer.Table, attribute int) axis {
	return scaled(ranking.Positions(context.Background(), t, attribute))
}

func scaled(positions []float64) axis {
	x := ranking.Of(context.Background(), positions)
	c := newAxis(x)
	c.values = x.Scaled()
	return c
}
