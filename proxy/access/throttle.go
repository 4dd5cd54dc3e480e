package access

import (
	"container/list"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxCulprits bounds each of the two tables of failures. Who has failed longest ago
	// is forgotten first.
	maxCulprits = 1 << 14

	// addressPatience is how many times the failures of one user an address has for
	// free. Many users may share it, so that its delays do not grow either: they make
	// guesses at many users' passwords slow, without one broken client keeping out its
	// neighbors.
	addressPatience = 10

	// maxDoublings bounds the failures that are counted: after so many more the delay
	// does not grow and being forgotten does not take longer.
	maxDoublings = 16
)

// failures remembers who has failed to log in: addresses, and users at addresses. They
// are apart so that many names from one address cannot push out addresses.
type failures struct {
	mu        sync.Mutex
	addresses culprits
	users     culprits
	seed      maphash.Seed
}

// culprit is an address, or a user at an address.
type culprit struct {
	address netip.Addr
	user    uint64 // hash of the name; 0 = whoever
}

// record is what is remembered of a culprit.
type record struct {
	culprit culprit
	clear   time.Time // when the last failure is forgotten, one after the other
	next    time.Time // when the last attempt that was made to wait is answered
}

// culprits are records, the one with the most recent failure last.
type culprits struct {
	byName map[culprit]*list.Element // of *record
	order  *list.List
}

func newFailures() *failures {
	table := func() culprits { return culprits{byName: map[culprit]*list.Element{}, order: list.New()} }
	return &failures{addresses: table(), users: table(), seed: maphash.MakeSeed()}
}

// throttled is what counts as one address: networks give each customer a /64 of IPv6 at
// least.
func throttled(a netip.Addr) netip.Addr {
	a = plainAddress(a)
	if !a.Is6() {
		return a
	}
	prefix, _ := a.Prefix(64) // an IPv6 address has one
	return prefix.Addr()
}

// culprits are those that a request is counted for; address is false for Unix sockets,
// which do not tell strangers from one another.
func (f *failures) culprits(q Request) (address culprit, hasAddress bool, user culprit) {
	address = culprit{address: throttled(q.Address)}
	user = culprit{address: address.address, user: maphash.String(f.seed, q.User) | 1}
	return address, address.address.IsValid(), user
}

// attempt puts an attempt behind those that wait for the same culprits. If it need not
// wait, check is called and counted.
func (f *failures) attempt(c Throttling, now time.Time, q Request, check func() bool) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	address, hasAddress, user := f.culprits(q)
	var slowed []*record
	at := now
	slow := func(r *record, free, doublings int) {
		if r == nil {
			return
		}
		if delay := c.delay(c.count(r, now)-free, doublings); delay > 0 {
			slowed = append(slowed, r)
			at = later(at, later(now, r.next).Add(delay))
		}
	}
	slow(f.users.get(user), c.Free, maxDoublings)
	if hasAddress {
		slow(f.addresses.get(address), c.Free*addressPatience, 0)
	}
	if at.Sub(now) > c.MaxDelay {
		return 0, false
	}
	if len(slowed) == 0 {
		f.count(c, now, q, check())
		return 0, true
	}
	for _, r := range slowed {
		r.next = at
	}
	return at.Sub(now), true
}

// judged counts an attempt that has waited.
func (f *failures) judged(c Throttling, now time.Time, q Request, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(c, now, q, ok)
}

// count counts an attempt; f.mu is held. A success clears the user at the address, but
// not the address: who has one user's password must not get free guesses at others'.
func (f *failures) count(c Throttling, now time.Time, q Request, ok bool) {
	address, hasAddress, user := f.culprits(q)
	if ok {
		f.users.remove(user)
		return
	}
	count := func(r *record, free int) {
		most := now.Add(time.Duration(free+maxDoublings) * c.Forget)
		r.clear = later(r.clear, now).Add(c.Forget)
		if r.clear.After(most) {
			r.clear = most
		}
	}
	count(f.users.touch(user), c.Free)
	if hasAddress {
		count(f.addresses.touch(address), c.Free*addressPatience)
	}
}

// count is how many failures are not forgotten yet.
func (c Throttling) count(r *record, now time.Time) int {
	left := r.clear.Sub(now)
	if left <= 0 {
		return 0
	}
	return int((left + c.Forget - 1) / c.Forget)
}

// delay is what so many failures beyond the free ones cost, doubled so many times at
// most.
func (c Throttling) delay(beyond, doublings int) time.Duration {
	if beyond <= 0 {
		return 0
	}
	delay := c.Delay
	for range min(beyond-1, doublings) {
		if delay >= c.MaxDelay {
			break
		}
		delay *= 2
	}
	return min(delay, c.MaxDelay)
}

// get returns the record of a culprit, or nil.
func (t *culprits) get(c culprit) *record {
	if element, ok := t.byName[c]; ok {
		return element.Value.(*record)
	}
	return nil
}

// touch returns the record of a culprit, as the most recent one.
func (t *culprits) touch(c culprit) *record {
	if element, ok := t.byName[c]; ok {
		t.order.MoveToBack(element)
		return element.Value.(*record)
	}
	if t.order.Len() >= maxCulprits {
		t.remove(t.order.Front().Value.(*record).culprit)
	}
	r := &record{culprit: c}
	t.byName[c] = t.order.PushBack(r)
	return r
}

func (t *culprits) remove(c culprit) {
	if element, ok := t.byName[c]; ok {
		t.order.Remove(element)
		delete(t.byName, c)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
