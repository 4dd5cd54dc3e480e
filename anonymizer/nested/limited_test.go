package nested_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// sameLabel compares labels, of which masked prefixes have one asterisk in unions, and in Generalize as many as are missing where all
// have one length.
func sameLabel(a, b hierarchy.Generalization) bool {
	masked := strings.HasSuffix(a.Value, "*") && strings.HasSuffix(b.Value, "*")
	return a == b || masked && strings.TrimRight(a.Value, "*") == strings.TrimRight(b.Value, "*")
}

// TestGroupsWithLimits has groups show less of each attribute than their classes, through random histories.
func TestGroupsWithLimits(t *testing.T) {
	t.Parallel()
	kinds := make(map[hierarchy.Kind]int)
	for _, name := range []string{"k", "l", "beta"} {
		for seed := range uint64(3) {
			shape := workload.Shape{Attributes: 4 + 5*int(seed), Distinct: []int{3, 20, 500}[seed], Nulls: 0.01, Sensitive: 5}
			m := newModel(t, seed, shape, 0, chains()[name])
			m.limit(seed)
			for a := range m.specs {
				if !anonymizertest.LimitOf(m.data.Specs[a]).IsZero() {
					kinds[m.specs[a].Kind]++
				}
			}
			for round := range 20 {
				for range []int{1, 3, 10, 60}[m.random.IntN(4)] {
					m.step([]int{25, 6, 1}[round*3/20])
				}
				m.settle()
				if m.random.IntN(6) == 0 {
					m.restart(seed, chains()[name][0])
					m.settle()
				}
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("only these kinds have limits: %v", kinds)
	}
}
