package status

import (
	"fmt"
	"time"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/units"
	ksync "github.com/kproxy/kproxy/sync"
)

// needs returns what waits for the operator, the most serious first.
func (s Status) needs(c config.Replication) []state.Need {
	r, needs := s.Replication, append([]state.Need{}, s.refusalNeeds()...)
	if s.Refused == nil {
		needs = append(needs, s.found.grave...)
	} else if len(s.found.grave) > 0 { // the first of them is why
		needs = append(needs, s.found.grave[1:]...)
	}
	need := func(what, fix string) { needs = append(needs, state.Need{What: what, Fix: fix}) }
	const recover = "see replication.recovery in the configuration: with resynchronize a running 'kproxy serve' heals it; with stop, run 'kproxy resync'"
	switch {
	case r.Away != "":
		need(fmt.Sprintf("the source cannot be asked: %s; readers have what was applied by %s, and it is not known whether the slot is there, how far its log is, nor who applies",
			r.Away, r.Since.UTC().Format(time.DateTime)), "have the server of the source answer: kproxy examines it and goes on by itself")
	case r.Position == "": // it has not begun
	case !r.Exists:
		need(fmt.Sprintf("replication slot %s is gone, and changes with it", r.Slot), recover)
	case r.WALStatus == WALLost:
		need(fmt.Sprintf("replication slot %s has lost the log it needs", r.Slot), recover)
	case r.WALStatus == WALUnreserved:
		need(fmt.Sprintf("replication slot %s may lose the log it needs at any moment", r.Slot), "raise max_slot_wal_keep_size; "+FixBehind)
	case c.Alarm.Retained > 0 && r.Retained >= c.Alarm.Retained:
		need(fmt.Sprintf("the server keeps %s of its log for replication slot %s", units.Bytes(r.Retained), r.Slot), FixBehind)
	}
	if on := r.Standby; on != nil {
		switch {
		case on.Promoted: // 'kproxy check' says so
		case !on.Receives:
			need("the source is a standby that receives nothing from its primary: readers have what it has replayed", "see the standby's log, primary_conninfo, and whether the primary runs; a standby that is to take over is promoted, and kproxy goes on with it")
		case on.Primary != "":
			need("the primary of the source cannot be asked: "+on.Primary, "let source.primary lead there; without heartbeats the slot on the standby keeps log while the protected tables are idle")
		}
	}
	if r.Applier == nil && r.Away == "" {
		needs = append(needs, s.nobodyApplies())
	}
	for _, c := range s.Clients {
		if r.Applier != nil && c.Problem != "" {
			need(fmt.Sprintf("kproxy (%s) says: %s", c.Process, c.Problem), c.Fix)
		}
	}
	for _, c := range s.Clients {
		if c.Refused != "" {
			need(fmt.Sprintf("kproxy (%s) does not apply: %s", c.Process, c.Refused), ksync.FixPolicyRefused)
		}
	}
	needs = append(needs, s.workNeeds()...)
	for _, t := range s.Tables {
		if t.State == StateHalted || t.State == state.Withdrawn || t.State == state.Withheld && (t.Records > 0 || t.Uncounted) || t.State == StateUnpublished && t.Problem != "" {
			need(fmt.Sprintf("table %s is %s: %s", t.Name, t.State, t.Problem), t.Fix)
		}
		for _, a := range t.Audiences {
			if a.Problem != "" && t.State == StatePublished && (t.Records > 0 || t.Uncounted) {
				need(fmt.Sprintf("table %s shows audience %s nothing: %s", t.Name, a.Name, a.Problem), fixAudience(a))
			}
		}
		if p := t.Proof; p != nil && !p.Passed && !p.Earlier {
			need(fmt.Sprintf("table %s did not keep its promise when it was proved last", t.Name), "run 'kproxy verify', which says what fails, and take the table out of the configuration until it passes")
		}
	}
	return append(append(needs, s.found.alone...), s.viewNeeds()...)
}

// nobodyApplies says why no kproxy applies changes.
func (s Status) nobodyApplies() state.Need {
	const what = "no kproxy applies changes"
	if s.holder.Obstructs() {
		return state.Need{What: what + ": " + s.holder.Problem(), Fix: s.holder.Fix()}
	}
	for _, c := range s.Clients {
		if c.Problem != "" {
			return state.Need{What: fmt.Sprintf("%s: kproxy (%s) says: %s", what, c.Process, c.Problem), Fix: c.Fix}
		}
	}
	if s.Replication.Processes > 0 {
		return state.Need{What: what + ", though one runs", Fix: "see its log; another one takes over within seconds if it has just ended"}
	}
	return state.Need{What: what, Fix: "start 'kproxy serve'; where it runs, its log says why"}
}

// Values of pg_replication_slots.wal_status (PostgreSQL, chapter pg_replication_slots) at which
// the server may remove log that the slot needs.
const (
	WALExtended   = "extended"   // more than max_wal_size is kept
	WALUnreserved = "unreserved" // more than max_slot_wal_keep_size: the next checkpoint may drop it
	WALLost       = "lost"
)

// FixBehind applies to a slot that keeps log because changes are not applied fast enough.
const FixBehind = "see whether 'kproxy serve' runs and 'kproxy status' is well, for a long transaction at the source (pg_stat_activity), and for the database's load; " +
	"a slot of a kproxy that will not run again is to be dropped: SELECT pg_drop_replication_slot(...)"
