package integration

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"
)

// tap is a connection that keeps every byte it received.
type tap struct {
	net.Conn
	mu       sync.Mutex
	received bytes.Buffer
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received.Write(p[:n])
	return n, err
}

// drain returns what was received since it was last called.
func (c *tap) drain() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	received := bytes.Clone(c.received.Bytes())
	c.received.Reset()
	return received
}

// wire is a session at the level of messages, decoded by a codec that kproxy
// does not use.
type wire struct {
	*tap
	front *oldproto.Frontend
}

// dial logs in with pgconn and takes the connection over.
func dial(ctx context.Context, url string) (*wire, *tap, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, nil, err
	}
	var conn *tap
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		conn = &tap{Conn: c}
		return conn, nil
	}
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, conn, err
	}
	if err := pg.SyncConn(ctx); err != nil { // its background reader would take what comes next
		return nil, conn, err
	}
	if _, err := pg.Hijack(); err != nil {
		return nil, conn, err
	}
	return &wire{tap: conn, front: oldproto.NewFrontend(oldproto.NewChunkReader(conn), conn)}, conn, nil
}

func dialed(t *testing.T, url string) *wire {
	t.Helper()
	w, _, err := dial(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// answer is what came for a request, up to ReadyForQuery.
type answer struct {
	rows   int
	last   string // first field of the last row
	errs   []string
	status byte
}

// send writes messages as one packet.
func (w *wire) send(messages ...oldproto.FrontendMessage) error {
	var packet []byte
	for _, m := range messages {
		var err error
		if packet, err = m.Encode(packet); err != nil {
			return err
		}
	}
	if err := w.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := w.Write(packet)
	return err
}

// receive reads the answer. A COPY to the server is called off, after which the
// extended protocol needs another Sync: the first was a part of the COPY.
func (w *wire) receive(extended bool) (answer, error) {
	var a answer
	for {
		m, err := w.front.Receive()
		if err != nil {
			return a, err
		}
		switch m := m.(type) {
		case *oldproto.DataRow:
			a.rows++
			if len(m.Values) > 0 {
				a.last = string(m.Values[0])
			}
		case *oldproto.CopyData:
			a.rows++
		case *oldproto.ErrorResponse:
			a.errs = append(a.errs, fmt.Sprintf("%s %s", m.Code, m.Message))
			if m.Severity == "FATAL" {
				return a, fmt.Errorf("the session ended: %s", m.Message)
			}
		case *oldproto.CopyInResponse:
			reply := []oldproto.FrontendMessage{&oldproto.CopyFail{Message: "no"}}
			if extended {
				reply = append(reply, &oldproto.Sync{})
			}
			if err := w.send(reply...); err != nil {
				return a, err
			}
		case *oldproto.ReadyForQuery:
			a.status = m.TxStatus
			return a, nil
		}
	}
}

// simple sends one Query message.
func (w *wire) simple(sql string) (answer, error) {
	if err := w.send(&oldproto.Query{String: sql}); err != nil {
		return answer{}, err
	}
	return w.receive(false)
}

// extended sends statements through the unnamed statement and portal, in one
// pipeline with one Sync. Format 1 asks for binary results.
func (w *wire) extended(format int16, statements ...string) (answer, error) {
	var messages []oldproto.FrontendMessage
	for _, sql := range statements {
		messages = append(messages, &oldproto.Parse{Query: sql}, &oldproto.Describe{ObjectType: 'S'},
			&oldproto.Bind{ResultFormatCodes: []int16{format}}, &oldproto.Describe{ObjectType: 'P'}, &oldproto.Execute{})
	}
	if err := w.send(append(messages, &oldproto.Sync{})...); err != nil {
		return answer{}, err
	}
	return w.receive(true)
}
