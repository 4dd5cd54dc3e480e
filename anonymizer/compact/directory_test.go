package compact_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/compact"
)

// TestDirectoryIsAMap compares a directory with a map while ids come, go and move.
func TestDirectoryIsAMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 5))
		var d compact.Directory[int64]
		var ids []int64 // by place
		places := map[int64]int32{}
		most := []int{3, 20, 400}[seed%3]
		for range 4000 {
			id := int64(random.IntN(most)) << (seed % 2 * 30) // neighbors, or far apart
			place, known := places[id]
			switch {
			case !known:
				ids = append(ids, id)
				places[id] = int32(len(ids) - 1)
				d.Add(ids, places[id])
			case random.IntN(3) > 0: // the last one takes the place of the one that goes
				last := int32(len(ids) - 1)
				d.Remove(ids, id)
				delete(places, id)
				if place != last {
					d.Move(ids, ids[last], place)
					ids[place] = ids[last]
					places[ids[last]] = place
				}
				ids = ids[:last]
			}
			if d.Len() != len(places) {
				t.Fatalf("%d ids, %d expected", d.Len(), len(places))
			}
			probe := int64(random.IntN(most)) << (seed % 2 * 30)
			want, known := places[probe]
			if !known {
				want = -1
			}
			if got := d.Find(ids, probe); got != want {
				t.Fatalf("id %d is at %d, %d expected", probe, got, want)
			}
		}
	}
}
