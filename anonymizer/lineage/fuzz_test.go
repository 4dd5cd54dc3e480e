package lineage_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/methods"
)

// FuzzLineage reads bytes as operations, settings and the time that passes, and compares
// all versions.
func FuzzLineage(f *testing.F) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 5))
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	f.Add([]byte{})
	names := slices.Sorted(maps.Keys(sets))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		random := rand.New(&anonymizertest.Bytes{Left: data})
		all := methods.Names()
		s := randomSetting(random, sets[names[random.IntN(len(names))]], []int{0, 12, 50}[random.IntN(3)])
		s.method, _ = methods.Named(all[random.IntN(len(all))])
		m := newModel(t, random, s)
		if methods.Refusal(s.method, m.source.Data.Attributes, s.constraints) != nil {
			return
		}
		m.operate(4 + len(data)/40)
	})
}
