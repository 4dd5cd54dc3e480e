package pool

import (
	"math"
	"sync/atomic"
	"time"
)

// host is one of the servers. Its fields but the atomic ones are guarded by Pool.mu.
type host struct {
	address
	circuits map[string]*circuit // by the name of the role
	load     int                 // sessions that have a connection to it, or are making one
	role     hostRole            // to the server that kproxy writes to, where there are references
	silent   bool                // it does not answer who watches it
	trouble  error               // why not; nil = it has answered last, or was not asked

	// freshUntil is when what sessions read there may be too old, in nanoseconds after
	// epoch; see Link.Fresh.
	freshUntil atomic.Int64

	// behind says that it may not show what Pool.NotBefore asks for.
	behind atomic.Bool

	// goodUntil is until when it counts as one that is, or follows, the server that kproxy
	// writes to, in nanoseconds after epoch; see Link.Good. identity is whom it has turned
	// out to be last; nil = it was not asked.
	goodUntil atomic.Int64
	identity  atomic.Pointer[Identity]
}

// epoch is a moment on the monotonic clock.
var epoch = time.Now()

// always is the freshUntil of a host where no bound is set.
const always = math.MaxInt64

func newHost(a address) *host {
	h := &host{address: a, circuits: map[string]*circuit{}}
	h.freshUntil.Store(always)
	h.goodUntil.Store(always)
	return h
}

// fresh reports whether what is read there is recent enough.
func (h *host) fresh() bool {
	if h.behind.Load() {
		return false
	}
	return ahead(h.freshUntil.Load())
}

// good reports whether it is, or follows, the server that kproxy writes to.
func (h *host) good() bool { return ahead(h.goodUntil.Load()) }

// excluded reports whether it has answered, and is neither the server that kproxy writes to
// nor one that follows it.
func (h *host) excluded() bool { return !h.silent && !h.good() || h.role.fix() != "" }

// ahead tells whether a moment is still to come.
func ahead(until int64) bool { return until == always || int64(time.Since(epoch)) < until }

// circuit is that of a role.
func (h *host) circuit(role string) *circuit {
	c := h.circuits[role]
	if c == nil {
		c = &circuit{}
		h.circuits[role] = c
	}
	return c
}
