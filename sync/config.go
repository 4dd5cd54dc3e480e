package sync

import (
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Config is what a Syncer needs. All fields but Progress, Changed, Failpoint
// and Logger are required.
type Config struct {
	// Owner connects as the role that owns the store and may replicate.
	Owner *pgx.ConnConfig
	// Reader is the role that is granted the published relations.
	Reader string
	// Publication and Slot are the names of the publication and of the replication slot.
	Publication string
	Slot        string
	// Tables are the protected tables.
	Tables []catalog.Publication
	// Seed makes the anonymization reproducible.
	Seed uint64
	// Progress is told how far the initial publication is; it must return quickly.
	Progress func(Progress)
	// Changed is called after every change of the Status; it must return quickly.
	Changed func(Status)
	// Failpoint is called at every named point at which tests inject a crash.
	Failpoint func(name string)
	Logger    *slog.Logger
}

// Names of the failpoints, in the order in which a fresh start passes them.
const (
	FailSlotCreated       = "slot-created"
	FailSnapshotCopied    = "snapshot-copied"
	FailBeforePublication = "before-publication"
	FailAfterPublication  = "after-publication"
	FailBeforeCommit      = "before-commit"
	FailAfterCommit       = "after-commit"
	FailBeforeAcknowledge = "before-acknowledge"
)

// Progress tells how far the publication of one table is.
type Progress struct {
	Table catalog.Name
	Stage string // reading, anonymizing or publishing
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
