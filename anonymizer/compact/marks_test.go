package compact_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/compact"
)

// TestMarksAreASet compares marks with a map.
func TestMarksAreASet(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 6))
	var m compact.Marks
	want := map[int32]bool{}
	for range 5000 {
		slot := int32(random.IntN(300))
		if random.IntN(2) == 0 {
			if m.Set(slot) == want[slot] {
				t.Fatalf("slot %d was new: %v", slot, want[slot])
			}
			want[slot] = true
		} else {
			if m.Unset(slot) != want[slot] {
				t.Fatalf("slot %d was there: %v", slot, !want[slot])
			}
			want[slot] = false
		}
	}
}
