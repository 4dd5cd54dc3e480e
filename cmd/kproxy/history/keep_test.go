package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// TestCountingTakesATenth has many tables that change all the time, one of them large, and one that is no longer
// protected, by a simulated clock.
func TestCountingTakesATenth(t *testing.T) {
	t.Parallel()
	var policy catalog.Policy
	took, changed := make(map[catalog.Name]time.Duration), make(map[catalog.Name]bool)
	add := func(relation string, takes time.Duration) catalog.Name {
		name := catalog.Name{Schema: "public", Relation: relation}
		policy.Tables = append(policy.Tables, catalog.TablePolicy{Table: name})
		took[name], changed[name] = takes, true
		return name
	}
	for i := range 100 {
		add(fmt.Sprint("small", i), 200*time.Millisecond)
	}
	large := add("large", 20*time.Second)
	changed[catalog.Name{Schema: "public", Relation: "gone"}] = true
	k, start := newKeeper(Process{}), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now, busy, counts := start, time.Duration(0), make(map[catalog.Name]int)
	for now.Sub(start) < 2*time.Hour {
		for name := range k.due(changed, policy, now) {
			counts[name]++
			now, busy = now.Add(took[name]), busy+took[name]
			k.rest(name, took[name], now)
		}
		now = now.Add(keptLook)
	}
	if share := busy.Seconds() / now.Sub(start).Seconds(); share > 0.12 || counts[large] < 10 {
		t.Errorf("counting takes %.2f of the time, and counts the large table %d times", share, counts[large])
	}
	if len(counts) != len(policy.Tables) {
		t.Errorf("%d tables are counted, of %d", len(counts), len(policy.Tables))
	}
	if fresh := add("fresh", time.Second); !k.due(changed, policy, now)[fresh] {
		t.Error("a new table waits for others")
	}
	policy.Tables = policy.Tables[:1]
	if k.due(changed, policy, now); len(k.took) > 1 || len(k.rests) > 1 {
		t.Errorf("kept is %v, %v", k.took, k.rests)
	}
}
