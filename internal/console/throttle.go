package console

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// throttle delays logins after failures: after a few failures, twice as long after each. Operators
// behind one address, for example of a proxy, are counted separately.
type throttle struct {
	now   func() time.Time
	seed  maphash.Seed
	mutex sync.Mutex
	of    *simplelru.LRU[origin, failures] // the one that failed last is the youngest
}

// origin is the key of failures: an address, and one of its buckets, into which names are hashed.
// Names of operators are treated like others, so that the delay does not reveal which names exist,
// and a client that tries many names fills only its own buckets.
type origin struct {
	address netip.Prefix
	bucket  uint64
}

// failures are the failures of one origin.
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
	// buckets is the number of buckets of one address.
	buckets = 16
	// maxOrigins bounds the memory of failures. When it is used up, the oldest are forgotten: a client
	// with thousands of addresses, as in a 48-bit IPv6 network, gets more attempts, but cannot
	// prevent others from logging in.
	maxOrigins = 50_000
)

func newThrottle(now func() time.Time) *throttle {
	of, _ := simplelru.NewLRU[origin, failures](maxOrigins, nil) // fails for sizes that are not positive
	return &throttle{now: now, seed: maphash.MakeSeed(), of: of}
}

// origin returns the origin of a user at an address: an IPv4 address, or the 64-bit network that one
// customer has in IPv6.
func (t *throttle) origin(remote, user string) origin {
	from := origin{bucket: maphash.String(t.seed, user) % buckets}
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

// attempt returns how long to wait before an attempt. If it returns 0, the attempt may be made, and
// counts as a failure from then on, so that simultaneous attempts are counted.
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

// forget removes old failures.
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

// succeeded removes all failures of an origin, including the attempt.
func (t *throttle) succeeded(from origin) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.of.Remove(from)
}
