package lineage

import (
	"math"
	"time"
)

// Freshness reports how far the publication is behind the records. It is for the operator: that one
// more record waits would reveal an arrival to a reader.
type Freshness struct {
	Waiting  int // records that were never published
	Stale    int // records that are published as they were
	Withheld int // records that are not published for good
	Ghosts   int // rows that stand for nobody any more
	Untold   int // how many more rows weights count than stand for somebody; below 0 fewer
	Rows     int // all published rows
	Classes  int
	// OldestWaiting and OldestStale are since when the first of them waits, or is
	// stale; zero where there is none.
	OldestWaiting, OldestStale time.Time
}

// Freshness counts.
func (l *Lineage) Freshness() Freshness {
	return Freshness{
		Waiting: l.backlog.waiting.count, Stale: l.backlog.stale.count, Withheld: l.backlog.withheld,
		Ghosts: l.released.ghosts, Untold: l.released.ghosts - int(math.Round(l.released.tally.LeftOut())), Rows: l.released.rows, Classes: l.released.classes.count(),
		OldestWaiting: l.backlog.oldest(&l.backlog.waiting), OldestStale: l.backlog.oldest(&l.backlog.stale),
	}
}

// Len is the number of records, published or not.
func (l *Lineage) Len() int { return l.records.count() }

// Least is how many records have to wait before a batch is tried.
func (l *Lineage) Least() int { return l.options.Least }
