package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

const rounding = 1e-8 // of slack and drift, which keep a margin of 1e-9

// comparing are constraints that compare with the whole table, over the values of a world.
func comparing(w *world) []privacy.Drifting {
	return []privacy.Drifting{
		privacy.TCloseness{T: 0.4},
		privacy.TCloseness{T: 0.4, Distance: privacy.OrderedDistance, Scale: w.ordered},
		privacy.TCloseness{T: 0.4, Distance: privacy.HierarchicalDistance, Scale: w.tree},
		privacy.DeltaDisclosurePrivacy{Delta: 0.8},
		privacy.BetaLikeness{Beta: 0.7},
		privacy.BetaLikeness{Beta: 0.7, Enhanced: true},
	}
}

// stricter is the constraint with so much less room.
func stricter(c privacy.Drifting, by float64) privacy.Constraint {
	switch c := c.(type) {
	case privacy.TCloseness:
		c.T -= by
		return c
	case privacy.DeltaDisclosurePrivacy:
		c.Delta -= by
		return c
	}
	return c
}

// TestSlackIsTheRoomLeft: by its slack, and by no more, a bound could be stricter; that of
// likeness, which is one on each value's frequency, is recounted.
func TestSlackIsTheRoomLeft(t *testing.T) {
	t.Parallel()
	positive := 0
	for seed := range uint64(1500) {
		records := 4 + int(seed%40)
		w := newWorld(t, seed, records, 2+int(seed%6), false)
		class := summarize(w.pick(w.random.Perm(records)[:1+w.random.IntN(records)]))
		for _, c := range comparing(w) {
			slack := c.Slack(class, w.whole)
			if beta, is := c.(privacy.BetaLikeness); is {
				if want := room(beta, class, w.whole); math.Abs(slack-want) > rounding {
					t.Fatalf("seed %d: %v: a slack of %v, %v expected; %v of %v", seed, c, slack, want, class, w.whole.Summary)
				}
				continue
			}
			closeness, isCloseness := c.(privacy.TCloseness)
			if slack == -1 && !isCloseness && len(class.Sensitive[0]) < len(w.whole.Sensitive[0]) {
				continue // a value is missing, whatever the bound
			}
			if slack > 0 {
				positive++
			}
			if isCloseness && closeness.T-slack < rounding {
				continue // none is closer
			}
			if !stricter(c, slack-rounding).Satisfied(class, w.whole) || stricter(c, slack+rounding).Satisfied(class, w.whole) {
				t.Fatalf("seed %d: %v has a slack of %v for %v of %v", seed, c, slack, class, w.whole.Summary)
			}
		}
	}
	if positive < 500 {
		t.Errorf("%d slacks: nothing is tested", positive)
	}
}

// room is by how much the frequency of each value stays below (1+beta)p at least, and at most 1.
func room(c privacy.BetaLikeness, class privacy.Summary, whole *privacy.Population) float64 {
	least := 1.0
	for code, count := range class.Sensitive[0] {
		p := float64(whole.Sensitive[0][code]) / float64(whole.Records)
		gain := c.Beta
		if c.Enhanced {
			gain = math.Min(gain, -math.Log(p))
		}
		least = math.Min(least, p+p*gain-float64(count)/float64(class.Records))
	}
	return least
}

