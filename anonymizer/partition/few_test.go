package partition

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestFewAreDividedAsMany: the way for a few records gives what the way for many does,
// whatever the run before has left in its memory.
func TestFewAreDividedAsMany(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		shape := workload.Shape{
			Records: []int{1, 2, 9, 10, 11, 40, 64, 65, 130, 255, 256}[seed%11], Attributes: int(seed % 15), Distinct: []int{1, 2, 5, 1000}[seed%4],
			Nulls: []float64{0, 0.1, 1}[seed%3],
		}
		data := workload.Generate(seed, shape)
		if shape.Attributes == 0 {
			data.Sensitive = [][]uint32{make([]uint32, shape.Records)}
		}
		table, k := data.Table(), 1+int(seed%7)
		o := anonymizer.Options{Seed: seed}
		got, err := RoundedPartition{}.Anonymize(t.Context(), table, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, o)
		if err != nil {
			t.Fatal(err)
		}
		p := newPartitioning(context.Background(), table, o)
		want := &anonymizer.Release{Withheld: p.records}
		if table.Len() >= k {
			p.round(context.Background(), k)
			want = &anonymizer.Release{Classes: p.classes(p.segments())}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d, %+v, k = %d: %s", seed, shape, k, fmt.Sprintf("%v, %v expected", got, want))
		}
	}
}
