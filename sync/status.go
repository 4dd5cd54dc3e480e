package sync

import (
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
)

// State is where a Syncer stands in its life.
type State int

const (
	// Starting means: connecting, or loading the store into memory.
	Starting State = iota
	// Publishing means: making the initial release under the slot's snapshot.
	Publishing
	// Streaming means: applying source transactions as they commit.
	Streaming
	// Reconnecting means: the server is out of reach; the release stands at its last position.
	Reconnecting
	// Stopped means: something needs the operator; see Status.Reason.
	Stopped
)

var stateNames = []string{
	Starting: "starting", Publishing: "publishing", Streaming: "streaming",
	Reconnecting: "reconnecting", Stopped: "stopped",
}

// String is the state's name in messages.
func (s State) String() string { return stateNames[s] }

// Status is one moment of a Syncer's life.
type Status struct {
	State State
	// Position is the source's commit position that the release shows.
	Position pglogrepl.LSN
	// Reason says why a Syncer is reconnecting or has stopped.
	Reason string
	// Tables tells each table's release.
	Tables map[catalog.Name]TableStatus
}

// TableStatus describes one table's release.
type TableStatus struct {
	// Of a guarded table: see lineage.Freshness.
	Waiting, Stale, Expired, Ghosts int
	OldestWaiting, OldestStale      time.Time

	// Of an immediate table, when it was last compared with a release made afresh: the
	// information that it lost (incremental.Partition.Loss), and that by what the other
	// one lost, 1 after it was re-anonymized. Of several parts the highest. 0 for never.
	Loss, Drift float64

	Records  int // records in the private store
	Classes  int // equivalence classes published, of all parts
	Withheld int // records while nothing of the table is published, else 0
	// Reason says why records are withheld, for the operator: it has figures of the
	// table. Empty where all are published.
	Reason string
}
