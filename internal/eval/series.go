package eval

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kproxy/kproxy/internal/dataset"
)

// Keeper keeps measurements, so that a series that was interrupted goes on; journal.Journal is
// one.
type Keeper interface {
	// Get fills in the measurement of the key and tells whether there is one.
	Get(key string, result any) (bool, error)
	Put(key string, result any) error
}

// Series runs the cases of a grid one after the other.
type Series struct {
	Table *dataset.Table
	Cases []Case
	// Options are those of each run; their seed is the first one.
	Options Options
	// Seeds is how many seeds each case is run with; 0 means 1.
	Seeds int
	// Keeper, if not nil, gives the runs that it has, and is given the others as they end.
	Keeper Keeper
	// Progress, if not nil, is called with the run that is at a stage, counted from 0: each
	// case with each seed is one.
	Progress func(run int, c Case, stage string, done, total int)
}

// Runs is how many runs there are in all.
func (s Series) Runs() int { return len(s.Cases) * s.seeds() }

func (s Series) seeds() int { return max(1, s.Seeds) }

// Measure measures the cases in their order. With the error, which is Measure's or the
// keeper's, it returns the measurements of the cases that were done before.
func (s Series) Measure(ctx context.Context) ([]Measurement, error) {
	var all []Measurement
	for i, c := range s.Cases {
		m, err := s.measureCase(ctx, i, all)
		if err != nil {
			return all, err
		}
		m.Method, m.SameAs = c.Method, c.SameAs
		all = append(all, m)
	}
	return all, nil
}

// measureCase measures one case with all seeds, or finds the earlier one that is the same.
func (s Series) measureCase(ctx context.Context, i int, before []Measurement) (Measurement, error) {
	c := s.Cases[i]
	if c.SameAs != "" {
		for j, other := range s.Cases[:i] {
			if other.Method == c.SameAs && other.sameParameters(c) {
				return before[j], nil
			}
		}
	}
	runs := make([]Measurement, s.seeds())
	for n := range runs {
		var err error
		if runs[n], err = s.run(ctx, i*s.seeds()+n, c, s.Options.Seed+uint64(n)); err != nil {
			return Measurement{}, err
		}
	}
	return together(runs), nil
}

// run is one run, or what is kept of it.
func (s Series) run(ctx context.Context, number int, c Case, seed uint64) (Measurement, error) {
	var m Measurement
	key, err := c.key(seed)
	if err != nil {
		return m, err
	}
	if s.Keeper != nil {
		if found, err := s.Keeper.Get(key, &m); err != nil || found {
			return m, err
		}
	}
	o := s.Options
	o.Seed = seed
	o.Progress = func(stage string, done, total int) {
		if s.Progress != nil {
			s.Progress(number, c, stage, done, total)
		}
	}
	if m, err = Measure(ctx, s.Table, c, o); err != nil || s.Keeper == nil {
		return m, err
	}
	return m, s.Keeper.Put(key, m)
}

// key names a run among those on the same table.
func (c Case) key(seed uint64) (string, error) {
	text, err := json.Marshal(struct {
		Method, Effort string
		Constraints    []string
		Seed           uint64
	}{c.Method, c.Effort.String(), c.Constraints(), seed})
	if err != nil {
		return "", fmt.Errorf("naming a run: %w", err)
	}
	return string(text), nil
}

// together is the measurement of runs that differ in their seeds.
func together(runs []Measurement) Measurement {
	m := runs[0]
	if len(runs) == 1 || m.Refused != "" {
		return m
	}
	of := func(figure func(Measurement) float64) Range {
		var figures []float64
		for _, run := range runs {
			if figure(run) == None {
				return Range{}
			}
			figures = append(figures, figure(run))
		}
		return RangeOf(figures)
	}
	m.Spread = &Spread{
		Seeds: len(runs),
		Loss:  of(func(m Measurement) float64 { return m.Loss }), QueryError: of(func(m Measurement) float64 { return m.QueryError }),
	}
	m.Loss = m.Spread.Loss.Mean
	if m.QueryError != None {
		m.QueryError = m.Spread.QueryError.Mean
	}
	return m
}
