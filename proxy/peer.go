package proxy

import (
	"crypto/tls"
	"errors"
	"net"

	"github.com/kproxy/kproxy/proxy/reactor"
)

const (
	// pulls bounds how often one connection is read before others get their turn.
	pulls = 8

	// maxUnsent is how much a client may leave behind of what it makes TLS answer by
	// itself, before it is not read any more.
	maxUnsent = 256 << 10

	// leastHeld is the capacity that the memory of input that was not taken begins with.
	leastHeld = 512
)

// peer is one of a session's two connections.
type peer struct {
	raw  *reactor.Conn
	conn net.Conn // raw, or TLS over it

	wanted func() bool        // there is a use for its input
	take   func([]byte) error // relays its input
	lost   func(error) error  // returns the reason to end the session after a read

	// held is input that was not taken, and need how much there must be of it for
	// anything to happen. Memory grows with what arrives, not with what is announced.
	held []byte
	need int

	watched    bool // for input
	drained    bool // the last read has taken all there was
	due        bool // it is about to be read
	unwritable bool // it cannot be written to any more
}

func (p *peer) encrypted() bool {
	_, is := p.conn.(*tls.Conn)
	return is
}

// read returns the input that is there, behind what is held: in the buffer if nothing
// is. It returns nothing where nothing has arrived or there is not enough yet; drained
// says that there is no more.
func (p *peer) read(buffer []byte) (in []byte, drained bool, err error) {
	into := buffer
	if len(p.held) > 0 {
		if len(p.held) == cap(p.held) {
			p.held = append(make([]byte, 0, 2*cap(p.held)), p.held...)
		}
		into = p.held[len(p.held):cap(p.held)]
	}
	n, err := p.conn.Read(into)
	// TLS keeps what it has decrypted: only its own word says that there is no more.
	p.drained = err != nil || n < len(into) && !p.encrypted()
	switch {
	case errors.Is(err, reactor.ErrNotReady):
		return nil, true, nil
	case err != nil:
		return nil, true, err
	}
	drained = p.drained
	if len(p.held) == 0 {
		return buffer[:n], drained, nil
	}
	p.held = p.held[:len(p.held)+n]
	if len(p.held) < p.need {
		return nil, drained, nil
	}
	return p.held, drained, nil
}

// hold keeps what is left of the input that read has returned, or that was held.
func (p *peer) hold(in []byte, taken, need int) {
	p.need = need
	left := in[taken:]
	switch {
	case len(left) == 0:
		p.held = nil
	case taken == 0 && len(p.held) > 0:
		// It is what was held already.
	default:
		p.held = append(make([]byte, 0, max(leastHeld, 2*len(left))), left...)
	}
}

// write sends what was gathered; see reactor.Conn for what becomes of the rest.
func (p *peer) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if p.encrypted() {
		p.raw.Cork() // one write for many records
		if _, err := p.conn.Write(b); err != nil {
			return err
		}
		return p.raw.Flush()
	}
	_, err := p.conn.Write(b)
	return err
}

// congested tells whether the peer does not take what is sent.
func (p *peer) congested() bool { return p.raw.Unsent() > 0 }

// mostUnsent is more than a server can leave unread of what sessions send to it: such a server
// makes TLS answer on its own, and does not take the answers.
func (c *Config) mostUnsent() int { return 2*max(c.MaxStatementBytes, maxKeptBuffer) + 1<<20 }
