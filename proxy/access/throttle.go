package access

import (
	"container/list"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxCulprits bounds each table of failures, and that of known addresses. Who has failed,
	// or logged in, longest ago is forgotten first. A record and its key take about 300 bytes.
	maxCulprits = 1 << 14

	// addressPatience is how many times the failures of one user an address has for
	// free. Many users may share it, so that its delays do not grow either: they make
	// guesses at many users' passwords slow, without one broken client keeping out its
	// neighbors.
	addressPatience = 10

	// maxDoublings bounds the failures that are counted: after so many more the delay
	// does not grow and being forgotten does not take longer.
	maxDoublings = 16

	// strangerDoublings bounds the delays of a user's attempts from networks in which nobody
	// has failed lately: they grow to four times the first one, so that somebody who logs in from
	// a new place gets a turn while others guess.
	strangerDoublings = 2
)

// breadth is a kind of network. Somebody who has many networks of one kind, such as the 65,536
// networks /64 of a /48 that an office gets, has one of the next kind.
type breadth struct {
	ipv4, ipv6 int // bits of the prefix
	// patience is how many times the failures of one user are free, and pace how many times as
	// fast attempts go on beyond these. Both grow, so that one network that guesses as fast as
	// it is let leaves room to others in the network around it.
	patience, pace int
}

// breadths are the networks of an address. The first is what counts as one address: networks give
// each customer a /64 of IPv6 at least.
var breadths = []breadth{
	{32, 64, addressPatience, 1},
	{24, 48, 4 * addressPatience, 2},
	{16, 32, 16 * addressPatience, 4},
}

// failures remembers who has failed to log in: networks, users at addresses, and users
// wherever they were. They are apart so that many names from one address cannot push out
// addresses.
type failures struct {
	mu       sync.Mutex
	networks []culprits // by breadth
	users    culprits   // at an address
	accounts culprits   // of users, at addresses from which they have never logged in
	known    culprits   // users at addresses from which they have; their records have no failures
	seed     maphash.Seed
}

// culprit is a network, a user at an address, or a user.
type culprit struct {
	network netip.Prefix // the zero one stands for Unix sockets, and where it does not matter
	user    uint64       // hash of the name; 0 = whoever
	fresh   bool         // of a user: from networks in which nobody has failed lately
}

// record is what is remembered of a culprit.
type record struct {
	culprit culprit
	clear   time.Time // when the last failure is forgotten, one after the other
	next    time.Time // when the last attempt that waits for this culprit need no longer do so
}

// culprits are records, the one with the most recent failure last.
type culprits struct {
	byName map[culprit]*list.Element // of *record
	order  *list.List
}

func newFailures() *failures {
	table := func() culprits { return culprits{byName: map[culprit]*list.Element{}, order: list.New()} }
	f := &failures{users: table(), accounts: table(), known: table(), seed: maphash.MakeSeed()}
	for range breadths {
		f.networks = append(f.networks, table())
	}
	return f
}

// network is the network of a breadth that an address is in; the zero one for the zero Addr.
func (b breadth) network(a netip.Addr) netip.Prefix {
	a = plainAddress(a)
	bits := b.ipv4
	if a.Is6() {
		bits = b.ipv6
	}
	prefix, _ := a.Prefix(bits) // the zero Addr has none
	return prefix
}

// throttled is what counts as one address.
func throttled(a netip.Addr) netip.Addr { return breadths[0].network(a).Addr() }

// budget is what a culprit may fail before attempts are delayed, and how they are.
type budget struct {
	of        *culprits
	culprit   culprit
	free      int
	delay     time.Duration // the first one
	doublings int           // of it at most
}

// budgets are those that an attempt counts for: the user's at the address, and then others'. The first
// alone delays a user at an address from which the user has logged in: known; nobody else can have
// such a user wait, or be refused. Unix sockets do not tell strangers from one another.
func (f *failures) budgets(c Throttling, now time.Time, q Request) (all []budget, known bool) {
	user := maphash.String(f.seed, q.User) | 1
	here := culprit{network: breadths[0].network(q.Address), user: user}
	all = []budget{{&f.users, here, c.Free, c.Delay, maxDoublings}}
	if !here.network.IsValid() {
		return all, false
	}
	for i, b := range breadths {
		all = append(all, budget{&f.networks[i], culprit{network: b.network(q.Address)}, c.Free * b.patience, c.Delay / time.Duration(b.pace), 0})
	}
	if f.known.get(here) != nil {
		return all, true
	}
	account := budget{&f.accounts, culprit{user: user}, c.Free * addressPatience, c.Delay, maxDoublings}
	widest := len(breadths) - 1
	if around := f.networks[widest].get(culprit{network: breadths[widest].network(q.Address)}); around == nil || c.count(around, now) == 0 {
		account.culprit.fresh, account.doublings = true, strangerDoublings
	}
	return append(all, account), false
}

// attempt puts an attempt behind those that wait for the same culprits. If it need not
// wait, check is called and counted.
func (f *failures) attempt(c Throttling, now time.Time, q Request, check func() bool) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	type place struct { // of the attempt among those that wait for a culprit
		of *record
		at time.Time
	}
	var places []place
	at := now
	budgets, known := f.budgets(c, now, q)
	if known {
		budgets = budgets[:1]
	}
	for _, b := range budgets {
		r := b.of.get(b.culprit)
		if r == nil {
			continue
		}
		if delay := c.delay(b.delay, c.count(r, now)-b.free, b.doublings); delay > 0 {
			last := place{r, later(now, r.next).Add(delay)}
			places = append(places, last)
			at = later(at, last.at)
		}
	}
	if at.Sub(now) > c.MaxDelay {
		return 0, false
	}
	if len(places) == 0 {
		f.count(c, now, q, check())
		return 0, true
	}
	for _, p := range places {
		p.of.next = p.at // and not at: a queue that is shorter does not wait for a longer one
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
// not networks: who has one user's password must not get free guesses at others'.
func (f *failures) count(c Throttling, now time.Time, q Request, ok bool) {
	budgets, _ := f.budgets(c, now, q)
	if ok {
		here := budgets[0].culprit
		f.users.remove(here)
		if here.network.IsValid() {
			f.known.touch(here)
		}
		return
	}
	for _, b := range budgets {
		r := b.of.touch(b.culprit)
		most := now.Add(time.Duration(b.free+maxDoublings) * c.Forget)
		r.clear = later(r.clear, now).Add(c.Forget)
		if r.clear.After(most) {
			r.clear = most
		}
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

// delay is what so many failures beyond the free ones cost: the first delay, doubled so many
// times at most.
func (c Throttling) delay(delay time.Duration, beyond, doublings int) time.Duration {
	if beyond <= 0 {
		return 0
	}
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
