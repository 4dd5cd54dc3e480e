package pool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// hostSet are the hosts of a configuration, among which sessions choose. It is guarded by
// Pool.mu.
type hostSet struct {
	all     []*host
	options *Options
}

// newHostSet returns the hosts of a connection, and among them of earlier ones those that
// stay.
func newHostSet(c *pgconn.Config, options *Options, earlier []*host) *hostSet {
	s := &hostSet{options: options}
	for _, a := range addresses(c) {
		h := newHost(a)
		if i := slices.IndexFunc(earlier, func(e *host) bool { return e.address == a }); i >= 0 {
			h = earlier[i]
		}
		clear(h.circuits) // a failure may have been the configuration's
		s.all = append(s.all, h)
	}
	return s
}

// tier says how much a host is wanted, 0 for most; false = not at all. Of one that does not
// answer login finds out what it is.
func (o *Options) tier(h *host) (int, bool) {
	tier, wanted := 0, false
	switch h.role {
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

// suits reports whether a host may be used; recovering says whether login has found it to be a
// standby.
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
func (s *hostSet) candidates(role string, now time.Time, kept func(*host) bool) ([]*host, error) {
	var tiers [3][]*host
	var reason error = errNoServer
	for _, h := range s.all {
		tier, wanted := 0, true
		if len(s.all) > 1 {
			tier, wanted = s.options.tier(h)
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

// notFresh is why no session is served if a host is not fresh; before is why others do not serve. A
// host that shows old data counts for more than one that does not answer.
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
