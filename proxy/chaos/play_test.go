package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = time.Minute

// sent is a message with what it must be answered.
type sent struct {
	message
	want   []byte
	before *Model // where it can be canceled
}

// encode is the bytes of messages.
func encode(batch []sent) (out []byte) {
	for _, m := range batch {
		out = AppendMessage(out, m.kind, m.body)
	}
	return out
}

// wanted are the bytes of their answers.
func wanted(batch []sent) (out []byte) {
	for _, m := range batch {
		out = append(out, m.want...)
	}
	return out
}

// errEnd is the end of a stream that ended where a message could begin.
var errEnd = errors.New("the connection has ended")

// expect reads messages as they are wanted. It returns what is still wanted when
// another message comes, which is returned as well.
func (c *Client) expect(want []byte) (left []byte, kind byte, body []byte, err error) {
	for len(want) > 0 {
		kind, body, err := ReadMessage(c.In)
		if errors.Is(err, io.EOF) {
			return want, 0, nil, errEnd
		}
		if err != nil {
			return want, 0, nil, err
		}
		size := 5 + int(want[3])<<8 + int(want[4]) + int(want[2])<<16 - 4
		if !alike(want[0], want[5:size], kind, body) {
			return want, kind, body, nil
		}
		want = want[size:]
	}
	return nil, 0, nil, nil
}

// alike compares messages; of errors what a [Report] tells but for their texts.
func alike(wantKind byte, want []byte, kind byte, body []byte) bool {
	switch {
	case kind != wantKind:
		return false
	case kind == 'E', kind == 'N':
		a, b := ReportOf(want), ReportOf(body)
		return a.Severity == b.Severity && a.sameState(b) && (kind == 'E' || a.Message == b.Message)
	default:
		return bytes.Equal(want, body)
	}
}

// sameState compares SQLSTATEs. In a failed transaction kproxy may not know whether there
// is an unnamed portal, see Model.Unbound, and says that the transaction has failed.
func (a Report) sameState(b Report) bool {
	return a.State == b.State || a.State == stateNoPortal && b.State == stateFailedTransaction
}

// mismatch tells of an answer that is another than was wanted.
func mismatch(want []byte, kind byte, body []byte) error {
	return fmt.Errorf("got  %s\nwant %s", show(AppendMessage(nil, kind, body)), show(want))
}

// show is the beginning of messages, readable.
func show(messages []byte) string {
	if len(messages) > 0 && messages[0] == 'E' {
		return "E " + ReportOf(messages[5:]).String()
	}
	return fmt.Sprintf("%.200q", messages)
}

// expectEnd reads up to the end of the connection, of which nothing may be left but,
// perhaps, one last FATAL.
func (c *Client) expectEnd(want []byte) error {
	left, kind, body, err := c.expect(want)
	if err == nil && kind == 0 {
		kind, body, err = ReadMessage(c.In)
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("the connection does not end")
	case err != nil:
		return nil // cut off, or reset
	case kind != 'E' || ReportOf(body).Severity != "FATAL":
		return mismatch(left, kind, body)
	}
	if kind, body, err = ReadMessage(c.In); err == nil {
		return fmt.Errorf("after FATAL: %s", show(AppendMessage(nil, kind, body)))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the connection does not end after FATAL")
	}
	return nil
}

// halfClose ends what the client sends.
func (c *Client) halfClose() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	} else if half, ok := c.Raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// reset closes the connection so that the peer is told of an error.
func (c *Client) reset() {
	if tcp, ok := c.Raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Raw.Close()
}
