package observe

import (
	"testing"
	"time"
)

// TestAllowance has failed logins come faster than they may be written down.
func TestAllowance(t *testing.T) {
	t.Parallel()
	var a allowance
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	count := func(n int, every time.Duration) (admitted int) {
		for range n {
			now = now.Add(every)
			if a.admit(now) {
				admitted++
			}
		}
		return admitted
	}
	if got := count(rejectionsAtOnce, 0); got != rejectionsAtOnce {
		t.Errorf("%d of the first are admitted", got)
	}
	if got := count(10_000, time.Millisecond); got < 190 || got > 210 {
		t.Errorf("%d are admitted in 10 seconds, want 200", got)
	}
	now = now.Add(time.Hour)
	if got := count(2*rejectionsAtOnce, 0); got != rejectionsAtOnce {
		t.Errorf("after an hour %d are admitted at once", got)
	}
}
