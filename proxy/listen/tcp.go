package listen

import (
	"context"
	"net"
	"syscall"
	"time"
)

// keepAlive finds clients that vanished within two minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 4}

// listenTCP listens with the system's longest queue (net.core.somaxconn on Linux).
func listenTCP(ctx context.Context, address string, o Options) (net.Listener, error) {
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	config.SetMultipathTCP(false) // its sockets know fewer options
	if o.UserTimeout > 0 {
		config.Control = func(_, _ string, conn syscall.RawConn) error {
			var failed error
			// Connections inherit it from the listener.
			err := conn.Control(func(fd uintptr) { failed = setUserTimeout(int(fd), o.UserTimeout) })
			if err != nil {
				return err
			}
			return failed
		}
	}
	return config.Listen(ctx, "tcp", address)
}