// TestDriftIsTheSlackLost by the class that loses most: the whole table as it was, or, where
// each value has a bound of its own, all records of the value whose bound falls most.
func TestDriftIsTheSlackLost(t *testing.T) {
	t.Parallel()
	finite, infinite := 0, 0
	for seed := range uint64(1500) {
		w := newWorld(t, seed, 4+int(seed%40), 2+int(seed%6), false)
		later := w.group
		for range w.random.IntN(4) { // the same values for the most part
			later.Sensitive = [][]uint32{append([]uint32{}, later.Sensitive[0][w.random.IntN(2):]...)}
			later.Sensitive[0] = append(later.Sensitive[0], later.Sensitive[0][w.random.IntN(len(later.Sensitive[0]))])
		}
		from, to := w.whole, privacy.NewPopulation(summarize(later))
		same := sameKeys(from.Sensitive[0], to.Sensitive[0])
		for _, c := range comparing(w) {
			drift := c.Drift(from, to)
			if c.Drift(from, from) > rounding {
				t.Fatalf("seed %d: %v: a table drifts by %v from itself", seed, c, c.Drift(from, from))
			}
			closeness, isCloseness := c.(privacy.TCloseness)
			beta, isLikeness := c.(privacy.BetaLikeness)
			known := same || isLikeness || isCloseness && closeness.Distance == privacy.EqualDistance && len(to.Sensitive[0]) > len(from.Sensitive[0])
			if math.IsInf(drift, 1) {
				if infinite++; known {
					t.Fatalf("seed %d: %v: it is not known how far %v is from %v", seed, c, to.Summary, from.Summary)
				}
				continue
			}
			finite++
			if !known && (!isCloseness || closeness.Distance != privacy.EqualDistance) {
				t.Fatalf("seed %d: %v drifts by %v though values came or went", seed, c, drift)
			}
			lost := c.Slack(from.Summary, from) - c.Slack(from.Summary, to)
			if isLikeness {
				lost = 0
				for code := range from.Sensitive[0] {
					only := summary(code)
					lost = math.Max(lost, room(beta, only, from)-roomOf(beta, code, to))
				}
			}
			if math.Abs(lost-drift) > rounding {
				t.Fatalf("seed %d: %v drifts by %v, and a class loses %v; %v to %v", seed, c, drift, lost, from.Summary, to.Summary)
			}
		}
	}
	if finite < 1000 || infinite < 100 {
		t.Errorf("%d drifts, %d of them unknown: nothing is tested", finite, infinite)
	}
}

// roomOf is what a class of one value has in a table, which may lack it.
func roomOf(c privacy.BetaLikeness, code uint32, whole *privacy.Population) float64 {
	if whole.Sensitive[0][code] == 0 {
		return -1
	}
	return room(c, summary(code), whole)
}

func sameKeys(a, b map[uint32]int) bool {
	for code := range a {
		if b[code] == 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// TestNothingIsKnown of what cannot be compared.
func TestNothingIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, 20, 5, false)
	empty, without := privacy.NewPopulation(privacy.NewSummary(1)), privacy.NewPopulation(privacy.NewSummary(0))
	random := rand.New(rand.NewPCG(1, 1))
	class := summarize(w.pick(random.Perm(20)[:5]))
	for _, c := range comparing(w) {
		for _, whole := range []*privacy.Population{nil, empty, without} {
			if slack := c.Slack(class, whole); slack >= 0 {
				t.Errorf("%v: a slack of %v without a table", c, slack)
			}
			if whole == nil {
				continue
			}
			if one, other := c.Drift(w.whole, whole), c.Drift(whole, w.whole); !math.IsInf(one, 1) || !math.IsInf(other, 1) {
				t.Errorf("%v drifts by %v and %v without a table", c, one, other)
			}
		}
		if slack := c.Slack(privacy.NewSummary(1), w.whole); slack >= 0 {
			t.Errorf("%v: no class has a slack of %v", c, slack)
		}
	}
}

// TestNoSlackAtTheBound: a value that is as frequent as it may be leaves no room, however slack is rounded.
func TestNoSlackAtTheBound(t *testing.T) {
	t.Parallel()
	whole := privacy.NewSummary(1)
	for i := range uint32(10) {
		whole.Add([]uint32{i % 5})
	}
	class := privacy.NewSummary(1)
	class.Add([]uint32{0})
	class.Add([]uint32{1}) // frequencies of 1/2, where the bound is 1/2
	c := privacy.BetaLikeness{Beta: 1.5}
	if slack := c.Slack(class, privacy.NewPopulation(whole)); slack > 0 || slack < -rounding {
		t.Errorf("at the bound, the slack is %v", slack)
	}
}
