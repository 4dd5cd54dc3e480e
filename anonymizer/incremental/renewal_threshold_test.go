package incremental_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// TestRenewalThreshold follows a threshold through the life of a table.
func TestRenewalThreshold(t *testing.T) {
	t.Parallel()
	p := maintained(t, 1000) // of which 500 are left
	r := p.BeginRenewal()
	if err := r.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	drift := r.Drift() - 1
	if drift < 0.01 {
		t.Fatalf("a drift of %v is none", r.Drift())
	}
	for _, test := range []struct {
		name  string
		share float64
		do    func(*incremental.RenewalThreshold)
		due   bool
	}{
		{"never", 0, func(h *incremental.RenewalThreshold) { h.Fresh(0); h.Changed(10_000) }, false},
		{"nothing has changed", 0.1, func(*incremental.RenewalThreshold) {}, false},
		{"unknown, a few changes", 0.1, func(h *incremental.RenewalThreshold) { h.Changed(4) }, false},
		{"unknown", 0.1, func(h *incremental.RenewalThreshold) { h.Changed(5) }, true},
		{"drifted", drift / 2, func(h *incremental.RenewalThreshold) { h.Fresh(r.Loss()); h.Changed(5) }, true},
		{"looked at already", drift / 2, func(h *incremental.RenewalThreshold) {
			h.Fresh(r.Loss())
			h.Changed(5)
			h.Due(p)
		}, false},
		{"not so far", 2 * drift, func(h *incremental.RenewalThreshold) { h.Fresh(r.Loss()); h.Changed(499) }, false},
		{"all are others", 2 * drift, func(h *incremental.RenewalThreshold) { h.Fresh(r.Loss()); h.Changed(500) }, true},
		{"failed", drift / 2, func(h *incremental.RenewalThreshold) { h.Failed(); h.Changed(499) }, false},
		{"failed long ago", drift / 2, func(h *incremental.RenewalThreshold) { h.Failed(); h.Changed(500) }, true},
	} {
		threshold := incremental.RenewalThreshold{Share: test.share}
		test.do(&threshold)
		if got := threshold.Due(p); got != test.due {
			t.Errorf("%s: due is %v", test.name, got)
		}
	}
	for share, want := range map[float64]bool{drift / 2: true, 2 * drift: false} {
		threshold := incremental.RenewalThreshold{Share: share}
		if got := threshold.Measured(r); got != want {
			t.Errorf("a drift of %v is to be adopted from %v on: %v", drift, share, got)
		}
	}
}
