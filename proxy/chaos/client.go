package chaos

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	xscram "github.com/xdg-go/scram"
)

// Login is how a [Client] logs in.
type Login struct {
	Network, Address string // as of net.Dial
	User, Password   string
	Database         string
	TLS              *tls.Config // nil = without TLS

	// Wrap changes how the bytes of the connection, below TLS, are read and written;
	// nil = nothing changes.
	Wrap func(net.Conn) net.Conn
}

// Client is a connection that has logged in, and sees messages as bytes.
type Client struct {
	net.Conn               // with TLS, where it is used
	Raw      net.Conn      // below TLS and Login.Wrap
	In       *bufio.Reader // of Conn
	PID      uint32
	Secret   []byte

	Parameters map[string]string // as reported at login
}

const (
	protocolVersion   = 3 << 16
	sslRequestCode    = 80877103
	cancelRequestCode = 80877102

	// loginTimeout bounds a login, maxAnswerBytes a message from the server.
	loginTimeout   = 30 * time.Second
	maxAnswerBytes = 1 << 24
)

// Dial connects and logs in.
func (l Login) Dial() (*Client, error) {
	conn, err := net.Dial(l.Network, l.Address)
	if err != nil {
		return nil, err
	}
	c := &Client{Conn: conn, Raw: conn}
	if l.Wrap != nil {
		c.Conn = l.Wrap(conn)
	}
	if err := c.login(l); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) login(l Login) error {
	if err := c.SetDeadline(time.Now().Add(loginTimeout)); err != nil {
		return err
	}
	if l.TLS != nil {
		if err := c.encrypt(l.TLS); err != nil {
			return err
		}
	}
	c.In = bufio.NewReader(c.Conn)
	if _, err := c.Write(StartupPacket(map[string]string{"user": l.User, "database": l.Database})); err != nil {
		return err
	}
	return c.begin(l.Password)
}

// encrypt asks for TLS.
func (c *Client) encrypt(config *tls.Config) error {
	if _, err := c.Write(packet(sslRequestCode, nil)); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(c.Conn, answer[:]); err != nil || answer[0] != 'S' {
		return fmt.Errorf("TLS was answered by %q: %w", answer, err)
	}
	c.Conn = tls.Client(c.Conn, config)
	return nil
}

// begin reads the messages up to the first ReadyForQuery.
func (c *Client) begin(password string) error {
	c.Parameters = make(map[string]string)
	var conversation *xscram.ClientConversation
	for {
		kind, body, err := ReadMessage(c.In)
		if err != nil {
			return err
		}
		switch kind {
		case 'R':
			if conversation == nil {
				conversation = scramClient(password).NewConversation()
			}
			err = c.authenticate(conversation, body)
		case 'S':
			r := reader{left: body}
			c.Parameters[r.text()] = r.text()
		case 'K':
			c.PID, c.Secret = binary.BigEndian.Uint32(body), body[4:]
		case 'E':
			return errors.New("login: " + ReportOf(body).String())
		case 'Z':
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// authenticate answers a message of type Authentication.
func (c *Client) authenticate(conversation *xscram.ClientConversation, body []byte) error {
	const ok, sasl, saslContinue, saslFinal = 0, 10, 11, 12
	switch step := binary.BigEndian.Uint32(body); step {
	case ok:
		return nil
	case sasl, saslContinue, saslFinal:
		challenge := string(body[4:])
		if step == sasl {
			challenge = ""
		}
		answer, err := conversation.Step(challenge)
		if err != nil || step == saslFinal {
			return err
		}
		message := []byte(answer)
		if step == sasl {
			message = binary.BigEndian.AppendUint32([]byte("SCRAM-SHA-256\x00"), uint32(len(answer)))
			message = append(message, answer...)
		}
		_, err = c.Write(AppendMessage(nil, 'p', message))
		return err
	default:
		return fmt.Errorf("authentication of kind %d", step)
	}
}

// scramClients keep the keys that are derived from a password, for which they need long.
var scramClients sync.Map

func scramClient(password string) *xscram.Client {
	if known, found := scramClients.Load(password); found {
		return known.(*xscram.Client)
	}
	made, err := xscram.SHA256.NewClient("", password, "")
	if err != nil {
		made, _ = xscram.SHA256.NewClientUnprepped("", password, "")
	}
	known, _ := scramClients.LoadOrStore(password, made)
	return known.(*xscram.Client)
}

// packet is a message without a type.
func packet(code uint32, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(binary.BigEndian.AppendUint32(out, code), body...)
}

// StartupPacket asks for a session with parameters by protocol 3.0.
func StartupPacket(parameters map[string]string) []byte {
	var body []byte
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		body = append(append(append(append(body, name...), 0), parameters[name]...), 0)
	}
	return packet(protocolVersion, append(body, 0))
}

// CancelPacket is a request to cancel what runs in the session with a key.
func CancelPacket(pid uint32, secret []byte) []byte {
	return packet(cancelRequestCode, append(binary.BigEndian.AppendUint32(nil, pid), secret...))
}

// ReadMessage reads one message. It returns io.EOF only between messages.
func ReadMessage(r *bufio.Reader) (kind byte, body []byte, err error) {
	kind, err = r.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return kind, nil, cutOff(err)
	}
	size := binary.BigEndian.Uint32(length[:])
	if size < 4 || size > maxAnswerBytes {
		return kind, nil, fmt.Errorf("a message %q of %d bytes", kind, int32(size))
	}
	body = make([]byte, size-4)
	_, err = io.ReadFull(r, body)
	return kind, body, cutOff(err)
}

// cutOff makes the end of a stream inside a message an error of its own.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Report is what matters of an error or a notice.
type Report struct{ Severity, State, Message string }

func (r Report) String() string { return r.Severity + " " + r.State + " " + r.Message }

// ReportOf reads the body of ErrorResponse or NoticeResponse.
func ReportOf(body []byte) Report {
	var out Report
	for r := (reader{left: body}); len(r.left) > 0 && r.left[0] != 0; {
		switch field := r.bytes(1)[0]; field {
		case 'V':
			out.Severity = r.text()
		case 'C':
			out.State = r.text()
		case 'M':
			out.Message = r.text()
		default:
			_ = r.text()
		}
	}
	return out
}
