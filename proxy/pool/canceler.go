package pool

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// cancelRequestCode and sslRequestCode stand in place of a protocol version.
const (
	cancelRequestCode = 80877102
	sslRequestCode    = 80877103
)

// ErrCancelUncertain is what a failed [Link.Cancel] is when the request may have reached
// the server all the same: it can still hit whatever the connection runs next. The session
// must run nothing more on it, and the pool does not use it again.
var ErrCancelUncertain = errors.New("the cancel request may still take effect")

// canceler is what a cancel request for a connection needs: the server's address, the
// way to encrypt and the key.
type canceler struct {
	dial             pgconn.DialFunc
	network, address string
	tls              *tls.Config // nil = in the clear, as the connection itself
	direct           bool        // TLS without asking first
	pid              uint32
	secret           []byte
}

// cancel asks the server to cancel what runs on the connection, and returns when it has
// passed the request on, which it shows by closing the connection; or ctx ends. An error
// is ErrCancelUncertain from the moment that the request is written.
func (c *canceler) cancel(ctx context.Context) error {
	conn, err := c.dial(ctx, c.network, c.address)
	if err != nil {
		return fmt.Errorf("connecting for a cancel request: %w", err)
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	secured, err := c.encrypt(ctx, conn)
	if err != nil {
		return fmt.Errorf("encrypting a cancel request: %w", err)
	}
	request := binary.BigEndian.AppendUint32(nil, uint32(12+len(c.secret)))
	request = binary.BigEndian.AppendUint32(request, cancelRequestCode)
	request = binary.BigEndian.AppendUint32(request, c.pid)
	if _, err := secured.Write(append(request, c.secret...)); err != nil {
		return fmt.Errorf("sending a cancel request: %w: %w", ErrCancelUncertain, err)
	}
	var none [1]byte
	// The server does not take leave of TLS, which is an unexpected end.
	if _, err := secured.Read(none[:]); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("waiting for a cancel request to be taken: %w: %w", ErrCancelUncertain, cmp.Or(err, errMalformed))
	}
	return nil
}

// encrypt does for a cancel request what login has done.
func (c *canceler) encrypt(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if c.tls == nil {
		return conn, nil
	}
	if !c.direct {
		request := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, sslRequestCode)
		if _, err := conn.Write(request); err != nil {
			return nil, err
		}
		var said [1]byte
		if _, err := io.ReadFull(conn, said[:]); err != nil {
			return nil, err
		}
		if said[0] != 'S' {
			return nil, errors.New("the server refuses TLS")
		}
	}
	// A failed handshake must not look like a failure to send the request.
	encrypted := tls.Client(conn, c.tls)
	return encrypted, encrypted.HandshakeContext(ctx)
}
