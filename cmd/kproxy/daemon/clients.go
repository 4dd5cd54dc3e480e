package daemon

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/listen"
	ksync "github.com/kproxy/kproxy/sync"
)

// listen opens what the configuration names, or takes what the process was given.
func (d *Daemon) listen(ctx context.Context, c *config.Config) ([]net.Listener, error) {
	if len(d.Listeners) > 0 {
		return d.Listeners, nil
	}
	return listen.All(ctx, c.Listen, listen.Options{SocketMode: c.UnixSocketMode, UserTimeout: c.Timeouts.Unacknowledged})
}

// tryListening reports a taken port before the work. It is given back meanwhile: until
// there is something to read, clients shall not wait in its queue. In that of a service
// manager they do.
func (d *Daemon) tryListening(ctx context.Context) error {
	if len(d.Listeners) > 0 {
		return nil
	}
	listeners, err := d.listen(ctx, d.config())
	if err != nil {
		return err
	}
	if err := listen.Close(listeners); err != nil {
		return fmt.Errorf("giving the port back: %w", err)
	}
	return nil
}

// serve serves clients until ctx ends.
func (d *Daemon) serve(ctx context.Context, c *config.Config) error {
	listeners, err := d.listen(ctx, c)
	if err != nil {
		return err
	}
	addresses := make([]string, len(listeners))
	for i, listener := range listeners {
		addresses[i] = listener.Addr().String()
		if tcp, is := listener.Addr().(*net.TCPAddr); is && d.address.Load() == nil {
			d.address.Store(tcp)
		}
	}
	d.Logger.Info("serving", "address", strings.Join(addresses, ", "), "database", c.Database, "tables", len(c.Policy.Tables))
	close(d.ready)
	return d.proxy.Serve(ctx, listeners...)
}

// Status returns where replication stands, and each table's release. It is known once Ready is
// closed.
func (d *Daemon) Status() ksync.Status { return d.syncer.Status() }

// isReady tells whether clients can connect, or could.
func (d *Daemon) isReady() bool {
	select {
	case <-d.ready:
		return true
	default:
		return false
	}
}

// Address returns the first address where clients connect by TCP, nil before Ready or without
// one.
func (d *Daemon) Address() *net.TCPAddr { return d.address.Load() }

// EndSessions ends all sessions at once, whatever they do.
func (d *Daemon) EndSessions() {
	if d.isReady() {
		d.proxy.EndSessions()
	}
}

// Responds returns nil when clients that connect are answered before ctx ends. A
// database that does not answer is no reason for an error.
func (d *Daemon) Responds(ctx context.Context) error {
	if !d.isReady() {
		return nil
	}
	return d.proxy.Probe(ctx)
}

// Clients counts the clients.
func (d *Daemon) Clients() proxy.Counts {
	if !d.isReady() {
		return proxy.Counts{}
	}
	return d.proxy.Counts()
}

// Summary is a line for the operator of what is served to how many; empty before Ready.
func (d *Daemon) Summary() string {
	if !d.isReady() {
		return ""
	}
	conditions, published := d.conditions(), 0
	for _, c := range conditions {
		if c.State == status.StatePublished {
			published++
		}
	}
	return fmt.Sprintf("Serving %d of %d protected tables to %d sessions", published, len(conditions), d.Clients().Sessions)
}
