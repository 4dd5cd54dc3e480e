package main

import (
	"sync"
	"time"
)

// ledger holds who has been admitted and is not visible yet, of each writer in the order
// of commits, which is that of the patients' numbers.
type ledger struct {
	mu      sync.Mutex
	writers [][]admission
}

// admission is a patient's number and when the transaction that brought him or her had
// committed.
type admission struct {
	patient   int64
	committed time.Time
}

func newLedger(writers int) *ledger { return &ledger{writers: make([][]admission, writers)} }

func (g *ledger) add(writer int, admissions []admission) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers[writer] = append(g.writers[writer], admissions...)
}

// take removes the admissions up to and including a patient's number.
func (g *ledger) take(upTo int64) []admission {
	g.mu.Lock()
	defer g.mu.Unlock()
	var taken []admission
	for w, pending := range g.writers {
		n := 0
		for n < len(pending) && pending[n].patient <= upTo {
			n++
		}
		taken = append(taken, pending[:n]...)
		g.writers[w] = pending[n:]
	}
	return taken
}
