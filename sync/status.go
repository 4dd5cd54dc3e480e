package sync

import (
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// State is where a Syncer stands in its life.
type State int

const (
	// Starting means: connecting, or loading the store into memory.
	Starting State = iota
	// Following means: another process applies; what is told comes from the store.
	Following
	// Streaming means: applying source transactions as they commit.
	Streaming
	// Reconnecting means: the server is out of reach, or refuses for a while; the
	// releases stand at their last position.
	Reconnecting
	// Stopped means: something needs the operator; see Status.Reason.
	Stopped
)

var stateNames = []string{
	Starting: "starting", Following: "following", Streaming: "streaming",
	Reconnecting: "reconnecting", Stopped: "stopped",
}

// String is the state's name in messages.
func (s State) String() string { return stateNames[s] }

// Status is one moment of a Syncer's life.
type Status struct {
	State State
	// Position is the source's commit position that every published release shows.
	Position pglogrepl.LSN
	// Reason says why a Syncer is reconnecting or has stopped, and Fix what the operator
	// can do.
	Reason, Fix string
	// Refused says why this process may not apply by its policy, in place of which number
	// InForce is in force; empty where it may. FixPolicyRefused is what can be done.
	Refused string
	InForce int64
	// Session is the server process of the session by which this process holds the lock for
	// applying; 0 where it does not.
	Session uint32
	// Stale is since when this process knows of nobody who applies changes: what readers have is of
	// then, or a little later. It is zero while changes are applied.
	Stale time.Time
	// Primary says what is wrong with the primary of a source that is a standby; empty where nothing is, and
	// where the source is none.
	Primary string
	// Slot is how the replication slot was found last.
	Slot SlotStatus
	// Tables tells each table's release.
	Tables map[catalog.Name]TableStatus
}

// SlotStatus is how far a slot is behind.
type SlotStatus struct {
	// Retained is how many bytes of WAL the server keeps for the slot.
	Retained int64
	// Behind is for how long the oldest change that readers do not see yet has been
	// committed, as far as a look every few seconds can tell.
	Behind time.Duration
	// WALStatus is pg_replication_slots.wal_status: reserved, extended, unreserved or
	// lost; empty while unknown.
	WALStatus string
}

// TableState is what readers may have of a table.
type TableState int

const (
	// Unpublished means: there is no release yet that fits the policy.
	Unpublished TableState = iota
	// Published means: readers see a release, which follows the source.
	Published
	// Halted means: the table needs the operator; its release must not be read.
	Halted
)

var tableStateNames = []string{Unpublished: "unpublished", Published: "published", Halted: "halted"}

// String is the state's name in messages.
func (s TableState) String() string { return tableStateNames[s] }

// TableStatus describes one table's release.
type TableStatus struct {
	State TableState
	// Preparing says that a new release, or the difference to the source, is being made.
	Preparing bool
	// Superseded says that readers have a release that was made for another policy, until the one
	// for this is ready.
	Superseded bool
	// Problem says why a table is halted, and Fix what the operator can do.
	Problem, Fix string
	// Outdated is the number of the policy in force where the problem is that this process
	// has another one; else 0.
	Outdated int64

	// Of a guarded table: see lineage.Freshness.
	Waiting, Stale, Expired, Ghosts, Untold int
	OldestWaiting, OldestStale              time.Time
	// Returned is how many records have come back, in a later transaction than that in which
	// they left, and have taken the rows back that they had left.
	Returned int

	// Of an immediate table, when it was last compared with a release made afresh: the
	// information that it lost (incremental.Partition.Loss), and that by what the other
	// one lost, 1 after it was re-anonymized. Of several parts the highest. 0 for never.
	Loss, Drift float64

	// Generation numbers the release, and the relations of the private store that it
	// is made of; 0 while there is none.
	Generation int64

	Records  int // records in the private store
	Classes  int // equivalence classes published, of all parts
	Withheld int // records while nothing of the table is published, else 0
	// Audiences tell what is published for audiences, by their names.
	Audiences map[string]AudienceStatus
	// Reason says why nothing of the table can be published, for the operator: it has
	// figures of the table. Empty where something is, and where an immediate table has no
	// records. Of a guarded table that has published nothing it is there whether or not
	// there are records, as readers must not learn of the first one that waits.
	Reason string
}

// AudienceStatus describes what an audience sees of a table.
type AudienceStatus struct {
	Classes int // unions of the table's classes
	// Withheld counts the records of a guarded table that the audience does not see, whether they wait, here or in a
	// finer release, or are withheld for good. What is stored tells of each.
	Withheld int `json:"-"`
	// NextClass is the number that the next class of a guarded table will have. The store keeps it.
	NextClass incremental.ClassID `json:",omitempty"`
	// Reason says why nothing is published for the audience, as TableStatus.Reason does.
	Reason string `json:",omitempty"`
}
