package reactor

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotReady is what Read of a detached connection returns when nothing has arrived.
// It is temporary in the sense of net.Error, so that crypto/tls goes on after it.
var ErrNotReady net.Error = notReady{}

type notReady struct{}

func (notReady) Error() string   { return "nothing to read yet" }
func (notReady) Timeout() bool   { return true }
func (notReady) Temporary() bool { return true }

// Conn is a stream of TCP or a Unix socket. Attached, as it is made, it behaves as the
// net.Conn that it wraps. Detached it belongs to a Loop: Read and Write return at once,
// and deadlines do nothing. It must not be used by two goroutines while it changes from
// one to the other.
type Conn struct {
	attached      net.Conn // nil = detached
	local, remote net.Addr

	fd     int    // detached
	unsent []byte // taken by Write; what is behind sent, not by the kernel yet
	sent   int
	corked bool

	// Of the Loop that it is on.
	loop    *Loop
	handle  func(Event)
	watched interest
	muted   bool
}

// Wrap returns the connection, which must have a descriptor (syscall.Conn).
func Wrap(conn net.Conn) *Conn {
	return &Conn{attached: conn, local: conn.LocalAddr(), remote: conn.RemoteAddr(), fd: -1}
}

// Detach takes the connection out of Go's poller. Deadlines are forgotten.
func (c *Conn) Detach() error {
	described, ok := c.attached.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T has no descriptor", c.attached)
	}
	raw, err := described.SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	var failed error
	err = raw.Control(func(of uintptr) {
		fd, failed = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err := errors.Join(err, failed); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	if err := c.attached.Close(); err != nil {
		_ = unix.Close(fd)
		return err
	}
	c.attached, c.fd = nil, fd
	return nil
}

// Attach gives the connection back to Go's poller. What Write has taken and the kernel
// has not is sent before anything else.
func (c *Conn) Attach() error {
	if c.attached != nil {
		return nil
	}
	file := os.NewFile(uintptr(c.fd), "connection")
	if file == nil {
		return net.ErrClosed
	}
	c.fd = -1
	attached, err := net.FileConn(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	c.attached = attached
	return nil
}

// Read reads what has arrived; of a detached connection it returns ErrNotReady where
// that is nothing.
func (c *Conn) Read(p []byte) (int, error) {
	if c.attached != nil {
		return c.attached.Read(p)
	}
	for {
		n, err := read(c.fd, p)
		switch {
		case err == nil && n == 0 && len(p) > 0:
			return 0, io.EOF
		case err == nil:
			return n, nil
		case err == unix.EAGAIN: //nolint:errorlint // it is never wrapped
			return 0, ErrNotReady
		case err != unix.EINTR: //nolint:errorlint // it is never wrapped
			return 0, os.NewSyscallError("read", err)
		}
	}
}

// Write sends p. Of a detached connection it takes all of p, keeps what the kernel does
// not take, and sends it before what is written next: see Unsent.
func (c *Conn) Write(p []byte) (int, error) {
	if c.attached != nil {
		if c.Unsent() > 0 {
			unsent := c.unsent[c.sent:]
			c.unsent, c.sent = nil, 0
			if _, err := c.attached.Write(unsent); err != nil {
				return 0, err
			}
		}
		return c.attached.Write(p)
	}
	if c.corked || c.Unsent() > 0 {
		c.keep(p)
		if c.corked {
			return len(p), nil
		}
		return len(p), c.Flush()
	}
	n, err := c.push(p)
	if err != nil {
		return 0, err
	}
	c.keep(p[n:])
	return len(p), nil
}

// Cork has Write keep everything until Flush, which sends it in one piece.
func (c *Conn) Cork() { c.corked = true }

// Unsent is how many bytes Write has taken that the kernel has not. Whoever writes
// should stop until the connection is writable and Flush has sent them.
func (c *Conn) Unsent() int { return len(c.unsent) - c.sent }

// Flush sends what Write has kept, as far as the kernel takes it.
func (c *Conn) Flush() error {
	c.corked = false
	if c.Unsent() == 0 {
		return nil
	}
	n, err := c.push(c.unsent[c.sent:])
	if err != nil {
		return err
	}
	if c.sent += n; c.Unsent() == 0 {
		release(c.unsent)
		c.unsent, c.sent = nil, 0
	}
	return nil
}

func (c *Conn) keep(p []byte) {
	if len(p) == 0 {
		return
	}
	switch {
	case c.unsent == nil:
		c.unsent = acquire()
	case c.sent > len(c.unsent)/2: // the space is used again, at a cost that what was sent has earned
		c.unsent = append(c.unsent[:0], c.unsent[c.sent:]...)
		c.sent = 0
	}
	c.unsent = append(c.unsent, p...)
}

// push gives the kernel as much of p as it takes.
func (c *Conn) push(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		n, err := write(c.fd, p[sent:])
		switch {
		case err == nil:
			sent += n
		case err == unix.EAGAIN: //nolint:errorlint // it is never wrapped
			return sent, nil
		case err != unix.EINTR: //nolint:errorlint // it is never wrapped
			return sent, os.NewSyscallError("write", err)
		}
	}
	return sent, nil
}

// Close closes the connection; a detached one must have been removed from its Loop.
func (c *Conn) Close() error {
	if c.attached != nil {
		return c.attached.Close()
	}
	if c.fd < 0 {
		return net.ErrClosed
	}
	fd := c.fd
	c.fd = -1
	return os.NewSyscallError("close", unix.Close(fd))
}

// CloseWrite tells the peer that nothing more comes.
func (c *Conn) CloseWrite() error {
	if c.attached == nil {
		return os.NewSyscallError("shutdown", unix.Shutdown(c.fd, unix.SHUT_WR))
	}
	half, ok := c.attached.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	if c.attached == nil {
		return nil
	}
	return c.attached.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.attached == nil {
		return nil
	}
	return c.attached.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.attached == nil {
		return nil
	}
	return c.attached.SetWriteDeadline(t)
}

// SyscallConn gives access to the descriptor of an attached connection.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	described, ok := c.attached.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return described.SyscallConn()
}
