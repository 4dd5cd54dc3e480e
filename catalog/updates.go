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
}

// UpdateMode is a way of making changes visible.
type UpdateMode int

const (
	// Immediate shows every commit of the source at once (Song et al. 2010). A reader
	// who compares versions sees which class a person joined or left.
	Immediate UpdateMode = iota
	// Guarded shows changes only as far as a reader who compares versions learns no
	// more of anybody than from one release (anonymizer/lineage).
	Guarded
)

var updateModeNames = []string{Immediate: "immediate", Guarded: "guarded"}

// String is the mode's name in a policy.
func (m UpdateMode) String() string {
	if m < 0 || int(m) >= len(updateModeNames) {
		return fmt.Sprintf("UpdateMode(%d)", int(m))
	}
	return updateModeNames[m]
}

// What Updates are where the policy does not say.
const (
	DefaultCrowd = 2
	// DefaultBatch and DefaultWithin publish a thousand newcomers together, or those of
	// a day. The records of one batch have only each other to be alike to: the more of
	// them there are, the less they are generalized, and the rarer they violate the
	// constraints together.
	DefaultBatch  = 1000
	DefaultWithin = 24 * time.Hour
)
