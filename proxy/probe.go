package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/pires/go-proxyproto"
)

// localHeader is what a load balancer says that speaks for itself (PROXY protocol, 2.2):
// LOCAL, of no address family, with nothing after it.
var localHeader = append(proxyproto.SIGV2[:12:12], 0x20, 0, 0, 0)

// Probe connects to each listener of Serve as a client does and asks for encryption by
// GSSAPI, which is always refused. It returns nil when all answer before ctx ends, be it
// by hanging up because there are too many connections, or where this process can open no
// connection, and when all event loops turn. It is for a watchdog: an error means that
// clients, too, wait in vain.
func (s *Server) Probe(ctx context.Context) error {
	addresses := *s.addresses.Load()
	for _, address := range addresses {
		if err := s.probe(ctx, address); err != nil {
			return fmt.Errorf("no answer on %s: %w", address, err)
		}
	}
	if len(addresses) == 0 {
		return nil // before Serve
	}
	return s.shards.turn(ctx)
}

// turn returns nil when all loops do something before ctx ends.
func (s *shards) turn(ctx context.Context) error {
	for _, shard := range s.all {
		turned := make(chan struct{})
		if !shard.loop.Post(func() { close(turned) }) {
			return errors.New("an event loop has ended")
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return fmt.Errorf("an event loop stands still: %w", ctx.Err())
		}
	}
	return nil
}

func (s *Server) probe(ctx context.Context, address net.Addr) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, address.Network(), address.String())
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if until, bounded := ctx.Deadline(); bounded {
		if err := conn.SetDeadline(until); err != nil {
			return err
		}
	}
	interrupt := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer interrupt()
	var sent []byte
	if s.current.Load().forwards(conn.LocalAddr()) {
		sent = append(sent, localHeader...)
	}
	sent = binary.BigEndian.AppendUint32(sent, 8)
	sent = binary.BigEndian.AppendUint32(sent, gssRequestCode)
	var late net.Error
	if _, err := conn.Write(sent); errors.As(err, &late) && late.Timeout() {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); errors.As(err, &late) && late.Timeout() {
		return err
	}
	return nil
}
