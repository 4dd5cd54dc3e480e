package anonymizer

import "sync"

// Tracker counts the records that have found their class and reports them to
// Options.Progress, about a hundred times in a run. It is safe for concurrent
// use.
type Tracker struct {
	mutex                 sync.Mutex
	report                func(done, total int)
	done, total, reported int
}

// progressSteps is about how often a whole run reports.
const progressSteps = 100

// Track returns a tracker of a run over total records.
func (o Options) Track(total int) *Tracker {
	return &Tracker{report: o.Progress, total: total}
}

// Add counts more records as done; a count beyond the total is not reported.
func (t *Tracker) Add(records int) {
	if t.report == nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.done = min(t.done+records, t.total)
	if t.done == t.total && t.reported < t.total || t.done-t.reported > t.total/progressSteps {
		t.reported = t.done
		t.report(t.done, t.total)
	}
}
