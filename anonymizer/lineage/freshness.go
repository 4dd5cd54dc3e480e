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
	l.waiting.settle(l.stands)
	l.stale.settle(l.stands)
	return Freshness{
		Waiting: l.waiting.count, Stale: l.stale.count, Withheld: l.withheld,
		Ghosts: l.ghosts, Rows: l.rows, Classes: l.classes.count(),
		OldestWaiting: l.oldest(&l.waiting), OldestStale: l.oldest(&l.stale),
	}
}

// Len is the number of records, published or not.
func (l *Lineage) Len() int { return l.records.count() }

// Least is how many records have to wait before a batch is tried.
func (l *Lineage) Least() int { return l.options.Least }
