package pool

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// conn is a connection to a server, in use by a session or kept for the next one.
type conn struct {
	net.Conn
	host       *host
	group      string            // of connections that are alike
	parameters map[string]string // as reported right after login; nobody changes it
	queuesWait bool              // see queuesWait
	limits     []string          // see timeLimits
	login      state             // right after login
	cancels    canceler
	identity   Identity // of the server, where there are references

	generation uint64    // of the configuration that it was made under
	expires    time.Time // when it is not to be reused any more

	idleSince      time.Time
	inGroup, inAll *list.Element // while it is idle
}

// good reports whether the connection leads to the server by which its host is known, and
// that one is, or follows, the server that kproxy writes to.
func (c *conn) good() bool {
	known := c.host.identity.Load()
	return c.host.good() && (known == nil || *known == c.identity)
}

// below is the connection under TLS, if there is TLS.
func (c *conn) below() net.Conn {
	if encrypted, ok := c.Conn.(*tls.Conn); ok {
		return encrypted.NetConn()
	}
	return c.Conn
}

// quiet reports whether the connection is open and the server has sent nothing since the
// last answer. It does not wait.
func (c *conn) quiet() bool {
	described, ok := c.below().(syscall.Conn)
	if !ok {
		return false
	}
	descriptor, err := described.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = descriptor.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = err == unix.EAGAIN
		return true
	})
	return err == nil && quiet
}

func (servers) quiet(c *conn) bool { return c.quiet() }

// claim sends the statement that gives a kept connection the application_name and the time limits of its
// next session; settle reads the server's answer.
func (servers) claim(ctx context.Context, c *conn, w *want) error {
	if !c.quiet() {
		return errors.New("the server closed the idle connection, or sent something on it")
	}
	deadline, _ := ctx.Deadline() // zero = none
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	_, err := c.Write(query(c.claimText(w.name)))
	return err
}

// settle reads the answer to claim. If ctx ends first, the connection is unusable.
func (servers) settle(ctx context.Context, c *conn) error {
	var answers []answer
	err := c.within(ctx, func() (err error) {
		answers, err = readAnswers(c.Conn, func(string, string) {}, 1)
		return err
	})
	if err != nil {
		return err
	}
	return answers[0].failed
}

// askWithin sends requests and reads their answers. If ctx ends first, the connection is unusable. shown is the
// application_name that the server reported last.
func (c *conn) askWithin(ctx context.Context, requests ...request) (answers []answer, shown string, err error) {
	shown = c.parameters[nameParameter]
	err = c.within(ctx, func() (err error) {
		answers, err = ask(c.Conn, func(name, value string) {
			if name == nameParameter {
				shown = value
			}
		}, requests...)
		return err
	})
	return answers, shown, err
}

// within runs do, whose reads and writes on the connection fail once ctx has ended.
func (c *conn) within(ctx context.Context, do func() error) error {
	deadline, _ := ctx.Deadline() // zero = none
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	err := do()
	if !stop() {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

// terminate closes a connection that is between two messages.
func (c *conn) terminate() {
	message := []byte{'X', 0, 0, 0, 4}
	if c.SetDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = c.Write(message) // the server finds out in any case
	}
	_ = c.Close()
}
