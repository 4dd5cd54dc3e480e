package nested_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// hidden is what is known of each class besides its labels: a number.
type hidden map[incremental.ClassID]float64

// loss is what classes lose as a group: the width of their numbers, of each record.
func (h hidden) loss(of *incremental.Partition, classes []incremental.ClassID) float64 {
	low, high, records := math.Inf(1), math.Inf(-1), 0
	for _, class := range classes {
		low, high, records = min(low, h[class]), max(high, h[class]), records+of.Size(class)
	}
	return (high - low) * float64(records)
}

// TestGroupsTradeClasses: groups with Options.Loss lose less by it, over a history, than groups that labels alone decide about; and all holds
// of them that holds of these (model.check).
func TestGroupsTradeClasses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		chain := [2]privacy.ConstraintSet{{privacy.KAnonymity{K: 3}}, {privacy.KAnonymity{K: 12}}}
		m := newModel(t, seed, workload.Shape{Attributes: 3, Distinct: 25, Sensitive: 3}, 0, chain)
		known, random, lost := hidden{}, rand.New(rand.NewPCG(seed, 3)), [2]float64{}
		m.groups = nested.NewGroups(m.partition, m.attributes, m.coarse, nested.Options{Seed: seed, Loss: func(classes []incremental.ClassID) float64 { return known.loss(m.partition, classes) }})
		plain := nested.NewGroups(m.partition, m.attributes, m.coarse, nested.Options{Seed: seed})
		for round := range 60 {
			for range 12 {
				m.step(4 + 200*max(0, 30-round)/30)
			}
			finer := m.partition.Settle()
			for at := range m.partition.Classes() {
				if class := m.partition.ClassAt(at); known[class] == 0 {
					known[class] = 1 + random.Float64()
				}
			}
			changes, err := m.groups.Settle(t.Context(), finer)
			m.must(err)
			m.follow(changes)
			m.check()
			_, err = plain.Settle(t.Context(), finer)
			m.must(err)
			for i, groups := range []*nested.Groups{m.groups, plain} {
				for at := range groups.Classes() {
					lost[i] += known.loss(m.partition, groups.Members(groups.ClassAt(at)))
				}
			}
		}
		t.Logf("seed %d: groups that trade lose %.0f, others %.0f", seed, lost[0], lost[1])
		if lost[1] == 0 || lost[0] > 0.5*lost[1] {
			t.Errorf("seed %d: groups that trade lose %.0f, others %.0f", seed, lost[0], lost[1])
		}
	}
}
