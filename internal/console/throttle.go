package console

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// throttle has those wait who fail to log in: after a few failures twice as long after
// each. Operators behind one address, of a proxy for example, fail each for themselves.
type throttle struct {
	now   func() time.Time
	seed  maphash.Seed
	mutex sync.Mutex
	of    *simplelru.LRU[origin, failures] // the one that failed last is the youngest
}

// origin is what failures count for: an address, and one of its drawers that names are
// put into. Names of operators are treated like others, so that waiting tells nothing of
// who there is, and who tries many names fills his drawers and no more.
type origin struct {
	address netip.Prefix
	drawer  uint64
}

// failures are those of one origin.
type failures struct {
	count int
	last  time.Time
}

const (
	freeFailures = 5
	firstWait    = time.Second
	longestWait  = time.Minute
	// forgetAfter is when failures of an origin are forgotten.
	forgetAfter = 15 * time.Minute
	// drawers are those of one address.
	drawers = 16
	// maxOrigins bounds the memory of failures. When it is used up, those are forgotten that
	// are longest ago: who has thousands of addresses, as a network of 48 bits has in IPv6,
	// gets more attempts by that, but keeps nobody else from logging in.
	maxOrigins = 50_000
)

func newThrottle(now func() time.Time) *throttle {
	of, _ := simplelru.NewLRU[origin, failures](maxOrigins, nil) // fails for sizes that are not positive
	return &throttle{now: now, seed: maphash.MakeSeed(), of: of}
}

// origin is that of a user at an address: an IPv4 address, or the network of 64 bits that
// one customer has in IPv6.
func (t *throttle) origin(remote, user string) origin {
	from := origin{drawer: maphash.String(t.seed, user) % drawers}
	address, err := netip.ParseAddrPort(remote)
	if err != nil {
		return from
	}
	ip := address.Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	from.address, _ = ip.Prefix(bits) // it has as many
	return from
}

// attempt is how long to wait before an attempt from there; 0 is not at all, and counts as
// a failure from then on: attempts at the same time do not pass between each other.
func (t *throttle) attempt(from origin) (wait time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	t.forget(now)
	known, _ := t.of.Peek(from)
	if wait = known.wait(now); wait == 0 {
		t.of.Add(from, failures{known.count + 1, now})
	}
	return wait
}

// forget lets go of what is too long ago.
func (t *throttle) forget(now time.Time) {
	for {
		_, oldest, some := t.of.GetOldest()
		if !some || now.Sub(oldest.last) <= forgetAfter {
			return
		}
		t.of.RemoveOldest()
	}
}

func (f failures) wait(now time.Time) time.Duration {
	if f.count < freeFailures {
		return 0
	}
	pause := longestWait
	if doubled := f.count - freeFailures; doubled < 6 {
		pause = min(longestWait, firstWait<<doubled)
	}
	return max(0, pause-now.Sub(f.last))
}

// succeeded takes back that the attempt counts as a failure, and all before it.
func (t *throttle) succeeded(from origin) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.of.Remove(from)
}
