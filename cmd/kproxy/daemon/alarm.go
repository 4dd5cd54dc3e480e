package daemon

import (
	"log/slog"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// alarms remembers which bounds of replication are passed, so that the log says once
// that one is, and once that it no longer is.
type alarms struct{ retained, behind, endangered bool }

// look holds what was measured against the bounds. A process that follows measures
// nothing: the one that applies tells.
func (a *alarms) look(log *slog.Logger, bounds config.Alarm, replication ksync.Status) {
	if replication.State == ksync.Following {
		*a = alarms{}
		return
	}
	slot := replication.Slot
	if passed(&a.retained, slot.Retained, bounds.Retained) {
		if a.retained {
			log.Warn("the server keeps much of its write-ahead log for the replication slot, which may fill its disk",
				"retained_bytes", slot.Retained, "alarm_bytes", bounds.Retained, "fix", status.FixBehind)
		} else {
			log.Info("the server keeps little of its write-ahead log for the replication slot again", "retained_bytes", slot.Retained)
		}
	}
	if passed(&a.behind, slot.Behind, bounds.Behind) {
		if a.behind {
			log.Warn("readers do not see changes that are old", "behind", slot.Behind.Round(time.Second), "alarm", bounds.Behind, "fix", status.FixBehind)
		} else {
			log.Info("readers see the changes again", "behind", slot.Behind.Round(time.Second))
		}
	}
	endangered := slot.WALStatus == status.WALExtended || slot.WALStatus == status.WALUnreserved
	switch {
	case endangered && !a.endangered:
		log.Warn("the replication slot is behind so far that the server may drop the log it needs", "wal_status", slot.WALStatus,
			"fix", "raise max_slot_wal_keep_size and max_wal_size until kproxy has caught up; "+status.FixBehind)
	case a.endangered && !endangered && slot.WALStatus != "" && slot.WALStatus != status.WALLost:
		log.Info("the server keeps the log that the replication slot needs again", "wal_status", slot.WALStatus)
	}
	a.endangered = endangered
}

// passed updates whether a bound is passed and tells whether that changed. What was
// passed has to fall below three quarters of the bound, so that a value about the bound
// does not fill the log.
func passed[T ~int64](state *bool, value, bound T) bool {
	before := *state
	switch {
	case bound == 0:
		*state = false
		return false
	case value >= bound:
		*state = true
	case value < bound-bound/4:
		*state = false
	}
	return *state != before
}
