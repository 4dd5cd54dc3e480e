package torture

import (
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// TestSeedsDecide draws twice what a seed decides.
func TestSeedsDecide(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		version := pgserver.Version{Major: 15}
		first, second := newPlan(seed, version), newPlan(seed, version)
		if first.String() != second.String() {
			t.Fatalf("seed %d: %s, and then %s", seed, first, second)
		}
		a, b := newScript(seed, 1, first.shapes), newScript(seed, 1, second.shapes)
		for i := range 100 {
			if one, other := a.next(), b.next(); !reflect.DeepEqual(one, other) {
				t.Fatalf("seed %d, transaction %d: %v, and then %v", seed, i, one, other)
			}
		}
	}
}
