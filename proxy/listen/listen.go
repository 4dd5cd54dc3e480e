// Package listen opens what a server of PostgreSQL's protocol accepts clients on: TCP
// addresses, and Unix sockets where libpq looks for them, with lock files as PostgreSQL
// has them. It also reads the header in which a load balancer names the client
// (PROXY protocol).
package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"time"
)

// DefaultPort is the port in the name of a Unix socket where no TCP address has one.
const DefaultPort = 5432

// Options are how listeners are made; the zero value will do.
type Options struct {
	// SocketMode are the permissions of Unix sockets; 0 = 0777, as PostgreSQL has it: clients that
	// connect must still log in.
	SocketMode fs.FileMode

	// UserTimeout is for how long what was sent to a client over TCP may stay
	// unacknowledged before the connection is given up, on Linux; 0 = as long as the
	// system thinks fit, about 15 minutes. It also ends clients that pause reading for as
	// long (TCP_USER_TIMEOUT in tcp(7)).
	UserTimeout time.Duration
}

// All listens on all addresses, or on none and returns why. An address is host:port, as
// of [net.Listen], or the absolute path of a folder for the Unix socket .s.PGSQL.PORT in
// it, with the port of the first TCP address, else [DefaultPort]. TCP addresses come
// first in the result.
func All(ctx context.Context, addresses []string, o Options) ([]net.Listener, error) {
	var all []net.Listener
	port := DefaultPort
	for _, address := range addresses {
		if filepath.IsAbs(address) {
			continue
		}
		ln, err := listenTCP(ctx, address, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listening on %s: %w", address, err), Close(all))
		}
		all = append(all, ln)
		if tcp, ok := all[0].Addr().(*net.TCPAddr); ok {
			port = tcp.Port
		}
	}
	for _, folder := range addresses {
		if !filepath.IsAbs(folder) {
			continue
		}
		ln, err := listenUnix(ctx, folder, port, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listening in %s: %w", folder, err), Close(all))
		}
		all = append(all, ln)
	}
	return all, nil
}

// Close closes all listeners.
func Close(all []net.Listener) error {
	var failed []error
	for _, ln := range all {
		if err := ln.Close(); err != nil {
			failed = append(failed, fmt.Errorf("closing %s: %w", ln.Addr(), err))
		}
	}
	return errors.Join(failed...)
}
