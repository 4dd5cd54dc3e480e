// Package attack plays the reader who polls: it publishes one stream of changes in
// several ways, hands every version to attackers who know more than any real one, and
// counts how often they guess somebody's sensitive value. Beside it stands what the
// protection costs: waiting, ghosts, precision.
//
// The attackers know the quasi-identifying values of everybody at any time, and when
// each person came, left or changed; some know the classes' members and kproxy's code.
// They do not know the sensitive values. Run measures; docs/attack.md tells the result.
package attack

import (
	"context"
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Setup is an experiment: each rate with each k, each published in every mode.
type Setup struct {
	Seed    uint64 `json:"seed"`
	Records int    `json:"records"` // at the beginning
	Steps   int    `json:"steps"`   // ticks of simulated time, such as hours
	// Rates are shares of the records that come, leave or change within a tick.
	Rates []float64 `json:"rates"`
	K     []int     `json:"k"`
	// Alpha bounds the share of a sensitive value in a class; 0 for no bound.
	Alpha float64 `json:"alpha"`
	// L is the least number of different sensitive values in a class.
	L int `json:"l"`
	// Crowds are the settings of guarded publication, see lineage.Options.
	Crowds []int `json:"crowds"`
	// Batch is how many times crowd*k waiting records make a batch.
	Batch int `json:"batch"`
	// Least is the least number of records that are tried as a batch, 0 for
	// lineage.Options.Least's own.
	Least int `json:"least"`
	// Within is the number of ticks after which a smaller batch is published.
	Within int `json:"within"`
	// Repeats is the share of new records that are about somebody who has one already.
	// Constraints then count persons.
	Repeats float64 `json:"repeats"`
	// Returns is the share of new records that are of somebody who left, with the same
	// values as before.
	Returns float64 `json:"returns"`
	// Correlation is the share of the people whose sensitive value goes with their age.
	Correlation float64 `json:"correlation"`
	// Targets is how many people of each kind are attacked.
	Targets int `json:"targets"`
	// Report, if not nil, is called with what is being done.
	Report func(format string, arguments ...any) `json:"-"`
}

// Default is the experiment of docs/attack.md.
func Default() Setup {
	return Setup{
		Seed: 1, Records: 1000, Steps: 100, Rates: []float64{0.001, 0.005, 0.02}, K: []int{5, 10, 20},
		Alpha: 0.5, L: 1, Crowds: []int{1, 2, 4}, Batch: 1, Within: 24, Correlation: 0.3, Targets: 60,
	}
}

// Quick is a smaller experiment, for a look: at most 400 records and 50 ticks, the
// last rate and the first k.
func (s Setup) Quick() Setup {
	const records, steps = 400, 50
	s.Records, s.Steps = min(s.Records, records), min(s.Steps, steps)
	s.Rates, s.K = s.Rates[max(0, len(s.Rates)-1):], s.K[:min(1, len(s.K))]
	return s
}

// Validate returns all that is wrong with the setup, joined.
func (s Setup) Validate() error {
	var errs []error
	check := func(ok bool, what string) {
		if !ok {
			errs = append(errs, errors.New(what))
		}
	}
	share := func(x float64) bool { return x >= 0 && x <= 1 }
	check(s.Records >= 1 && s.Records <= maxRecords, fmt.Sprintf("records must be 1 to %d", maxRecords))
	check(s.Steps >= 1 && s.Steps <= maxRecords, fmt.Sprintf("steps must be 1 to %d", maxRecords))
	check(s.Alpha >= 0 && s.Alpha <= 1, "alpha must be 0 to 1, 0 for no bound")
	check(s.L >= 1 && s.L <= diagnoses, fmt.Sprintf("l must be 1 to %d", diagnoses))
	check(share(s.Repeats) && s.Repeats < 1 && share(s.Correlation) && share(s.Returns), "shares of repeated records, returning people and correlated values must be from 0 to below 1")
	check(s.Batch >= 1 && s.Within >= 0 && s.Targets >= 1, "batch and targets must be at least 1, within at least 0")
	check(len(s.Rates) > 0 && len(s.K) > 0, "at least one rate and one k are needed")
	for _, rate := range s.Rates {
		check(rate > 0 && rate <= 1, "rates must be above 0 and at most 1")
	}
	for _, k := range s.K {
		check(k >= 1 && k <= maxRecords, "k must be at least 1")
	}
	for _, crowd := range s.Crowds {
		check(crowd >= 1 && crowd <= maxRecords, "crowds must be at least 1")
	}
	return errors.Join(errs...)
}

const maxRecords = 1_000_000

func (s Setup) report(format string, arguments ...any) {
	if s.Report != nil {
		s.Report(format, arguments...)
	}
}

// constraints of one run.
func (s Setup) constraints(k int) privacy.ConstraintSet {
	set := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	if s.Alpha > 0 {
		set = append(set, privacy.AlphaBound{Alpha: s.Alpha, Name: sensitiveName})
	}
	if s.L > 1 {
		set = append(set, privacy.DistinctDiversity{L: s.L, Name: sensitiveName})
	}
	return set
}

// bound is the certainty that the constraints allow about a value: alpha, or anything
// short of certainty.
func (s Setup) bound() float64 {
	if s.Alpha > 0 {
		return s.Alpha
	}
	return certain
}

// certain is a probability that counts as 1.
const certain = 1 - 1e-9

// Run makes the experiment; the error is the context's, or Validate's.
func Run(ctx context.Context, s Setup) (*Outcome, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	outcome := &Outcome{Setup: s}
	for _, rate := range s.Rates {
		w := newWorld(s, rate)
		for _, k := range s.K {
			runs, err := s.runAll(ctx, w, rate, k)
			if err != nil {
				return nil, err
			}
			outcome.Runs = append(outcome.Runs, runs...)
		}
	}
	return outcome, nil
}

// runAll publishes one world in every mode and attacks each.
func (s Setup) runAll(ctx context.Context, w *world, rate float64, k int) ([]Measurement, error) {
	cs := s.constraints(k)
	targets := w.targets(s.Seed, s.Targets)
	fresh, err := publishOnce(ctx, w, cs, s.Seed)
	if err != nil {
		return nil, err
	}
	bound := s.score(ctx, "one static release", toldStatic{fresh}, w, targets)
	final, err := publishFinal(ctx, w, cs, s.Seed)
	if err != nil {
		return nil, err
	}
	var runs []Measurement
	for _, m := range s.modes() {
		s.report("rate %g, k = %d: publishing, %s", rate, k, m.name)
		p, err := m.publisher(w, cs, s, k)
		if err != nil {
			return nil, fmt.Errorf("publishing %s: %w", m.name, err)
		}
		if err := w.play(ctx, p, m.perTick); err != nil {
			return nil, fmt.Errorf("publishing %s: %w", m.name, err)
		}
		s.report("rate %g, k = %d: attacking, %s", rate, k, m.name)
		run := Measurement{
			Rate: rate, K: k, Mode: m.name, Crowd: m.crowd, Commits: len(w.commits), Versions: len(p.history().versions),
			Bound: bound, Cost: costs(w, p, final),
		}
		if err := s.attackAll(ctx, &run, w, p, cs, targets); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// attackAll lets every attacker guess.
func (s Setup) attackAll(ctx context.Context, run *Measurement, w *world, p publisher, cs privacy.ConstraintSet, targets []target) error {
	h := p.history()
	sets := newAlgebra(h)
	attackers := []attacker{static{w, h}, difference{w, h}, intersection{w, h}, newRowLinker(w, h), allKnowing{w, h, sets}}
	var thinker *reasoning
	if replay, ok := p.(replayer); ok {
		thinker = newReasoning(ctx, w, h, sets, replay, s.Seed)
		attackers = append(attackers, thinker)
	}
	for _, a := range attackers {
		if err := ctx.Err(); err != nil {
			return err
		}
		run.Attackers = append(run.Attackers, s.score(ctx, a.name(), a, w, targets))
	}
	run.Atoms = summarizeAtoms(w, h, cs)
	if thinker != nil && thinker.err != nil {
		return fmt.Errorf("playing the publication again: %w", thinker.err)
	}
	return ctx.Err()
}
