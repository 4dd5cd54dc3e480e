package paper

import (
	"context"
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

// anonymize runs a method that must accept the constraints, which must tie all
// attributes together.
func anonymize(ctx context.Context, method string, t *anonymizer.Table, c privacy.ConstraintSet, seed uint64) (run, error) {
	m, err := methods.Named(method)
	if err != nil {
		return run{}, err
	}
	start := time.Now()
	parts, err := anonymizer.Anonymize(ctx, m, t, c, anonymizer.Options{Seed: seed})
	if err != nil {
		return run{}, err
	}
	return run{parts[0].Release, time.Since(start).Seconds()}, nil
}

// choose takes the shorter list for a quick look.
func (s Setup) choose(whole, quick []int) []int {
	if s.Quick {
		return quick
	}
	return whole
}
