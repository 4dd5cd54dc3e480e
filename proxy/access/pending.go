package access

import (
	"net/netip"
	"sync"
)

// pending counts the connections that have not logged in.
type pending struct {
	mu        sync.Mutex
	all       int
	addresses map[netip.Addr]int // none is 0; the zero Addr = Unix sockets
}

func newPending() *pending { return &pending{addresses: map[netip.Addr]int{}} }

// enter takes a place, if there are less than most and less than each from the address.
func (l *pending) enter(address netip.Addr, most, each int) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= most || l.addresses[address] >= each {
		return nil, false
	}
	l.all++
	l.addresses[address]++
	return sync.OnceFunc(func() { l.leave(address) }), true
}

func (l *pending) leave(address netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.addresses[address]--; l.addresses[address] == 0 {
		delete(l.addresses, address)
	}
}
