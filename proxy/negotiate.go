package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/kproxy/kproxy/proxy/access"
)

// tlsHandshakeByte begins a TLS record: a client that starts TLS without asking
// (sslnegotiation=direct). No startup packet begins with it, for that would be too long.
const tlsHandshakeByte = 0x16

// Connections that begin with TLS and get no answer, as from PostgreSQL.
var (
	errTLSNotOffered = errors.New("TLS without a request for it, which is not offered")
	errNoALPN        = errors.New("TLS without a request for it needs the protocol's name (ALPN)")
)

// negotiate agrees on encryption, with at most one request of each kind, and returns
// the packet that follows. Nothing is read beyond a packet: bytes sent ahead in the
// clear reach the TLS handshake, which fails on them (CVE-2021-23214).
func (a *attempt) negotiate() (startupPacket, error) {
	var first [1]byte
	if _, err := io.ReadFull(a.raw, first[:]); err != nil {
		return startupPacket{}, goneSilently(err)
	}
	from := io.MultiReader(bytes.NewReader(first[:]), a.raw)
	if first[0] == tlsHandshakeByte {
		if err := a.directTLS(first[:]); err != nil {
			return startupPacket{}, err
		}
		from = a.conn
	}
	askedTLS, askedGSS := false, false
	for {
		p, err := readStartupPacket(from)
		if err != nil {
			return p, err
		}
		switch {
		case p.code == sslRequestCode && !askedTLS:
			askedTLS = true
			// Inside of TLS there is no other encryption to ask for.
			askedGSS = askedGSS || a.offersTLS()
			if err := a.answerTLS(); err != nil {
				return p, err
			}
		case p.code == gssRequestCode && !askedGSS:
			askedGSS = true
			if err := a.answer('N'); err != nil {
				return p, err
			}
		default:
			return p, nil
		}
		from = a.conn
	}
}

// answer sends the byte that grants or refuses an encryption.
func (a *attempt) answer(with byte) error {
	_, err := a.conn.Write([]byte{with})
	return goneSilently(err)
}

// goneSilently is io.EOF for the errors of a connection whose client has hung up: a
// monitor that does not wait for an answer is no more refused than one that sends nothing.
func goneSilently(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return io.EOF
	}
	return err
}

// offersTLS tells whether the connection can become one with TLS, which those on Unix
// sockets cannot, as with PostgreSQL.
func (a *attempt) offersTLS() bool {
	return a.serverTLS != nil && a.transport() == access.Plain
}

// answerTLS answers a request for TLS.
func (a *attempt) answerTLS() error {
	if !a.offersTLS() {
		return a.answer('N')
	}
	if err := a.answer('S'); err != nil {
		return err
	}
	return a.startTLS()
}

// directTLS starts TLS with a client that has sent the first byte of it.
func (a *attempt) directTLS(first []byte) error {
	if !a.offersTLS() {
		return errTLSNotOffered
	}
	a.conn = &replayed{Conn: a.raw, first: first}
	if err := a.startTLS(); err != nil {
		return err
	}
	if !a.namesProtocol() {
		return errNoALPN
	}
	return nil
}

// replayed is a connection whose first bytes have been read already.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(p []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(p)
}
