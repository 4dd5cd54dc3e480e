package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Codes in place of a protocol version; PostgreSQL documentation, "Message
// Formats".
const (
	cancelRequestCode = 80877102
	sslRequestCode    = 80877103
	gssRequestCode    = 80877104

	protocol30 = 3 << 16

	// maxStartupBytes is MAX_STARTUP_PACKET_LENGTH.
	maxStartupBytes = 10_000

	// tlsHandshakeByte begins a TLS record: a client that starts TLS without
	// asking.
	tlsHandshakeByte = 0x16
)

// errNotStartup reports a first packet that is none of the protocol's; there is
// nobody to answer.
var errNotStartup = errors.New("not a startup packet")

// startupPacket is a packet without a type byte.
type startupPacket struct {
	code uint32 // protocol version or request code
	body []byte
}

// readStartupPacket reads exactly one packet, byte for byte from the
// connection: what follows belongs to another layer when TLS is agreed on.
func readStartupPacket(r io.Reader) (startupPacket, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return startupPacket{}, err
	}
	if head[0] == tlsHandshakeByte {
		return startupPacket{}, errNotStartup
	}
	length := binary.BigEndian.Uint32(head[:4])
	if length < 8 || length > maxStartupBytes {
		return startupPacket{}, violation("invalid length of startup packet")
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return startupPacket{}, unexpected(err)
	}
	p := startupPacket{code: binary.BigEndian.Uint32(head[4:]), body: make([]byte, length-8)}
	_, err := io.ReadFull(r, p.body)
	return p, unexpected(err)
}

// negotiate answers requests for encryption, at most one of each kind, and
// returns the connection as it then is with the packet that follows.
func (s *settings) negotiate(conn net.Conn) (net.Conn, startupPacket, error) {
	askedTLS, askedGSS := false, false
	for {
		p, err := readStartupPacket(conn)
		if err != nil {
			return conn, p, err
		}
		switch {
		case p.code == sslRequestCode && !askedTLS && len(p.body) == 0:
			askedTLS = true
			encrypted, err := s.answerTLS(conn)
			if err != nil {
				return conn, p, err
			}
			// Inside TLS there is no other encryption to ask for.
			askedGSS = askedGSS || encrypted != conn
			conn = encrypted
		case p.code == gssRequestCode && !askedGSS && len(p.body) == 0:
			askedGSS = true
			if _, err := conn.Write([]byte{'N'}); err != nil {
				return conn, p, err
			}
		default:
			return conn, p, nil
		}
	}
}

// startup is what a client asks for.
type startup struct {
	user         string
	database     string
	parameters   map[string]string // by lower-case name, as the client asked
	unrecognized []string          // protocol options the client offered
	newer        bool              // a minor version above 3.0 was asked for
}

// parseStartup reads a startup packet for protocol version 3.
func parseStartup(p startupPacket) (startup, error) {
	if p.code>>16 != protocol30>>16 {
		return startup{}, newFatal(stateFeatureNotSupported, "unsupported frontend protocol: kproxy supports 3.0")
	}
	st := startup{newer: p.code != protocol30}
	settings, err := startupSettings(p.body)
	if err != nil {
		return startup{}, err
	}
	var asked []setting
	for _, set := range settings {
		switch {
		case set.name == "user":
			st.user = set.value
		case set.name == "database":
			st.database = set.value
		case strings.HasPrefix(set.name, "_pq_."):
			st.unrecognized = append(st.unrecognized, set.name)
		case set.name == "replication":
			if err := checkReplication(set.value); err != nil {
				return startup{}, err
			}
		case set.name == "options":
			inner, err := parseOptions(set.value)
			if err != nil {
				return startup{}, err
			}
			asked = append(asked, inner...)
		default:
			asked = append(asked, set)
		}
	}
	if st.user == "" {
		return startup{}, newFatal(stateInvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if st.database == "" {
		st.database = st.user
	}
	st.parameters = latest(asked)
	return st, nil
}

// setting is a name with its value.
type setting struct{ name, value string }

// startupSettings splits the list of names and values, which ends with an empty
// name at the end of the packet.
func startupSettings(body []byte) ([]setting, error) {
	var settings []setting
	next := func() (string, bool) {
		text, rest, ok := bytes.Cut(body, []byte{0})
		body = rest
		return string(text), ok
	}
	for {
		name, ok := next()
		if ok && name == "" && len(body) == 0 {
			return settings, nil
		}
		value, complete := next()
		if !ok || name == "" || !complete {
			return nil, violation("invalid startup packet layout: expected terminator as last byte")
		}
		settings = append(settings, setting{name, value})
	}
}

// negotiation is the answer to a client that asked for more than protocol 3.0;
// nil if it did not. Its version is the whole number, as the server sends it.
func (st startup) negotiation() *pgproto3.NegotiateProtocolVersion {
	if !st.newer && len(st.unrecognized) == 0 {
		return nil
	}
	return &pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: protocol30, UnrecognizedOptions: st.unrecognized}
}
