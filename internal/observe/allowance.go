package observe

import (
	"sync"
	"time"
)

const (
	// rejectionsAtOnce is how many logins that fail are written down however fast they come.
	rejectionsAtOnce = 1000
	// rejectionPace is how soon one more may be: twenty a second fill a disk in years.
	rejectionPace = 50 * time.Millisecond
)

// allowance bounds how many failed logins are written down: anybody can cause them, and
// must not be able to fill the disk that the audit log is on. Metrics count all of them.
type allowance struct {
	mu   sync.Mutex
	used time.Duration // what is not earned back yet
	at   time.Time
}

// admit tells whether one more may be written at a moment.
func (a *allowance) admit(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if earned := now.Sub(a.at); earned > 0 {
		a.used, a.at = max(0, a.used-earned), now
	}
	if a.used+rejectionPace > rejectionsAtOnce*rejectionPace {
		return false
	}
	a.used += rejectionPace
	return true
}
