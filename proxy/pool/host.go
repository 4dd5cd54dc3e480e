package pool

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// host is one of the servers. Its fields but the atomic ones are guarded by Pool.mu.
type host struct {
	address
	circuits map[string]*circuit // by the name of the role
	load     int                 // sessions that have a connection to it, or are making one
	standing standing            // to the server that kproxy writes to, where there are references
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
func (h *host) excluded() bool { return !h.silent && !h.good() || h.standing.fix() != "" }

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

// tier says how much a host is wanted, 0 for most; false = not at all. Of one that does not
// answer login finds out what it is.
func (o *Options) tier(h *host) (int, bool) {
	tier, wanted := 0, false
	switch h.standing {
	case primary:
		tier, wanted = 1, o.Prefer != OnlyStandby
	case standby:
		wanted = o.Prefer != PreferPrimary
	case unknown:
		tier, wanted = 2, o.MaxStaleness == 0
	}
	if h.silent {
		tier = 2
	}
	return tier, wanted
}

// suits tells whether a host that login has found to be a standby or not may be used.
func (o *Options) suits(recovering bool) bool {
	switch o.Prefer {
	case PreferPrimary:
		return !recovering
	case OnlyStandby:
		return recovering
	default:
		return true
	}
}

// candidates are the hosts that may answer a session, best first: in the order of
// preference, and among equals the one with the fewest sessions. One that refuses new
// connections counts if kept says that a connection to it is there. The error says why
// there are none.
func (p *Pool) candidates(role string, now time.Time, kept func(*host) bool) ([]*host, error) {
	var tiers [3][]*host
	var reason error = errNoServer
	for _, h := range p.hosts {
		tier, wanted := 0, true
		if len(p.hosts) > 1 {
			tier, wanted = p.config.tier(h)
		}
		circuit := h.circuit(role)
		switch refused := circuit.refuses(now); {
		case h.excluded():
			if errors.Is(reason, errNoServer) {
				reason = errNotShown
			}
		case !wanted:
		case !h.fresh():
			reason = h.notFresh(reason)
		case refused != nil && (circuit.stalled || !kept(h)):
			reason = refused
		default:
			tiers[tier] = append(tiers[tier], h)
		}
	}
	for _, tier := range tiers {
		slices.SortStableFunc(tier, func(a, b *host) int { return cmp.Compare(a.load, b.load) })
	}
	if found := slices.Concat(tiers[:]...); len(found) > 0 {
		return found, nil
	}
	return nil, reason
}

// notFresh is why nobody is served where a host is not fresh; before is why others do not
// serve. That one shows old data counts for more than that one does not answer.
func (h *host) notFresh(before error) error {
	switch {
	case !h.silent || h.trouble == nil:
		return errNotFresh
	case errors.Is(before, errNotFresh):
		return before
	default:
		return fmt.Errorf("%w: %s", errSilent, h.trouble.Error())
	}
}

// kept tells of a host whether a connection to it is kept for a session.
func (p *Pool) kept(w *want) func(*host) bool {
	return func(h *host) bool { return p.idle.groups[alike{h, w.group}] != nil }
}

// none is the answer for a session that needs a new connection.
func none(*host) bool { return false }
