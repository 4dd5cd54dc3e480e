package privacy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// ofAttribute is the constraint on another attribute.
func ofAttribute(c privacy.Constraint, attribute int) privacy.Constraint {
	switch c := c.(type) {
	case privacy.DistinctDiversity:
		c.Attribute = attribute
		return c
	case privacy.EntropyDiversity:
		c.Attribute = attribute
		return c
	case privacy.RecursiveDiversity:
		c.Attribute = attribute
		return c
	case privacy.AlphaBound:
		c.Attribute = attribute
		return c
	case privacy.TCloseness:
		c.Attribute = attribute
		return c
	case privacy.BetaLikeness:
		c.Attribute = attribute
		return c
	case privacy.DeltaDisclosurePrivacy:
		c.Attribute = attribute
		return c
	}
	return c
}

// among is the summary of a group whose values stand in the second of three attributes: of
// the others, the first has one value and the third a different one in each record.
func among(g anonymizertest.Group) privacy.Summary {
	s := privacy.NewSummary(3)
	for i, code := range g.Sensitive[0] {
		codes := []uint32{1, code, uint32(i)}
		if g.Subjects != nil {
			s.AddOf(g.Subjects[i], codes)
		} else {
			s.Add(codes)
		}
	}
	return s
}

// TestAttributes: what a constraint says of an attribute does not depend on which
// attributes stand beside it.
func TestAttributes(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(1500) {
		records := 1 + int(seed%40)
		w := newWorld(t, seed, records, 2+int(seed%6), seed%3 == 0)
		class := w.pick(w.random.Perm(records)[:w.random.IntN(records+1)])
		second := w.pick(w.random.Perm(records)[:1+w.random.IntN(records)])
		wholeAmong, later, laterAmong := privacy.NewPopulation(among(w.group)), privacy.NewPopulation(summarize(second)), privacy.NewPopulation(among(second))
		for _, c := range w.constraints() {
			other := ofAttribute(c, 1)
			if got, want := other.Satisfied(among(class), wholeAmong), c.Satisfied(summarize(class), w.whole); got != want {
				t.Fatalf("seed %d: %v is %v of the second attribute, %v of the only one: %v of %v", seed, c, got, want, class, w.group)
			}
			if got, want := other.Feasible(among(class)), c.Feasible(summarize(class)); (got == nil) != (want == nil) {
				t.Fatalf("seed %d: %v is feasible of the second attribute: %v, of the only one: %v: %v", seed, c, got, want, class)
			}
			if got, want := (privacy.ConstraintSet{other}).Reserve(among(w.group)), (privacy.ConstraintSet{c}).Reserve(summarize(w.group)); got != want {
				t.Fatalf("seed %d: %v has a reserve of %d of the second attribute, %d of the only one: %v", seed, c, got, want, w.group)
			}
			drifting, is := c.(privacy.Drifting)
			if !is {
				continue
			}
			compared++
			otherDrifting := other.(privacy.Drifting)
			if got, want := otherDrifting.Slack(among(class), wholeAmong), drifting.Slack(summarize(class), w.whole); got != want {
				t.Fatalf("seed %d: %v has a slack of %v of the second attribute, %v of the only one", seed, c, got, want)
			}
			if got, want := otherDrifting.Drift(wholeAmong, laterAmong), drifting.Drift(w.whole, later); got != want {
				t.Fatalf("seed %d: %v drifts by %v of the second attribute, %v of the only one", seed, c, got, want)
			}
		}
	}
	if compared == 0 {
		t.Error("no drift was compared")
	}
}

// TestMinRecords: as many records as MinRecords says satisfy the constraint if all have
// different values, and are the fewest that do.
func TestMinRecords(t *testing.T) {
	t.Parallel()
	constraints := []privacy.Constraint{
		privacy.TCloseness{T: 1},
		privacy.BetaLikeness{Beta: 100},
		privacy.DeltaDisclosurePrivacy{Delta: 100},
		privacy.AlphaBound{Alpha: 0.5, Values: []uint32{99}},
		privacy.AlphaBound{Alpha: 1},
	}
	for n := range 6 {
		constraints = append(constraints, privacy.KAnonymity{K: n}, privacy.DistinctDiversity{L: n}, privacy.EntropyDiversity{L: float64(n) + 0.5},
			privacy.EntropyDiversity{L: float64(n)}, privacy.AlphaBound{Alpha: 1 / float64(n+1)}, privacy.RecursiveDiversity{L: n + 1, C: 1.5})
	}
	for _, c := range constraints {
		var table privacy.Summary
		for n := 0; n <= c.MinRecords(); n++ {
			table = privacy.NewSummary(1)
			for code := range uint32(n) {
				table.Add([]uint32{code})
			}
			if got := c.Satisfied(table, privacy.NewPopulation(table)); got != (n == c.MinRecords()) {
				t.Errorf("%v holds for %d records: %v, though at least %d are needed", c, n, got, c.MinRecords())
			}
		}
	}
}

// TestReserveOfFew: a table in which few records have another value than the rest has no
// reserve that is as large, since as many changes leave it with one value.
func TestReserveOfFew(t *testing.T) {
	t.Parallel()
	const records = 640
	for name, c := range map[string]privacy.Constraint{
		"distinct": privacy.DistinctDiversity{L: 2}, "entropy": privacy.EntropyDiversity{L: 1.001},
		"recursive": privacy.RecursiveDiversity{C: 10_000, L: 2}, "alpha": privacy.AlphaBound{Alpha: 0.999},
	} {
		most := 0
		for others := 1; others <= records/2; others += 1 + rand.New(rand.NewPCG(uint64(others), 0)).IntN(3) {
			s := privacy.NewSubjectSummary(1)
			for person := range uint32(records) {
				s.AddOf(person, []uint32{min(1, person/uint32(records-others))})
			}
			reserve := (privacy.ConstraintSet{c}).Reserve(s)
			if most = max(most, reserve); reserve >= others {
				t.Errorf("%s: %d changes are in reserve, and %d take all other values away", name, reserve, others)
			}
		}
		if most == 0 {
			t.Errorf("%s: there is no reserve ever", name)
		}
	}
}
