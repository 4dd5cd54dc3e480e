package console

import (
	"net/netip"
	"sync"
	"time"
)

// throttle has addresses wait that fail to log in: after a few failures twice as long
// after each.
type throttle struct {
	now   func() time.Time
	mutex sync.Mutex
	of    map[netip.Prefix]*failures
}

// failures are those of one address.
type failures struct {
	count int
	last  time.Time
}

const (
	freeFailures = 5
	firstWait    = time.Second
	longestWait  = time.Minute
	// forgetAfter is when failures of an address are forgotten.
	forgetAfter = 15 * time.Minute
	// maxAddresses bounds the memory of failures. When it is used up, all addresses
	// wait as one.
	maxAddresses = 10_000
)

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, of: make(map[netip.Prefix]*failures)}
}

// origin is what failures count for: an IPv4 address, or the network of 64 bits that one
// customer has in IPv6.
func origin(remote string) netip.Prefix {
	address, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	ip := address.Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// wait is how long the address has to wait before its next attempt; 0 is not at all.
func (t *throttle) wait(from netip.Prefix) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	f := t.of[t.key(from)]
	if f == nil || f.count < freeFailures {
		return 0
	}
	pause := longestWait
	if doubled := f.count - freeFailures; doubled < 6 {
		pause = min(longestWait, firstWait<<doubled)
	}
	return max(0, pause-t.now().Sub(f.last))
}

// key is the address, or the one that stands for all others when there are too many.
func (t *throttle) key(from netip.Prefix) netip.Prefix {
	if _, known := t.of[from]; !known && len(t.of) >= maxAddresses {
		return netip.Prefix{}
	}
	return from
}

func (t *throttle) failed(from netip.Prefix) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	if len(t.of) >= maxAddresses {
		for address, f := range t.of {
			if now.Sub(f.last) > forgetAfter {
				delete(t.of, address)
			}
		}
	}
	key := t.key(from)
	f := t.of[key]
	if f == nil || now.Sub(f.last) > forgetAfter {
		f = &failures{}
		t.of[key] = f
	}
	f.count++
	f.last = now
}

func (t *throttle) succeeded(from netip.Prefix) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.of, from)
}
