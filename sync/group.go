package sync

import (
	"slices"
	"time"
)

// groupRows bounds the changes of a group. Tests lower it.
var groupRows = maxGroupRows

const (
	// maxGroupRows and groupTime bound how many source transactions go into one
	// transaction of the store while more are waiting: up to maxGroupRows changes, for
	// groupTime or for as long as writing the last group took, up to maxGroupTime, and
	// until that one is written. A class that several changes of a group touch is
	// written once. More is waiting as well where the server sends what was committed groupTime
	// ago.
	maxGroupRows = 60000
	groupTime    = 50 * time.Millisecond
	maxGroupTime = 500 * time.Millisecond
	// idleBytes, and the interval of heartbeats, bound how far an idle stream may be ahead of
	// the stored position, so that the slot does not retain WAL of other tables.
	idleBytes = 16 << 20
)

// spillRows bounds the rows that are held in memory for a table until the end of their
// transaction. A group without large ones has fewer. Tests lower it.
var spillRows = maxGroupRows + maxGroupRows/2

// spillBytes bounds the bytes of their values likewise, and groupBytes those of a group.
const (
	spillBytes = 64 << 20
	groupBytes = spillBytes / 4
)

// aheadRows is the number of changes from which a group is settled before the batch before
// it is committed, when no more of the stream has come.
func aheadRows() int { return groupRows / 12 }

// group is what was applied since the last batch began: the changes of source transactions
// that one transaction of the store writes.
type group struct {
	rows         int           // changes
	began        time.Time     // when the first change came
	moreReceived bool          // more of the stream is here already
	lagging      bool          // the server sends what was committed a while ago, and has more of it
	writeTime    time.Duration // how long writing the last group took, up to maxGroupTime
}

// count counts a change.
func (g *group) count() {
	if g.rows == 0 {
		g.began = time.Now()
	}
	g.rows++
}

// isComplete says that the group need not wait for more of the stream. While batches are under
// way, it is settled ahead if it is worth a batch and nothing else has come.
func (g *group) isComplete(of tables, batches int) bool {
	switch {
	case g.isFull(of):
		return true
	case batches == 0:
		return !g.moreReceived && !g.lagging || g.wait() <= 0
	default:
		return !g.moreReceived && g.rows >= aheadRows() && batches < maxBatches && !of.awaitShowing()
	}
}

// wait is for how long the group may still grow while there is more of the stream.
func (g *group) wait() time.Duration { return time.Until(g.began.Add(max(groupTime, g.writeTime))) }

// isLate says that a transaction was sent so long after its commit that the delay of a group is no more than
// that. The rate is then bounded by the server's reading and sending, or by batches with which it competes for
// processors. What it sends comes in small pieces, and each would be a batch.
func isLate(lag time.Duration) bool { return lag >= groupTime }

// isFull says that the group is as large as memory and the delay for readers allow.
func (g *group) isFull(of tables) bool {
	return g.rows >= groupRows || slices.ContainsFunc(of, func(t *table) bool { return t.pending.bytes >= groupBytes })
}
