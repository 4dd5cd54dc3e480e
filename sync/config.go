package sync

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/seal"
)

// Config is what a Syncer needs: Owner, Reader, Publication, Slot, Tables; the rest has
// defaults.
type Config struct {
	// Owner connects as the role that owns the store, to the database of store and release.
	Owner *pgx.ConnConfig
	// Source connects to the database of the protected tables, as a role that may read them and
	// replicate; nil means that they are in the store's database, and Owner does.
	Source *pgx.ConnConfig
	// Primary connects to the primary of a Source that is a physical standby, likewise. With it, Source may
	// be one (PostgreSQL 16 and later); a standby that was promoted goes on as a primary.
	Primary *pgx.ConnConfig
	// Reader is the role that is granted the published relations.
	Reader string
	// Publication and Slot are the names of the publication and of the replication slot.
	Publication string
	Slot        string
	// Tables are the protected tables.
	Tables []catalog.Publication
	// Whole is the whole policy that they are of; zero where it does not matter whether it is the
	// one that the operator accepted last.
	Whole Policy
	// Seal is the keys that seal the private stores of tables whose policies say so; nil where none does.
	// Those are in another database than the source.
	Seal *seal.Ring
	// Seed makes the anonymization reproducible.
	Seed uint64
	// Progress is told how far the initial publication is; it must return quickly.
	Progress func(Progress)
	// Changed is called after every change of the Status; it must return quickly.
	Changed func(Status)
	// Recovery says what is done where changes may have been lost.
	Recovery Recovery
	// Unproved says that a source in a database of its own has not been examined, and Tables are
	// [KeptPublications]; the others have a policy alone. Until a reload, the status tells what the store
	// has, and nothing is applied.
	Unproved bool
	// Superseded says what readers of a table whose policy has changed get until its release is ready.
	Superseded Superseded
	// Now is the wall clock, by which guarded tables wait; nil means time.Now.
	Now func() time.Time
	// Heartbeat is how often an idle stream is given a message, so that its position
	// moves on; 0 means DefaultHeartbeat.
	Heartbeat time.Duration
	// Failpoint is called at every named point at which tests inject a crash.
	Failpoint func(name string)
	Logger    *slog.Logger

	// Distribute spreads the rows of releases over the workers of Citus, whose coordinator Owner connects to. Each table
	// is mirrored, or has immediate updates and one part, and neither linked tables nor audiences.
	Distribute bool

	// ranges is how tables are read for their publication; zero means by their size.
	ranges readingPlan
	// spreading is how the store's tables are spread over servers; nil means not at all.
	spreading spreading
}

// DefaultHeartbeat is how often an idle stream is given a message.
const DefaultHeartbeat = 10 * time.Second

// Superseded is what becomes of a release that was made for another policy than that in force, until
// the one for that is ready. Guarded tables are halted instead.
type Superseded int

const (
	// KeepStrong leaves it to readers if it promises as much.
	KeepStrong Superseded = iota
	// KeepAny also if it promises less, and has the same columns.
	KeepAny
	// KeepNone takes it from readers.
	KeepNone
)

// Recovery is what is done where changes may have been lost: the slot is gone,
// invalidated or ahead of the store, or the server is another one than before.
type Recovery int

const (
	// ResynchronizeOnLoss makes a new slot and applies the difference between each table and
	// its store. A guarded table is halted where readers may have seen what this server
	// does not know of.
	ResynchronizeOnLoss Recovery = iota
	// StopOnLoss stops until the operator asks for that.
	StopOnLoss
)

// Names of the failpoints, in the order in which a fresh start passes them.
const (
	FailSlotCreated       = "slot-created"
	FailPositionStored    = "position-stored"
	FailBeforeStream      = "before-stream" // starts
	FailSnapshotTaken     = "snapshot-taken"
	FailSnapshotReading   = "snapshot-reading" // half of it is read
	FailSnapshotCopied    = "snapshot-copied"
	FailRecordsFilled     = "records-filled"
	FailBeforePublication = "before-publication"
	FailAfterPublication  = "after-publication"
	FailBeforeJoin        = "before-join"
	FailAfterJoin         = "after-join"
	FailSpilled           = "spilled"
	FailBeforeCommit      = "before-commit"
	FailAfterCommit       = "after-commit"
	FailBeforeAcknowledge = "before-acknowledge"
	FailHandedOver        = "handed-over" // tables in memory, to the next session
	FailBeforeDrop        = "before-drop" // of a table that was taken out of the configuration
	FailAfterDrop         = "after-drop"
	FailBeforeRelink      = "before-relink" // of a guarded table whose audiences change
	FailAfterRelink       = "after-relink"  // before the views of those that were removed are dropped
	FailStoreSeen         = "store-seen"    // by all connections that are to load a packed table
	FailLoading           = "loading"       // half of such a table is loaded
)

// Progress tells how far the publication of one table is.
type Progress struct {
	Table catalog.Name
	Stage string // reading, anonymizing, publishing, loading or comparing
	Done  int    // records
	Total int    // records; 0 while unknown
}

func (c *Config) validate() error {
	var mistakes []error
	require := func(ok bool, what string) {
		if !ok {
			mistakes = append(mistakes, errors.New("sync: "+what))
		}
	}
	require(c.Owner != nil, "Owner is not set")
	require(c.Reader != "", "Reader is not set")
	require(c.Publication != "", "Publication is not set")
	require(c.Slot != "", "Slot is not set")
	require(len(c.Tables) > 0, "there is no table to protect")
	sealed := slices.ContainsFunc(c.Tables, func(p catalog.Publication) bool { return p.Policy.Sealed })
	require(!sealed || c.Seal != nil, "Seal is not set, and a private store is to be sealed")
	require(!sealed || c.Source != nil, "a private store in the source's database is to be sealed")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Distribute {
		for _, p := range c.Tables {
			mistakes = append(mistakes, distributable(p))
		}
		c.spreading = spreadByCitus(c.Reader)
	}
	if c.ranges.blocks == 0 {
		c.ranges.blocks = rangeBlocks
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = DefaultHeartbeat
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	if c.Changed == nil {
		c.Changed = func(Status) {}
	}
	if c.Failpoint == nil {
		c.Failpoint = func(string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(mistakes...)
}
