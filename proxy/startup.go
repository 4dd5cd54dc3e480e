package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Protocol versions, and codes in place of one; PostgreSQL documentation,
// "Message Formats".
const (
	cancelRequestCode = 80877102
	sslRequestCode    = 80877103
	gssRequestCode    = 80877104

	protocol30 = 3 << 16
	// protocol32 is the newest version served. It differs from 3.0 in that cancel keys
	// have more than four bytes; 3.1 was never used.
	protocol32 = 3<<16 | 2

	// maxStartupBytes is MAX_STARTUP_PACKET_LENGTH.
	maxStartupBytes = 10_000
)

// First packets that are none of the protocol's get no answer, as from PostgreSQL: who
// sent them would not understand it.
var (
	errIncompleteStartup = errors.New("incomplete startup packet")
	errStartupLength     = errors.New("invalid length of startup packet")
)

// startupPacket is a packet without a type byte.
type startupPacket struct {
	code uint32 // protocol version or request code
	body []byte
}

// readStartupPacket reads exactly one packet, byte for byte from the
// connection: what follows belongs to another layer when TLS is agreed on. It returns
// io.EOF if there is not a byte.
func readStartupPacket(r io.Reader) (startupPacket, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return startupPacket{}, incomplete(err)
	}
	length := binary.BigEndian.Uint32(head[:4])
	if length < 8 || length > maxStartupBytes {
		return startupPacket{}, errStartupLength
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return startupPacket{}, incomplete(unexpected(err))
	}
	p := startupPacket{code: binary.BigEndian.Uint32(head[4:]), body: make([]byte, length-8)}
	_, err := io.ReadFull(r, p.body)
	return p, incomplete(unexpected(err))
}

// incomplete names the end of a stream inside a packet.
func incomplete(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncompleteStartup
	}
	return err
}

// startup is what a client asks for.
type startup struct {
	version      uint32 // of the protocol, as asked for
	user         string
	database     string
	parameters   map[string]string // by lower-case name, as the client asked
	unrecognized []string          // protocol options the client offered
}

// oldFrontend refuses a client of a protocol before 3.0, in which an error is a line
// of text.
type oldFrontend struct{ *fatal }

func (o oldFrontend) Unwrap() error { return o.fatal }

// encoded is the refusal as such a client reads it.
func (o oldFrontend) encoded() []byte {
	return []byte("EFATAL:  " + o.message + "\n\x00")
}

// parseStartup reads a startup packet for protocol version 3.
func parseStartup(p startupPacket) (startup, error) {
	if major := p.code >> 16; major != protocol30>>16 {
		refused := newFatal(stateFeatureNotSupported,
			fmt.Sprintf("unsupported frontend protocol %d.%d: server supports 3.0 to 3.2", major, p.code&0xffff))
		if p.code != 0 && major < protocol30>>16 {
			return startup{}, oldFrontend{refused}
		}
		return startup{}, refused
	}
	st := startup{version: p.code}
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

// negotiation is the answer to a client that asked for more than there is; nil if it
// did not. The version in it is the whole number, as PostgreSQL sends it. A client that
// does not want the version answered hangs up.
func (st startup) negotiation() *pgproto3.NegotiateProtocolVersion {
	if st.version <= protocol32 && len(st.unrecognized) == 0 {
		return nil
	}
	return &pgproto3.NegotiateProtocolVersion{
		NewestMinorProtocol: min(st.version, protocol32),
		UnrecognizedOptions: st.unrecognized,
	}
}

// secretBytes is the length of the client's cancel key.
func (st startup) secretBytes() int {
	if st.version >= protocol32 {
		return longSecretBytes
	}
	return shortSecretBytes
}
