package pool

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/proxy/reactor"
)

const (
	nameParameter     = "application_name"
	encodingParameter = "client_encoding"
)

// keepAlive finds servers that vanished within two minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 4}

// effective are the startup parameters of a session: the pinned ones, under them the
// client's. Names are compared as the server does, without regard to case.
// application_name is the pool's, client_encoding the client's.
func effective(client, pinned map[string]string) map[string]string {
	merged := make(map[string]string, len(client)+len(pinned)+2)
	for name, value := range client {
		merged[strings.ToLower(name)] = value
	}
	encoding := cmp.Or(merged[encodingParameter], "UTF8")
	merged[nameParameter] = neutralName
	for name, value := range pinned {
		merged[strings.ToLower(name)] = value
	}
	merged[encodingParameter] = encoding
	return merged
}

// maxStartupBytes is what PostgreSQL takes as a startup packet, MAX_STARTUP_PACKET_LENGTH;
// a longer one it answers by hanging up. Both a role with what is pinned and the session's
// own parameters may have a part of it.
const (
	maxStartupBytes   = 10_000
	maxParameterBytes = 4_000
	maxRoleBytes      = maxStartupBytes - maxParameterBytes
)

// bytesOf is how much of a startup packet parameters take.
func bytesOf(parameters map[string]string) int {
	n := 0
	for name, value := range parameters {
		n += len(name) + len(value) + 2
	}
	return n
}

// groupOf names the connections that are alike but for the server they lead to.
func groupOf(role string, parameters map[string]string) string {
	var b strings.Builder
	b.WriteString(role)
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		b.WriteByte(0)
		b.WriteString(name)
		b.WriteByte(0)
		b.WriteString(parameters[name])
	}
	return b.String()
}

// servers is the world outside of the pool.
type servers struct{}

// open logs in to a host, looks at what the connection is like and gives it its name,
// which it returns as the server reports it. Recovering says whether the host is a
// standby, where there are references; otherwise it is not asked.
func (servers) open(ctx context.Context, h *host, w *want) (_ *conn, shown string, recovering bool, err error) {
	role := w.role
	config := h.only(role)
	config.RuntimeParams = w.parameters
	config.MaxProtocolMessageBodyLen = maxAnswerBytes
	config.BuildFrontend = func(from io.Reader, to io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(&messageReader{from: from}, to)
	}
	dialer := &dialer{dial: role.DialFunc}
	config.DialFunc = dialer.open
	c := &conn{host: h, group: w.group, queuesWait: queuesWait(w.parameters), limits: limitsOf(w.parameters)}
	c.cancels.dial, c.cancels.direct = role.DialFunc, config.SSLNegotiation == "direct"
	if err := c.logIn(ctx, config); err != nil {
		return nil, "", false, err
	}
	c.cancels.network, c.cancels.address = dialer.target(c.below())
	shown, recovering, err = c.inspect(ctx, w)
	if err == nil {
		plain := h.only(role)
		plain.RuntimeParams = w.parameters
		err = c.refusePooler(ctx, plain, c.login.rest[0], map[string]string{pinnedNames[0]: c.login.rest[1], pinnedNames[1]: c.login.rest[2]})
	}
	if err != nil {
		_ = c.Close()
		return nil, "", false, fmt.Errorf("%w: %w", errLook, err)
	}
	return c, shown, recovering, nil
}

func (c *conn) logIn(ctx context.Context, config *pgconn.Config) error {
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	if err := pg.SyncConn(ctx); err != nil { // its background reader may hold something
		_ = pg.Conn().Close()
		return fmt.Errorf("%w: taking it over: %w", errLook, err)
	}
	hijacked, err := pg.Hijack()
	if err != nil {
		_ = pg.Conn().Close()
		return fmt.Errorf("taking the connection over: %w", err)
	}
	c.Conn = hijacked.Conn
	c.parameters = maps.Clone(hijacked.ParameterStatuses)
	c.cancels.tls = hijacked.TLSConfig
	c.cancels.pid, c.cancels.secret = hijacked.PID, slices.Clone(hijacked.SecretKey)
	return nil
}

// whose asks a connection whose it is.
const whose = "SELECT pg_catalog.pg_is_in_recovery(), " + identityColumns

// inspect looks at a connection that no session has used, and names it. Recovering says whether the
// host is a standby, if there are references.
func (c *conn) inspect(ctx context.Context, w *want) (shown string, recovering bool, err error) {
	requests := c.liftLimits()
	told := len(requests) + 1 // where the state is
	requests = append(requests, query(ofTransactions), query(settings), query(c.withoutWaiting(inspection)))
	if w.referred {
		requests = append(requests, query(c.withoutWaiting(whose)))
	}
	requests = append(requests, query(c.claimText(w.name)))
	answers, shown, err := c.askWithin(ctx, requests...)
	if err != nil {
		return "", false, err
	}
	for _, a := range answers {
		if a.failed != nil {
			return "", false, a.failed
		}
	}
	if c.login, err = stateOf(answers[told], answers[told+1]); err != nil {
		return "", false, err
	}
	if w.referred {
		row := answers[told+2].row
		if len(row) != 4 {
			return "", false, errMalformed
		}
		recovering, c.identity = row[0] == "t", Identity{row[1], row[2], row[3]}
	}
	return shown, recovering, nil
}

// dialer opens connections and remembers where they lead. A login that fails can leave
// it behind in a goroutine that dials once more, to cancel what cannot be running.
type dialer struct {
	dial pgconn.DialFunc

	mu      sync.Mutex
	targets map[net.Conn][2]string
}

func (d *dialer) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive) // without it a dead server is found later
	}
	if _, ok := conn.(syscall.Conn); ok {
		conn = reactor.Wrap(conn)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.targets == nil {
		d.targets = map[net.Conn][2]string{}
	}
	d.targets[conn] = [2]string{network, address}
	return conn, nil
}

// target is what a connection has been dialed with.
func (d *dialer) target(conn net.Conn) (network, address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	target := d.targets[conn]
	return target[0], target[1]
}

// expiry is when a connection made now is too old; not all at one time.
func expiry(now time.Time, lifetime time.Duration) time.Time {
	return now.Add(lifetime - lifetime/10 + rand.N(lifetime/5+1))
}

// messageReader hands out no byte beyond the message it is in, so that the codec above
// it buffers nothing that comes after login.
type messageReader struct {
	from io.Reader
	head []byte // of the message's header, what has not been handed out
	left int    // of its body
}

func (m *messageReader) Read(p []byte) (int, error) {
	if len(m.head) == 0 && m.left == 0 {
		var header [5]byte
		if _, err := io.ReadFull(m.from, header[:]); err != nil {
			return 0, err
		}
		size := int64(binary.BigEndian.Uint32(header[1:])) - 4
		if size < 0 || size > maxAnswerBytes {
			return 0, errMalformed
		}
		m.head, m.left = header[:], int(size)
	}
	if len(m.head) > 0 {
		n := copy(p, m.head)
		m.head = m.head[n:]
		return n, nil
	}
	n, err := m.from.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}
