package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// sets are the constraints that a guarded table can have.
var sets = map[string]privacy.ConstraintSet{
	"k":     {privacy.KAnonymity{K: 3}},
	"k=1":   {privacy.KAnonymity{K: 1}},
	"sizes": {privacy.KAnonymity{K: 3, Over: []int{0, 1}}, privacy.KAnonymity{K: 2, Over: []int{1, 2}}},
	"distinct": {
		privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2, Name: "s"}, privacy.DistinctDiversity{L: 2, Attribute: 1, Name: "t"},
	},
	"entropy":            {privacy.KAnonymity{K: 2}, privacy.EntropyDiversity{L: 2, Name: "s"}},
	"recursive":          {privacy.KAnonymity{K: 2}, privacy.RecursiveDiversity{L: 2, C: 2, Name: "s"}},
	"alpha":              {privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.5, Name: "s"}},
	"alpha of one value": {privacy.KAnonymity{K: 2}, privacy.AlphaBound{Alpha: 0.4, Name: "s", Values: []uint32{0}}},
	"together":           {privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2, Name: "s"}, privacy.AlphaBound{Alpha: 0.7, Attribute: 1, Name: "t"}},
}

// TestGuarantee runs random operations with every method and kind of constraint, and
// compares all versions that ever were.
func TestGuarantee(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for seed := range seeds() {
		for i, name := range methods.Names() {
			for what, constraints := range sets {
				for _, persons := range []int{0, 12, 50} {
					t.Run(fmt.Sprintf("%s/%s/persons=%d/seed=%d", name, what, persons, seed), func(t *testing.T) {
						t.Parallel()
						random := rand.New(rand.NewPCG(uint64(i), uint64(1000*seed+len(what)+persons)))
						s := randomSetting(random, constraints, persons)
						s.method, _ = methods.Named(name)
						m := newModel(t, random, s)
						if methods.Refusal(s.method, m.source.Data.Attributes, constraints) != nil {
							return // such a table is refused before it is published
						}
						m.operate(rounds)
					})
				}
			}
		}
	}
}

// seeds is how many random sequences of each kind are run: KPROXY_SEEDS, else 1.
func seeds() int {
	if n, err := strconv.Atoi(os.Getenv("KPROXY_SEEDS")); err == nil {
		return n
	}
	return 1
}

func randomSetting(random *rand.Rand, constraints privacy.ConstraintSet, persons int) setting {
	pick := func(minutes ...int) time.Duration {
		return time.Duration(minutes[random.IntN(len(minutes))]) * time.Minute
	}
	return setting{
		attributes: 3 + random.IntN(2), first: random.IntN(11), constraints: constraints, sensitive: 2, persons: persons,
		options: lineage.Options{
			Seed: random.Uint64(), Crowd: []int{0, 2, 5, 9}[random.IntN(4)], Least: random.IntN(2), Batch: []int{0, 5, 40}[random.IntN(3)],
			Within: pick(0, 20, 200), Deadline: pick(0, 0, 30, 600),
		},
	}
}
