package partition_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestBlocks: all records, sizes within the bounds, one block of a small table.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ records, size, least, most, blocks int }{
		{0, 10, 0, 0, 0},
		{1, 10, 1, 1, 1},
		{19, 10, 19, 19, 1},
		{20, 10, 10, 10, 2},
		{5003, 100, 100, 101, 50},
		{5003, 2000, 2501, 2502, 2},
		{7, 0, 1, 1, 7},
	} {
		blocks := partition.Blocks(context.Background(), workload.AdultLike(1, row.records), row.size, 1)
		if len(blocks) != row.blocks {
			t.Errorf("%+v: %d blocks", row, len(blocks))
		}
		var all []int32
		for _, b := range blocks {
			if len(b) < row.least || len(b) > row.most {
				t.Errorf("%+v: block of %d records", row, len(b))
			}
			all = append(all, b...)
		}
		slices.Sort(all)
		for i, r := range all {
			if int(r) != i {
				t.Fatalf("%+v: record %d is missing or stands in two blocks", row, i)
			}
		}
		if len(all) != row.records {
			t.Errorf("%+v: %d records", row, len(all))
		}
	}
}

// TestBlocksAreNear: joining neighbors in the slice loses less than joining blocks
// that are apart.
func TestBlocksAreNear(t *testing.T) {
	t.Parallel()
	table := workload.AdultLike(2, 20_000)
	blocks := partition.Blocks(context.Background(), table, 40, 1)
	joined := func(apart int) float64 {
		r := &anonymizer.Release{}
		for i := 0; i+1 < len(blocks); i += 2 {
			r.Classes = append(r.Classes, slices.Concat(blocks[i], blocks[(i+apart)%len(blocks)]))
		}
		return metric.GCP(table, r)
	}
	if near, far := joined(1), joined(len(blocks)/2|1); near > 0.7*far {
		t.Errorf("information loss %v with neighbors, %v with blocks apart", near, far)
	}
}
