package rig

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort is a port of 127.0.0.1 that nobody listens on. It lies below those that systems
// give to connections by themselves (from 32768 on Linux): one of these is soon taken again,
// before the program that is tested listens.
func FreePort() (port int, err error) {
	const from, to = 15_000, 32_000
	for range 100 {
		port = from + rand.IntN(to-from)
		var listener net.Listener
		if listener, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no port is free: %w", err)
}
