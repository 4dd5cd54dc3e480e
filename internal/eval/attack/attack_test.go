package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// case of a guarded publication.
type guardedCase struct {
	seed              uint64
	rate, alpha       float64
	k, l, crowd       int
	repeats, together float64
}

func (c guardedCase) String() string {
	return fmt.Sprintf("seed=%d/rate=%g/alpha=%g/k=%d/l=%d/crowd=%d/repeats=%g", c.seed, c.rate, c.alpha, c.k, c.l, c.crowd, c.repeats)
}

var guardedCases = []guardedCase{
	{seed: 1, rate: 0.005, alpha: 0.5, k: 5, l: 1, crowd: 1},
	{seed: 2, rate: 0.02, alpha: 0.5, k: 5, l: 1, crowd: 4},
	{seed: 3, rate: 0.05, alpha: 0.4, k: 3, l: 1, crowd: 2, together: 1},
	{seed: 4, rate: 0.05, alpha: 0, k: 4, l: 3, crowd: 3},
	{seed: 5, rate: 0.1, alpha: 0.6, k: 2, l: 2, crowd: 1},
	{seed: 6, rate: 0.05, alpha: 0, k: 10, l: 1, crowd: 2},
	{seed: 7, rate: 0.02, alpha: 0.5, k: 4, l: 2, crowd: 2, repeats: 0.4},
	{seed: 8, rate: 0.1, alpha: 0.45, k: 5, l: 1, crowd: 4, repeats: 0.7},
	{seed: 9, rate: 0.2, alpha: 0.5, k: 3, l: 1, crowd: 8, together: 0.5},
	{seed: 10, rate: 0.05, alpha: 0.5, k: 6, l: 1, crowd: 3, repeats: 0.2},
}

func (c guardedCase) setup() Setup {
	s := Default()
	s.Seed, s.Records, s.Steps, s.Rates, s.K = c.seed, 300, 60, []float64{c.rate}, []int{c.k}
	s.Alpha, s.L, s.Crowds, s.Repeats, s.Correlation = c.alpha, c.l, []int{c.crowd}, c.repeats, c.together
	return s
}

// played publishes a world and returns what was published.
func played(t *testing.T, s Setup, w *world, m mode) *history {
	t.Helper()
	p, err := m.publisher(w, s.constraints(s.K[0]), s, s.K[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := w.play(context.Background(), p, m.perTick); err != nil {
		t.Fatal(err)
	}
	return p.history()
}

// checkSets counts by hand whether every set that can be told apart satisfies the
// constraints.
func checkSets(s Setup, w *world, h *history) error {
	k := s.K[0]
	for i, set := range vennAtoms(w, h) {
		persons, having := map[uint32]bool{}, map[uint32]map[uint32]bool{}
		for _, e := range set {
			person, value := w.lives[e.record].subject, w.valueOf(e)
			persons[person] = true
			if having[value] == nil {
				having[value] = map[uint32]bool{}
			}
			having[value][person] = true
		}
		if len(persons) < k {
			return fmt.Errorf("set %d has %d persons, fewer than %d", i, len(persons), k)
		}
		if len(having) < s.L {
			return fmt.Errorf("set %d has %d values, fewer than %d", i, len(having), s.L)
		}
		for value, people := range having {
			if s.Alpha > 0 && float64(len(people)) > s.Alpha*float64(len(persons))+1e-9 {
				return fmt.Errorf("set %d: value %d is %d persons' of %d", i, value, len(people), len(persons))
			}
		}
	}
	return nil
}

// In guarded publication no comparison of versions tells smaller sets apart than the
// constraints allow, and no attacker who proves comes to know more than their bound.
func TestGuardedTellsNoMoreThanOneRelease(t *testing.T) {
	t.Parallel()
	for _, c := range guardedCases {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			s := c.setup()
			w := newWorld(s, c.rate)
			h := played(t, s, w, s.modes()[2])
			if len(h.versions) < 2 {
				t.Fatalf("%d versions of %d commits: nothing to compare", len(h.versions), len(w.commits))
			}
			if err := checkSets(s, w, h); err != nil {
				t.Error(err)
			}
			if c.repeats > 0 {
				return // the constraints count persons; beliefs are of records
			}
			for _, a := range []attacker{static{w, h}, newRowLinker(w, h), allKnowing{w, h, newAlgebra(h)}} {
				for _, target := range w.targets(c.seed, 1000) {
					if most := a.guess(target).most(); most > min(s.bound()+tolerance, certain) && s.Alpha+float64(s.L) > 1 {
						t.Fatalf("%s is sure by %g of a value of record %d (%v), the bound is %g", a.name(), most, target.record, target.kind, s.bound())
					}
				}
			}
		})
	}
}

// The same checks find what immediate publication tells.
func TestImmediateTellsWhoeverCame(t *testing.T) {
	t.Parallel()
	for _, c := range guardedCases[:4] {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			s := c.setup()
			w := newWorld(s, c.rate)
			for _, m := range s.modes()[:2] {
				if checkSets(s, w, played(t, s, w, m)) == nil {
					t.Errorf("%s: every set satisfies the constraints", m.name)
				}
			}
			h := played(t, s, w, s.modes()[0])
			a := allKnowing{w, h, newAlgebra(h)}
			for _, target := range w.targets(c.seed, 1000) {
				d := a.guess(target)
				known := d != nil && d[w.truth(target)] >= certain
				if (target.kind == arrival || target.kind == departure || target.kind == correction) && !known {
					t.Errorf("the value of record %d (%v) is not known: %v", target.record, target.kind, d)
				}
			}
		})
	}
}

