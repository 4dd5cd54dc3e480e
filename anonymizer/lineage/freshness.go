package lineage

import "time"

// Freshness tells how far the publication is behind the records. It is for the
// operator: that one more record waits would tell a reader of an arrival.
type Freshness struct {
	Waiting  int // records that were never published
	Stale    int // records that are published as they were
	Withheld int // records that waited in vain, and are not published for good
	Ghosts   int // rows that stand for nobody any more
	Rows     int // all published rows
	Classes  int
	// OldestWaiting and OldestStale are since when the first of them waits, or is
	// stale; zero where there is none.
	OldestWaiting, OldestStale time.Time
}

// Freshness counts.
func (l *Lineage) Freshness() Freshness {
	l.waiting.settle(l.waits)
	l.stale.settle(l.lags)
	return Freshness{
		Waiting: l.waiting.count, Stale: l.stale.count, Withheld: l.withheld,
		Ghosts: l.ghosts, Rows: l.rows, Classes: len(l.classes),
		OldestWaiting: l.waiting.oldest(), OldestStale: l.stale.oldest(),
	}
}

// Len is the number of records, published or not.
func (l *Lineage) Len() int { return len(l.records) }

// Least is how many records have to wait before a batch is tried.
func (l *Lineage) Least() int { return l.options.Least }
