package privacy

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestSubtractUndoesMerge: what is left of several summaries when one is taken away is what the others are together.
func TestSubtractUndoesMerge(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		parts := make([]Summary, 4)
		for i := range parts {
			parts[i] = NewSubjectSummary(2)
			for range random.IntN(12) {
				person := uint32(random.IntN(6))
				parts[i].AddSubject(person)
				parts[i].AddValueOf(person, random.IntN(2), uint32(random.IntN(4)))
			}
		}
		left, want := NewSubjectSummary(2), NewSubjectSummary(2)
		plain, wanted := NewSummary(2), NewSummary(2)
		for i, p := range parts {
			left.Merge(p)
			plain.Merge(Summary{Records: p.Records, Sensitive: p.Sensitive})
			if i > 0 {
				want.Merge(p)
				wanted.Merge(Summary{Records: p.Records, Sensitive: p.Sensitive})
			}
		}
		if left.Subtract(parts[0]); !reflect.DeepEqual(left, want) {
			t.Fatalf("%+v is left, want %+v", left, want)
		}
		if plain.Subtract(Summary{Records: parts[0].Records, Sensitive: parts[0].Sensitive}); !reflect.DeepEqual(plain, wanted) {
			t.Fatalf("%+v is left without persons, want %+v", plain, wanted)
		}
	}
}
