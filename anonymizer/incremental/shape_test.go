package incremental

import (
	"math/rand/v2"
	"sort"
	"testing"
)

// TestSelectKey orders classes by keys, of which many or few are the same: the key of the
// index stands there, with those that are equal to it, and no class parts from its key.
func TestSelectKey(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 2000 {
		n, distinct := 1+random.IntN(60), int64(1+random.IntN(60))
		tr := newTree(newFrame(make([]extent, 1)), 0)
		var original []int64
		for i := range n {
			k := random.Int64N(distinct)
			original = append(original, k)
			tr.shaping.add(entry{int32(i), ClassID(i), make(box, tr.words)})
			tr.shaping.keys = append(tr.shaping.keys, k)
		}
		keys := tr.shaping.keys
		if round%2 == 0 {
			index := random.IntN(n)
			from, to := tr.shaping.selectKey(0, n, index)
			if index < from || index >= to {
				t.Fatalf("the key of %d stands from %d to below %d", index, from, to)
			}
			for i, k := range keys {
				if (i < from) != (k < keys[index]) || (i >= to) != (k > keys[index]) {
					t.Fatalf("%v around %d to %d", keys, from, to)
				}
			}
		} else if sort.Sort(byKey{&tr.shaping, 0, n}); !sort.SliceIsSorted(keys, func(i, j int) bool { return keys[i] < keys[j] }) {
			t.Fatalf("%v is not in order", keys)
		}
		for i, class := range tr.shaping.class {
			if keys[i] != original[class] || tr.shaping.id[i] != ClassID(class) {
				t.Fatalf("class %d has key %d, not %d", class, keys[i], original[class])
			}
		}
	}
}
