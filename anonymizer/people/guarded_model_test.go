package people_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// guardedSetting is what a history is run with.
type guardedSetting struct {
	knows   people.Knows
	windows int32
	alpha   float64
	l       int
	deep    bool
}

// liveThrough lets a random history happen, of which everything is judged after each publication.
func (w *guardedWorld) liveThrough(rounds, changes int) {
	w.fill()
	for round := range rounds {
		w.publishAndJudge(round)
		if w.random.IntN(8) == 0 {
			w.restart()
		}
		for range w.random.IntN(1 + changes) {
			w.change()
		}
		if w.random.IntN(12) == 0 {
			w.note()
			w.restart()
		}
		w.now = w.now.Add(time.Duration(w.random.IntN(80)) * time.Minute)
		switch w.random.IntN(80) {
		case 0:
			w.truncate(w.random.IntN(len(w.source)))
		case 1:
			w.leave(2)
		}
	}
}

// publishAndJudge publishes, and ends the test if what was published breaks a promise.
func (w *guardedWorld) publishAndJudge(round int) {
	w.t.Helper()
	w.publish()
	if err := w.judge(); err != nil {
		w.t.Fatalf("round %d: %v", round, err)
	}
}

// fill has some persons, with rows, be there.
func (w *guardedWorld) fill() {
	for table, rows := range []int{40, 80, 60, 30, 20} {
		for range rows {
			r := w.newRow(table)
			w.must(w.Insert(table-1, r))
			w.source[table][r.ID] = r
		}
	}
}

// figures counts what a history has shown.
func (w *guardedWorld) figures() map[string]int {
	figures := map[string]int{"came back": w.came}
	for _, r := range w.ever {
		switch {
		case r.table == 0:
			figures["persons"]++
		case r.pooled:
			figures["pooled"]++
		case w.unknown[r.table]:
			figures["unknown"]++
		default:
			figures["keyed"]++
		}
		if r.vanished > 0 {
			figures["vanished"]++
		}
		if r.table > 0 && !r.pooled && r.appeared > r.parent.appeared && r.parent.table > 0 {
			figures["late"]++
		}
	}
	for _, places := range w.places {
		for _, place := range places {
			if place.Withheld {
				figures["withheld"]++
			}
		}
	}
	for _, weights := range w.weights {
		figures["weights"] += len(weights)
	}
	return figures
}

var guardedSeeds = flag.Int("people.seeds", 4, "histories of each kind that guarded releases are tested with")

// TestGuardedReleasesHold: whatever happens to the tables, in any order, all that readers
// have ever seen together satisfies the guarantee.
func TestGuardedReleasesHold(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]guardedSetting{
		"one row":              {people.Knows{Crowd: 2}, 2, 1, 0, false},
		"one row, crowd of 1":  {people.Knows{Crowd: 1}, 3, 1, 0, false},
		"one row, alpha":       {people.Knows{Crowd: 4}, 2, 0.6, 0, false},
		"one row, alpha and l": {people.Knows{Crowd: 3}, 1, 0.7, 2, false},
		"all":                  {people.Knows{All: true}, 2, 1, 0, false},
		"one row, deep":        {people.Knows{Crowd: 2}, 2, 1, 0, true},
		"one row, deep, alpha": {people.Knows{Crowd: 2}, 1, 0.6, 0, true},
		"all, deep":            {people.Knows{All: true}, 1, 1, 0, true},
		"all, alpha":           {people.Knows{All: true}, 1, 0.7, 0, false},
	} {
		for seed := range uint64(*guardedSeeds) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				w := newGuardedWorld(t, seed, s.knows, s.windows, s.alpha, s.l)
				w.deep = s.deep
				w.liveThrough(60, 30)
				t.Log(w.figures())
			})
		}
	}
}

// FuzzGuarded lets histories of all kinds happen.
func FuzzGuarded(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed, uint8(2), uint8(seed), seed%2 == 0, true)
	}
	f.Fuzz(func(t *testing.T, seed uint64, crowd, windows uint8, all, alpha bool) {
		share := 1.0
		if alpha {
			share = 0.6
		}
		knows := people.Knows{All: all, Crowd: 1 + int(crowd%5)}
		w := newGuardedWorld(t, seed, knows, 1+int32(windows%3), share, 0)
		w.deep = seed%2 == 0
		w.liveThrough(20, 30)
	})
}
