package listen

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/pires/go-proxyproto"
)

const (
	// headerPrefixBytes come before what a header's length counts: the signature, the
	// version with the command, the address family and the length (PROXY protocol, 2.2).
	headerPrefixBytes = 16

	// maxHeaderBytes caps what follows them; a client's certificate in it takes 2 KiB.
	maxHeaderBytes = 4 << 10
)

var (
	errNoHeader      = errors.New("the connection does not begin with a header of the PROXY protocol, version 2")
	errHeaderTooLong = fmt.Errorf("the header of the PROXY protocol is longer than %d bytes", maxHeaderBytes)
	errNotTCP        = errors.New("the header of the PROXY protocol names no client by TCP")
)

// forwarded is a connection by way of a load balancer.
type forwarded struct {
	*net.TCPConn
	client *net.TCPAddr
}

// RemoteAddr is the client's address.
func (f forwarded) RemoteAddr() net.Addr { return f.client }

// Forwarded reads the header with which a load balancer begins a connection (PROXY
// protocol, version 2) and not a byte more. It returns the connection as that of the
// client that the header names, or as it is where the load balancer speaks for itself
// (LOCAL). Its extensions (TLV) are ignored. The caller sets a deadline.
func Forwarded(conn *net.TCPConn) (net.Conn, error) {
	var space [headerPrefixBytes + 64]byte // room for the usual ones
	raw := space[:headerPrefixBytes]
	if _, err := io.ReadFull(conn, raw); err != nil {
		return nil, fmt.Errorf("reading the header of the PROXY protocol: %w", err)
	}
	if !bytes.HasPrefix(raw, proxyproto.SIGV2) {
		return nil, errNoHeader
	}
	length := int(binary.BigEndian.Uint16(raw[14:]))
	if length > maxHeaderBytes {
		return nil, errHeaderTooLong
	}
	raw = append(raw, make([]byte, length)...)
	if _, err := io.ReadFull(conn, raw[headerPrefixBytes:]); err != nil {
		return nil, fmt.Errorf("reading the header of the PROXY protocol: %w", err)
	}
	client, err := namedClient(raw)
	if err != nil || client == nil {
		return conn, err
	}
	return forwarded{conn, client}, nil
}

// namedClient returns the client that a whole header names, nil where it names none
// because the load balancer speaks for itself.
func namedClient(raw []byte) (*net.TCPAddr, error) {
	header, err := proxyproto.Read(bufio.NewReaderSize(bytes.NewReader(raw), len(raw)))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the header of the PROXY protocol: %w", err)
	case header.Command.IsLocal():
		return nil, nil
	}
	client, _, ok := header.TCPAddrs()
	if !ok {
		return nil, errNotTCP
	}
	ip, ok := netip.AddrFromSlice(client.IP)
	if !ok {
		return nil, errNotTCP
	}
	// One client has one address, in whichever family the load balancer puts it.
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip.Unmap(), uint16(client.Port))), nil
}
