package proxy

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/kproxy/kproxy/proxy/listen"
	"github.com/kproxy/kproxy/proxy/reactor"
)

// headerTimeout bounds the wait for the header of the PROXY protocol, which a load
// balancer sends before anything else.
const headerTimeout = 5 * time.Second

// readForwarder reads the header of the PROXY protocol where the connection comes from
// a load balancer. From then on it is the client's that the header names: for the rules,
// the log and the database.
func (a *attempt) readForwarder(ctx context.Context) error {
	tcp, ok := a.accepted.(*net.TCPConn)
	if !ok || !a.forwards(tcp.RemoteAddr()) {
		return nil
	}
	if err := tcp.SetReadDeadline(time.Now().Add(min(headerTimeout, a.AuthTimeout))); err != nil {
		return err
	}
	interrupt := context.AfterFunc(ctx, func() { _ = tcp.SetReadDeadline(time.Unix(1, 0)) })
	client, err := listen.Forwarded(tcp)
	if !interrupt() {
		return errShutdown
	}
	if err != nil {
		return err
	}
	a.log = a.Logger.With("remote", client.RemoteAddr(), "forwarder", tcp.RemoteAddr())
	a.raw = reactor.Wrap(client)
	a.conn = a.raw
	return nil
}

// forwards tells whether connections from an address are those of a load balancer.
func (s *settings) forwards(from net.Addr) bool {
	tcp, ok := from.(*net.TCPAddr)
	if !ok {
		return false
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	return slices.ContainsFunc(s.Forwarders, func(p netip.Prefix) bool { return p.Contains(ip) })
}
