package incremental

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestChangesAddUp: a store that follows several Settles at once is where one is that
// follows each.
func TestChangesAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		p := line(t, privacy.ConstraintSet{privacy.KAnonymity{K: 2}})
		written, placed := map[ClassID][]RecordID{}, map[RecordID]ClassID{}
		var sum Changes
		next, known := RecordID(1), []RecordID(nil)
		for range 200 {
			for range 1 + random.IntN(6) {
				at := random.IntN(len(known) + 2)
				switch {
				case at >= len(known):
					insert(t, p, next, float64(random.IntN(50)), 0)
					known, next = append(known, next), next+1
				case random.IntN(3) == 0:
					if err := p.Modify(Record{ID: known[at], Cells: []hierarchy.Cell{float64(random.IntN(50))}, Sensitive: []uint32{0}}); err != nil {
						t.Fatal(err)
					}
				default:
					if err := p.Delete(known[at]); err != nil {
						t.Fatal(err)
					}
					delete(placed, known[at])
					known = slices.Delete(known, at, at+1)
				}
			}
			if random.IntN(40) == 0 {
				p.Truncate()
				clear(placed)
				known = nil
			}
			if sum = sum.Then(p.Settle()); random.IntN(3) > 0 {
				continue
			}
			if !slices.IsSorted(sum.Rewrite) || !slices.IsSorted(sum.Retired) {
				t.Fatalf("lists are not in order: %v, %v", sum.Rewrite, sum.Retired)
			}
			for _, class := range sum.Retired {
				delete(written, class)
			}
			for _, class := range sum.Rewrite {
				written[class] = p.Members(class)
			}
			for id, class := range sum.Moved {
				placed[id] = class
			}
			sum = Changes{}
			if len(written) != p.Classes() {
				t.Fatalf("%d classes are written of %d", len(written), p.Classes())
			}
			for class, members := range written {
				if !slices.Equal(members, p.Members(class)) {
					t.Fatalf("class %d is written with %v, it has %v", class, members, p.Members(class))
				}
			}
			for _, id := range known {
				if placed[id] != p.ClassOf(id) {
					t.Fatalf("record %d is placed in class %d, it is in %d", id, placed[id], p.ClassOf(id))
				}
			}
		}
	}
}
