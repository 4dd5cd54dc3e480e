package catalog

import (
	"fmt"
	"time"
)

// Updates says when changes of a protected table become visible.
type Updates struct {
	Mode UpdateMode
	// The rest is for Guarded; see lineage.Options.

	// Crowd times k is how many persons a new class has at least; at least 1, or 0 for
	// DefaultCrowd. Larger classes show deletions
	// and changes sooner and are generalized further.
	Crowd int
	// Batch is how many waiting records are published together; 0 for as few as are ever
	// tried (lineage.Options.Least).
	Batch int
	// Within is how long a record waits before a smaller batch is tried; 0 for as long
	// as it takes.
	Within time.Duration
	// Deadline is how long a record waits before it stays withheld for good; 0 for
	// never.
	Deadline time.Duration

	// Rows and RowsWithin are for tables that are released together, which have neither
	// Crowd (that of Knowledge counts) nor Deadline; see people.GuardedOptions. Batch and Within
	// are about persons there.
	Rows       int           `json:",omitempty"`
	RowsWithin time.Duration `json:",omitempty"`
}

// UpdateMode is a way of making changes visible. The zero UpdateMode is none: there is
// no default, since what each of them gives away is for the operator to decide.
type UpdateMode int

const (
	// Immediate shows every commit of the source at once (Song et al. 2010). A reader
	// who compares versions sees which class a person joined or left.
	Immediate UpdateMode = iota + 1
	// Guarded shows changes only as far as a reader who compares versions learns no
	// more of anybody than from one release (anonymizer/lineage).
	Guarded
	// Mirrored is of tables that are not protected: rows are published as they are, at once.
	Mirrored
)

var updateModeNames = []string{Immediate: "immediate", Guarded: "guarded", Mirrored: "mirrored"}

// String is the mode's name in a policy.
func (m UpdateMode) String() string {
	if m <= 0 || int(m) >= len(updateModeNames) {
		return fmt.Sprintf("UpdateMode(%d)", int(m))
	}
	return updateModeNames[m]
}

// GivesAway says what readers of a table with such updates learn by comparing versions;
// empty where it is no more than from one release, and of tables that are not protected. docs/attack.md has the measurements.
func (m UpdateMode) GivesAway() string {
	if m == Guarded || m == Mirrored {
		return ""
	}
	return "whoever polls counts, and knows when somebody came, left or changed, learns their sensitive values"
}

// What guarded Updates are where the policy does not say.
const (
	DefaultCrowd = 2
	// DefaultBatch and DefaultWithin publish a thousand newcomers together, or those of
	// a day. The records of one batch have only each other to be alike to: the more of
	// them there are, the less they are generalized, and the rarer they violate the
	// constraints together.
	DefaultBatch  = 1000
	DefaultWithin = 24 * time.Hour
	// DefaultRowsWithin leaves a row without keys in one of ten cases where persons have a row a year
	// (anonymizer/people/DESIGN.md); half of it does so in every other case.
	DefaultRowsWithin = 60 * 24 * time.Hour
)