// A guarded publication that cuts one class below k, or makes one of people who cannot
// be together, is found.
func TestBrokenGuardedIsFound(t *testing.T) {
	t.Parallel()
	s := guardedCases[1].setup()
	w := newWorld(s, s.Rates[0])
	for _, gone := range []int{1, s.K[0] - 1} {
		h := played(t, s, w, s.modes()[2])
		v := h.views[len(h.views)-1]
		h.begin(len(w.commits), w.steps+1, 1)
		h.show(v.class, v.bounds, v.rows[gone:], v.members[gone:], 1)
		if checkSets(s, w, h) == nil {
			t.Errorf("that %d rows vanished singly was not found", gone)
		}
		if a := summarizeAtoms(w, h, s.constraints(s.K[0])); a.BelowK == 0 || a.Violating == 0 {
			t.Errorf("that %d rows vanished singly was not measured: %+v", gone, a)
		}
	}
}

func TestRunIsDeterministic(t *testing.T) {
	t.Parallel()
	s := Default().Quick()
	s.Records, s.Steps, s.Rates = 150, 30, []float64{0.02}
	var texts []string
	for range 2 {
		o, err := Run(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := errors.Join(o.WriteJSON(&text), o.WriteText(&text), o.WriteMarkdown(&text), o.writePage(&text)); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.String())
	}
	if texts[0] != texts[1] {
		t.Error("two runs of one setup differ")
	}
	for _, part := range []string{"immediate", "guarded, crowd 4", "set algebra and kproxy's code", "<svg"} {
		if !strings.Contains(texts[0], part) {
			t.Errorf("the report does not tell of %q", part)
		}
	}
}

// Immediate publication, guarded publication and one release, in the order of what they
// tell.
func TestMeasurementsOfModes(t *testing.T) {
	t.Parallel()
	s := Default()
	s.Records, s.Steps, s.Rates, s.K, s.Crowds = 500, 60, []float64{0.01}, []int{5}, []int{4}
	o, err := Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	immediate, guarded := o.Runs[0], o.Runs[2]
	if immediate.Exposed() < 0.5 || guarded.Exposed() > 0.02 {
		t.Errorf("exposed: %g immediately, %g guarded", immediate.Exposed(), guarded.Exposed())
	}
	if best := guarded.best(); best.Right > guarded.Bound.Right+0.05 {
		t.Errorf("the best attacker guesses %g, with one release %g", best.Right, guarded.Bound.Right)
	}
	if immediate.Cost.Waiting != 0 || guarded.Cost.Waiting <= 0 || guarded.Cost.Ghosts <= 0 || immediate.Cost.Ghosts != 0 {
		t.Errorf("costs: %+v immediately, %+v guarded", immediate.Cost, guarded.Cost)
	}
	for _, m := range o.Runs {
		for _, share := range []float64{m.Cost.Loss, m.Cost.Stale, m.Cost.Ghosts, m.Bound.Right, m.best().Right, m.best().Posterior} {
			if math.IsNaN(share) || share < 0 || share > 1 {
				t.Errorf("%s: share %g", m.Mode, share)
			}
		}
	}
}

func TestRunOfOddSetups(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Setup){
		"one record":         func(s *Setup) { s.Records = 1 },
		"nothing happens":    func(s *Setup) { s.Rates = []float64{1e-9} },
		"infeasible":         func(s *Setup) { s.Alpha = 0.01 },
		"no crowds":          func(s *Setup) { s.Crowds = nil },
		"all change at once": func(s *Setup) { s.Rates, s.Steps = []float64{1}, 3 },
		"k alone":            func(s *Setup) { s.Alpha = 0 },
		"no batch by time":   func(s *Setup) { s.Within = 0 },
		"refused batches":    func(s *Setup) { s.Records, s.Steps, s.K, s.Rates, s.Least = 200, 60, []int{2}, []float64{0.02}, 1 },
		"a tight bound":      func(s *Setup) { s.Records, s.Steps, s.Alpha, s.Least = 200, 60, 0.35, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Default().Quick()
			s.Records, s.Steps = 60, 10
			change(&s)
			o, err := Run(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := errors.Join(o.WriteText(&text), o.writePage(&text), o.WriteJSON(&text)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Setup){
		"records": func(s *Setup) { s.Records = 0 },
		"steps":   func(s *Setup) { s.Steps = 0 },
		"alpha":   func(s *Setup) { s.Alpha = 2 },
		"l":       func(s *Setup) { s.L = diagnoses + 1 },
		"repeats": func(s *Setup) { s.Repeats = 1 },
		"rates":   func(s *Setup) { s.Rates = []float64{0} },
		"rate":    func(s *Setup) { s.Rates = nil },
		"k":       func(s *Setup) { s.K = []int{0} },
		"crowds":  func(s *Setup) { s.Crowds = []int{0} },
		"batch":   func(s *Setup) { s.Batch = 0 },
		"NaN":     func(s *Setup) { s.Rates = []float64{math.NaN()} },
	} {
		s := Default()
		change(&s)
		if s.Validate() == nil {
			t.Errorf("%s: nothing wrong with %+v", name, s)
		}
		if _, err := Run(context.Background(), s); err == nil {
			t.Errorf("%s: it runs", name)
		}
	}
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(canceled, Default()); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}
