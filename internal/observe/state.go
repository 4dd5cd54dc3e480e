package observe

import (
	"time"

	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/answers"
	"github.com/kproxy/kproxy/proxy/pool"
)

// State is what is asked for at each scrape.
type State struct {
	Counts      proxy.Counts
	MaxSessions int
	Pool        pool.Report
	Cache       Cache
	Answers     answers.Stats
	Audit       Audit
	// Replication is nil before replication has begun.
	Replication *Replication
	Tables      []Table // in the configuration's order
	// Certificates are those in use.
	Certificates []Certificate
	// ProofInterval is how often releases are proved, or as often as that can be done where
	// proofs take long; 0 where nobody proves them regularly.
	ProofInterval time.Duration
}

// Cache is that of rewritten statements.
type Cache struct {
	Entries   int
	Bytes     int64
	Evictions uint64 // since the process began
}

// Audit is how the checks of the guarantees do, on which serving rests.
type Audit struct {
	Passes bool      // the last one that could be made has
	At     time.Time // of it; zero = none has been made since the start
	Failed uint64    // that have failed, ever
}

// Replication is how far the releases are behind their source.
type Replication struct {
	State string // of sync.State
	// Unapplied is since when this process has known of nobody who applies changes; zero where it knows one.
	Unapplied time.Time
	// Applies says that this process applies the changes; the rest is known to it alone.
	Applies   bool
	Retained  int64         // bytes of WAL that the server keeps for the slot
	Behind    time.Duration // how old the oldest change is that readers do not see
	WALStatus string        // pg_replication_slots.wal_status; "" = unknown
}

// Table is one protected table. All but its name, State, Preparing, Generation and Proof is
// for who may know what is not published: see Options.Tables.
type Table struct {
	Name       string
	State      string // unpublished, published, halted or withdrawn
	Preparing  bool
	Generation int64
	Proof      *Proof // the last one, perhaps of an earlier release; nil before the first

	Records, Classes, Withheld                        int
	Waiting, Stale, Expired, Ghosts, Untold, Returned int
	OldestWaiting, OldestStale                        time.Time // zero = none
	Loss, Drift                                       float64   // 0 = never measured

	Audiences []Audience // that see it, from the finest to the coarsest
}

// Audience is what an audience sees of a table. All but its name and State is for who may know what is not published.
type Audience struct {
	Name              string
	State             string // as Table, of what the audience sees
	Classes, Withheld int
}

// Certificate is one in use. Use and Subject tell it from others.
type Certificate struct {
	Use, Subject string
	Warns, Until time.Time // from when on it should be replaced, and until when it is valid
}

// Proof is what the verifier has found of a table.
type Proof struct {
	Generation int64 // of the release that was proved
	At         time.Time
	Passed     bool
	Smallest   int64 // class, in records, or in rows where the table is guarded
	// Audiences have the smallest class that each audience sees.
	Audiences map[string]int64
}
