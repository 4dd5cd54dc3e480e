package partition

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
)

// Blocks divides all records of the table into blocks of size to 2*size-1
// records which lie near to each other, for methods that are quadratic inside a
// block. The cuts are those of RoundedPartition, whose sizes they have as well
// (k = size). Blocks come in the order of the tree of cuts, so neighbors in the
// slice are near to each other.
//
// A table of fewer than 2*size records is one block, an empty one has none; a
// size below 1 counts as 1. The same table, size and seed give the same blocks.
// Where ctx ends the result is nil; ctx.Err tells.
func Blocks(ctx context.Context, t *anonymizer.Table, size int, seed uint64) []anonymizer.EquivalenceClass {
	if t.Len() == 0 {
		return nil
	}
	p := newPartitioning(ctx, t, anonymizer.Options{Seed: seed})
	p.round(ctx, max(1, size))
	if ctx.Err() != nil {
		return nil
	}
	return p.classes(p.segments())
}
