package hilbert

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// indexed is a record with the first word of its key, which decides most
// comparisons without a look at the others.
type indexed struct {
	first  uint64
	record int32
}

// order lays the records along the Hilbert curve. The records of one cell are
// alike and come in an order that the seed decides.
func order(ctx context.Context, axes []axis, records int, seed uint64) ([]int32, error) {
	words := keyWords(len(axes), gridBits(axes))
	keys, err := curveKeys(ctx, axes, records, words)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	line := make([]indexed, records)
	for i := range line {
		line[i] = indexed{keys[i*words], int32(i)}
	}
	random.Shuffle(records, func(i, j int) { line[i], line[j] = line[j], line[i] })
	ranking.Sort(ctx, line, func(a, b indexed) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		i, j := int(a.record)*words, int(b.record)*words
		return slices.Compare(keys[i+1:i+words], keys[j+1:j+words])
	})
	ordered := make([]int32, records)
	for i, r := range line {
		ordered[i] = r.record
	}
	return ordered, ctx.Err()
}

// checkEvery is how many records a loop handles between two looks at the context.
const checkEvery = 1 << 14

// curveKeys computes the keys of all records, one after the other.
func curveKeys(ctx context.Context, axes []axis, records, words int) ([]uint64, error) {
	bits := gridBits(axes)
	coordinates := make([][]uint32, len(axes))
	for a, x := range axes {
		coordinates[a] = x.coordinates(bits)
	}
	keys := make([]uint64, records*words)
	share := max(checkEvery, records/runtime.GOMAXPROCS(0)+1)
	var shares sync.WaitGroup
	for from := 0; from < records; from += share {
		shares.Go(func() {
			cell := make([]uint32, len(axes))
			for i := from; i < min(from+share, records); i++ {
				if i%checkEvery == 0 && ctx.Err() != nil {
					return
				}
				for a := range axes {
					cell[a] = coordinates[a][axes[a].ranks[i]]
				}
				putKey(keys[i*words:(i+1)*words], cell, bits)
			}
		})
	}
	shares.Wait()
	return keys, ctx.Err()
}
