package work

import (
	"sync"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

// Board keeps how far the tables are that a process publishes. The zero value is ready to use, by any
// number of goroutines.
type Board struct {
	mu      sync.Mutex
	entries map[catalog.Name]*entry
}

// Show notes where a table stands.
func (b *Board) Show(at ksync.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entries == nil {
		b.entries = make(map[catalog.Name]*entry)
	}
	if b.entries[at.Table] == nil {
		b.entries[at.Table] = &entry{}
	}
	b.entries[at.Table].tell(at, time.Now())
}

// Of returns the work on a table by the status of replication, nil if there is none in this process.
// A table on which there is none any more is forgotten.
func (b *Board) Of(table catalog.Name, of ksync.Status) *state.Work {
	b.mu.Lock()
	defer b.mu.Unlock()
	status := of.Tables[table]
	if of.Session == 0 || status.State == ksync.Halted || !status.Preparing && status.State != ksync.Unpublished {
		delete(b.entries, table)
		return nil
	}
	w := &state.Work{Stage: "waiting", Problem: status.Problem, Fix: status.Fix}
	if e := b.entries[table]; e != nil && w.Problem == "" {
		w.Stage, w.Records, w.Left = e.at.Stage, rounded(e.at.Done), e.left().Round(time.Second).Seconds()
		if e.at.Total > 0 {
			percent := 100 * e.at.Done / e.at.Total
			w.Percent = &percent
		}
	}
	return w
}

// rounded is a number to two digits: whoever may connect to the database may hear of it.
func rounded(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}
