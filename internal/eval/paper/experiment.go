// Package paper re-runs the experiments of the papers whose methods kproxy
// implements, and compares what it measures with what they claim.
package paper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

// Experiment is the evaluation section of one paper.
type Experiment struct {
	// Name is what the command line calls it.
	Name string
	// Source is the paper: authors, title, year.
	Source string
	// Setting says on what data, and with what parameters it is run, and how that
	// differs from the paper.
	Setting string
	run     func(context.Context, Setup) (*Outcome, error)
}

// Setup is what experiments are run with.
type Setup struct {
	// Adult is the folder with the Adult census data; experiments that need it fail
	// with ErrNoData without.
	Adult string
	// Seed decides ties and generated data.
	Seed uint64
	// Quick takes fewer records and parameters: for a look, not for the record.
	Quick bool
	// Untimed leaves out what was measured with a clock, so that the result is the same
	// on every machine.
	Untimed bool
	// Report, if not nil, is called with what runs now.
	Report func(what string)
}

func (s Setup) report(format string, arguments ...any) {
	if s.Report != nil {
		s.Report(fmt.Sprintf(format, arguments...))
	}
}

// ErrNoData says that an experiment's data set is not at hand.
var ErrNoData = errors.New("the data set of the experiment is absent")

// Outcome is what an experiment measured.
type Outcome struct {
	Figures []Figure `json:"figures"`
	Claims  []Claim  `json:"claims"`
	// Note says what could not be measured; empty where everything was.
	Note string `json:"note,omitempty"`
}

// Figure is one figure of the paper, measured again.
type Figure struct {
	// Number is the paper's, for example "5a"; "beyond" for what the paper does not
	// show.
	Number string      `json:"number"`
	Chart  chart.Chart `json:"chart"`
	// Originals are curves of the paper, or of other programs, beside those measured.
	Originals []chart.Line `json:"originals,omitempty"`
	// Timed says that it shows times, which differ from run to run.
	Timed bool `json:"timed,omitempty"`
}

// Caption says which figure of the paper it is, if any.
func (f Figure) Caption() string {
	if strings.HasPrefix(f.Number, "beyond") {
		return "Not among the paper's figures"
	}
	return "Figure " + f.Number
}

// Claim is what the paper says, and what was measured.
type Claim struct {
	Paper    string `json:"paper"`
	Measured string `json:"measured"`
	Holds    bool   `json:"holds"`
	// Why explains what was measured, "" where nothing is to be explained.
	Why string `json:"why,omitempty"`
	// Timed says that it is about times, which differ from run to run.
	Timed bool `json:"timed,omitempty"`
}

// claim is one about results.
func claim(paper, measured string, holds bool) Claim {
	return Claim{Paper: paper, Measured: measured, Holds: holds}
}

// timedClaim is one about times.
func timedClaim(paper, measured string, holds bool) Claim {
	return Claim{Paper: paper, Measured: measured, Holds: holds, Timed: true}
}

func (c Claim) because(why string) Claim {
	c.Why = why
	return c
}

// Result is an experiment that was run.
type Result struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Setting string `json:"setting"`
	Seed    uint64 `json:"seed"`
	Quick   bool   `json:"quick"`
	Outcome
}

// Circumstances are what the figures were measured under.
func (r Result) Circumstances() string {
	text := fmt.Sprintf("%s Seed %d.", r.Setting, r.Seed)
	if r.Note != "" {
		text += " " + r.Note
	}
	if r.Quick {
		text += " A quick look: fewer records and parameters than said here."
	}
	return text
}

// Run runs the experiment. Errors: ErrNoData, and the context's.
func (e Experiment) Run(ctx context.Context, s Setup) (Result, error) {
	outcome, err := e.run(ctx, s)
	if err != nil {
		return Result{}, fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	if s.Untimed {
		outcome.Figures = slices.DeleteFunc(outcome.Figures, func(f Figure) bool { return f.Timed })
		outcome.Claims = slices.DeleteFunc(outcome.Claims, func(c Claim) bool { return c.Timed })
	}
	return Result{e.Name, e.Source, e.Setting, s.Seed, s.Quick, *outcome}, nil
}

// Experiments are all of them, in the order of the papers.
func Experiments() []Experiment {
	return []Experiment{roundedPartition, classflyPlus, cbad, incrementalUpdate, alphaK}
}

// Named returns the experiment with the name; the error lists the known ones.
func Named(name string) (Experiment, error) {
	var names []string
	for _, e := range Experiments() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("there is no experiment %q: known are %s", name, strings.Join(names, ", "))
}
