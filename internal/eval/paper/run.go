package paper

import (
	"context"
	"math"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// run is one release of a table of one part, and how long it took.
type run struct {
	release *anonymizer.Release
	seconds float64
}

// anonymize runs the method of that name.
func (s Setup) anonymize(ctx context.Context, method string, t *anonymizer.Table, c privacy.ConstraintSet) (run, error) {
	m, err := methods.Named(method)
	if err != nil {
		return run{}, err
	}
	return s.anonymizeBy(ctx, m, t, c)
}

// anonymizeBy runs a method that must accept the constraints, which must tie all
// attributes together.
func (s Setup) anonymizeBy(ctx context.Context, m anonymizer.Method, t *anonymizer.Table, c privacy.ConstraintSet) (run, error) {
	var parts []anonymizer.Part
	seconds, err := s.timed(func() (err error) {
		parts, err = anonymizer.Anonymize(ctx, m, t, c, anonymizer.Options{Seed: s.Seed})
		return err
	})
	if err != nil {
		return run{}, err
	}
	return run{parts[0].Release, seconds}, nil
}

// A short run is repeated, and the shortest counts: the first one warms the caches,
// and another program can delay any.
const (
	shortRun   = 1.0 // seconds
	repeatedBy = 4
)

// timed is the time that work takes, in seconds.
func (s Setup) timed(work func() error) (float64, error) {
	least := math.Inf(1)
	for range repeatedBy {
		start := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		least = min(least, time.Since(start).Seconds())
		if s.Untimed || least > shortRun {
			break
		}
	}
	return least, nil
}

// choose takes the shorter list for a quick look.
func (s Setup) choose(whole, quick []int) []int {
	if s.Quick {
		return quick
	}
	return whole
}
