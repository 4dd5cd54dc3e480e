package pool

import (
	"slices"
	"time"
)

// Identity tells one running server, and a database on it, from all others.
type Identity struct {
	System   string // pg_control_system().system_identifier: that of the cluster and all its copies
	Database string // the OID of the database
	Started  string // pg_postmaster_start_time(), in microseconds since 1970: one start of one server
}

// Reference is what the server that kproxy writes to says of itself, and of how far the
// releases there follow their source, at a moment. Positions are bytes of its log.
type Reference struct {
	Identity
	Timeline uint64

	// Sent and Got are when it was asked and when it had answered, on the clock of this
	// process.
	Sent, Got time.Time

	// Process is the name under which this process writes heartbeats into the table
	// kproxy_catalog.heartbeat; another one for each history of the database, so that no
	// server of another history has it. Empty = none are written.
	Process string

	// Heartbeat is the number of the one that was written after Sent and committed before
	// Flushed was read. Numbers grow; 0 = none.
	Heartbeat uint64

	// Flushed is up to where the log was on disk, after Sent.
	Flushed uint64

	// Source is the server of the source, if that is in a database of its own; the zero value says
	// that this server is it.
	Source SourceReference

	// Applied is up to where the releases show the source: each change that was committed
	// there before is visible on this server since before Heartbeat; 0 = not known.
	Applied uint64
}

// SourceReference is what the source's server says of itself.
type SourceReference struct {
	System   string // its system identifier
	Timeline uint64
	Flushed  uint64 // up to where its log was on disk, after Sent
}

// sameHistory tells whether what was known of an earlier reference holds of a later one.
func (r Reference) sameHistory(earlier Reference) bool {
	return r.Identity == earlier.Identity && r.Timeline == earlier.Timeline && r.Process == earlier.Process &&
		r.Source.System == earlier.Source.System && r.Source.Timeline == earlier.Source.Timeline
}

// logged is up to where the source's log was on disk.
func (r Reference) logged() uint64 {
	if r.Source.System == "" {
		return r.Flushed
	}
	return r.Source.Flushed
}

// sample is what a reference says, as far as it is needed later.
type sample struct {
	at                                  time.Time // all that was committed at the source before lies before logged
	flushed, logged, heartbeat, applied uint64
}

// leastSpan is how far samples reach back at least: by them a server is found out that has
// replayed the log of another one.
const leastSpan = time.Minute

// history is what the references have shown since the last promotion, restart or restored backup of
// the server. From it and the number of a heartbeat that a server shows follows what else that
// server shows. All is measured on one clock, that of this process. It is not safe for concurrent
// use.
type history struct {
	spacing time.Duration // of every other sample that is kept, at least
	span    time.Duration // they reach back
	known   bool          // there is a reference
	last    Reference
	samples []sample // oldest first; no number in them decreases

	least  time.Time // all must show what was committed before; zero = nothing in particular
	needed uint64    // the heartbeat that shows it
	placed bool      // needed is known
}

// reach sets how far back samples are needed.
func (h *history) reach(span time.Duration) {
	h.span = max(span, leastSpan)
	h.spacing = h.span / 1000
}

// add takes a reference, and tells whether another history has begun.
func (h *history) add(r Reference) (anew bool) {
	if anew = h.known && !r.sameHistory(h.last); anew {
		h.samples, h.placed = nil, false
	}
	s := sample{at: r.Sent, flushed: r.Flushed, logged: r.logged(), heartbeat: r.Heartbeat, applied: r.Applied}
	if n := len(h.samples); n > 0 {
		before := h.samples[n-1]
		// What was applied stays so. A log that is shorter than it was belongs to a server
		// that has been put in another's place.
		if s.applied = max(s.applied, before.applied); s.flushed < before.flushed || s.logged < before.logged || s.heartbeat < before.heartbeat {
			h.samples, h.placed, anew = nil, false, true
			s.applied = r.Applied
		}
	}
	h.known, h.last = true, r
	h.keep(s)
	if !h.placed && r.Heartbeat > 0 && !r.Sent.Before(h.least) {
		h.needed, h.placed = r.Heartbeat, true
	}
	return anew
}

// keep adds a sample and drops those that are too old to matter.
func (h *history) keep(s sample) {
	n := len(h.samples)
	if n > 1 && s.at.Sub(h.samples[n-2].at) < h.spacing {
		h.samples[n-1] = s
		return
	}
	old, _ := slices.BinarySearchFunc(h.samples, s.at.Add(-h.span), func(s sample, t time.Time) int { return s.at.Compare(t) })
	h.samples = append(slices.Delete(h.samples, 0, old), s)
}

// require has all servers show what was committed before a moment.
func (h *history) require(least time.Time) { h.least, h.placed = least, false }

// upTo returns the last sample with a number that is not beyond a bound; nil = there is none.
func (h *history) upTo(bound uint64, number func(sample) uint64) *sample {
	after, _ := slices.BinarySearchFunc(h.samples, bound, func(s sample, bound uint64) int {
		if number(s) <= bound {
			return -1
		}
		return 1
	})
	if after == 0 {
		return nil
	}
	return &h.samples[after-1]
}

// shownAt is a moment before which everything committed at the source is shown where the
// releases follow it up to a position; zero = none is known.
func (h *history) shownAt(applied uint64) time.Time {
	if s := h.upTo(applied, func(s sample) uint64 { return s.logged }); s != nil {
		return s.at
	}
	return time.Time{}
}

// asOf is such a moment of the server itself.
func (h *history) asOf() time.Time {
	if n := len(h.samples); n > 0 {
		return h.shownAt(h.samples[n-1].applied)
	}
	return time.Time{}
}

// asOfHeartbeat is such a moment of a server that shows a heartbeat.
func (h *history) asOfHeartbeat(number uint64) time.Time {
	if s := h.upTo(number, func(s sample) uint64 { return s.heartbeat }); s != nil && s.heartbeat > 0 {
		return h.shownAt(s.applied)
	}
	return time.Time{}
}

// refutes reports whether a server that has replayed a log up to a position, and then showed no
// heartbeat later than number, has replayed a log other than the reference's.
func (h *history) refutes(position, number uint64) bool {
	s := h.upTo(position, func(s sample) uint64 { return s.flushed })
	return s != nil && number < s.heartbeat
}
