package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// VisitSetup is an experiment with persons and their visits, two tables that are released together. The
// attackers know the root values of everybody, who is in each class and, of a person, the day of one
// visit and the moments at which it was inserted and deleted. They want to know the ward.
type VisitSetup struct {
	Seed    uint64  `json:"seed"`
	Persons int     `json:"persons"`
	Days    int     `json:"days"`
	Rate    float64 `json:"rate"` // visits of a person in all days, on average
	// Deleted is the share of visits that are deleted within the days.
	Deleted float64 `json:"deleted"`
	K       int     `json:"k"`
	Targets int     `json:"targets"` // of each kind, at most
	// Report, if not nil, is called with what is being done.
	Report func(format string, arguments ...any) `json:"-"`
}

// DefaultVisits is the experiment of docs/attack.md.
func DefaultVisits() VisitSetup {
	return VisitSetup{Seed: 1, Persons: 1000, Days: 365, Rate: 3, Deleted: 0.1, K: 5, Targets: 150}
}

// Validate returns all that is wrong with the setup, joined.
func (s VisitSetup) Validate() error {
	var errs []error
	check := func(ok bool, what string) {
		if !ok {
			errs = append(errs, errors.New(what))
		}
	}
	check(s.Persons >= 1 && s.Persons <= maxRecords, fmt.Sprintf("persons must be 1 to %d", maxRecords))
	check(s.Days >= 1 && s.Days <= maxDays, fmt.Sprintf("days must be 1 to %d", maxDays))
	check(s.Rate > 0 && s.Rate <= maxVisits, fmt.Sprintf("visits must be above 0 and at most %d", maxVisits))
	check(s.Deleted >= 0 && s.Deleted <= 1, "deleted must be 0 to 1")
	check(s.K >= 1 && s.K <= maxRecords, "k must be at least 1")
	check(s.Targets >= 1, "targets must be at least 1")
	return errors.Join(errs...)
}

const (
	maxDays   = 10_000
	maxVisits = 1_000
)

// VisitMeasurement is of one way to publish them.
type VisitMeasurement struct {
	Mode     string `json:"mode"`
	Versions int    `json:"versions"`
	// Attackers are those that have all versions, Bound one that has a single release of all visits.
	Bound     VisitSuccess   `json:"bound"`
	Attackers []VisitSuccess `json:"attackers"`
	// Fewest and Risk are what is left of the pseudonyms of a class: at least so many can be the person of
	// a known visit that has keys, and the mean of 1/candidates. Both are 0 where none has.
	Fewest int     `json:"fewest_candidates"`
	Risk   float64 `json:"mean_risk"`
	// Keyed is the share of visits that are published with keys in the end, and Waiting how many days they
	// waited on average.
	Keyed   float64 `json:"keyed"`
	Waiting float64 `json:"waiting_days"`
}

// VisitSuccess is how often an attacker guessed the ward of a visit: of all targets, and by kind.
type VisitSuccess struct {
	Attacker string             `json:"attacker"`
	Targets  int                `json:"targets"`
	Right    float64            `json:"right"`
	Kinds    map[string]float64 `json:"kinds"`
}

func (m VisitMeasurement) best() VisitSuccess {
	return slices.MaxFunc(m.Attackers, func(a, b VisitSuccess) int { return cmp.Compare(a.Right, b.Right) })
}

// VisitOutcome is what an experiment with visits measured.
type VisitOutcome struct {
	Setup VisitSetup         `json:"setup"`
	Runs  []VisitMeasurement `json:"runs"`
}

// RunVisits publishes one stream of visits in every way, and attacks each. The error is the context's.
func RunVisits(ctx context.Context, s VisitSetup) (*VisitOutcome, error) {
	w := newVisitWorld(s)
	bound, err := w.bound(ctx)
	if err != nil {
		return nil, err
	}
	outcome := &VisitOutcome{Setup: s}
	for _, mode := range visitModes(s) {
		if s.Report != nil {
			s.Report("publishing and attacking, %s", mode.name)
		}
		p, err := mode.publisher(w)
		if err != nil {
			return nil, fmt.Errorf("publishing %s: %w", mode.name, err)
		}
		if err := w.play(ctx, p); err != nil {
			return nil, fmt.Errorf("publishing %s: %w", mode.name, err)
		}
		m := w.measure(mode.name, p.versions())
		m.Bound = bound
		outcome.Runs = append(outcome.Runs, m)
	}
	return outcome, nil
}

// visitModes are the ways to publish: every commit at once, and each pace of guarded updates.
func visitModes(s VisitSetup) []visitMode {
	modes := []visitMode{{name: "immediate", publisher: func(w *visitWorld) (visitPublisher, error) { return newImmediateVisits(w, s) }}}
	for _, pace := range []catalog.Pace{catalog.Months, catalog.Weeks, catalog.Days} {
		modes = append(modes, visitMode{name: "guarded, " + pace.String(), publisher: func(w *visitWorld) (visitPublisher, error) {
			return newGuardedVisits(w, s, pace)
		}})
	}
	return modes
}

type visitMode struct {
	name      string
	publisher func(*visitWorld) (visitPublisher, error)
}

const day = 24 * time.Hour

// Circumstances says what the experiment was.
func (s VisitSetup) Circumstances() string {
	return fmt.Sprintf("%d persons with %g visits each in %d days, of which %.0f %% are deleted; k = %d, one visit is known. Seed %d.", s.Persons, s.Rate, s.Days, 100*s.Deleted, s.K, s.Seed)
}

const visitLegend = `static: correct guesses of the ward of a known visit with a single release of all visits.
best: those of the best attacker on all versions, then by what happened to the visit.
fewest, risk: how many pseudonyms of the class can be the person of a known visit with
keys, at least, and the mean of 1/candidates. keyed: visits that are published with keys;
waiting: how many days these waited.
`

func (o *VisitOutcome) table() report.Table {
	rows := [][]string{{"published", "versions", "static %", "best %", "by", "arrived %", "left %", "stays %", "fewest", "risk", "keyed %", "waiting"}}
	for _, m := range o.Runs {
		best := m.best()
		row := []string{m.Mode, strconv.Itoa(m.Versions), percent(m.Bound.Right), percent(best.Right), best.Attacker}
		for _, kind := range []string{"arrived", "left", "stays"} {
			row = append(row, percent(best.Kinds[kind]))
		}
		left := []string{"none", "none", percent(m.Keyed), "none"} // no visit has keys
		if m.Fewest > 0 {
			left = []string{strconv.Itoa(m.Fewest), fmt.Sprintf("%.3f", m.Risk), percent(m.Keyed), fmt.Sprintf("%.1f", m.Waiting)}
		}
		rows = append(rows, append(row, left...))
	}
	return report.Table{Title: "Persons and their visits: what was published, and what it revealed", Rows: rows}
}

// WriteText writes the table for a terminal.
func (o *VisitOutcome) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", o.Setup.Circumstances()); err != nil {
		return err
	}
	if err := o.table().WriteText(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", visitLegend)
	return err
}

// WriteJSON writes all that was measured.
func (o *VisitOutcome) WriteJSON(w io.Writer) error { return report.WriteJSON(w, o) }
