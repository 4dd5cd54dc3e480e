package clients

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"testing"
)

// TestNegotiation asks for versions and options of the protocol that there are not, as
// libpq 19 does to find out whether servers and proxies negotiate.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	compare(t, "negotiation", func(t *testing.T, w way) []step {
		var d diary
		for _, ask := range []struct {
			name    string
			minor   uint32
			options []string
		}{
			{"3.0", 0, nil},
			{"3.1", 1, nil},
			{"3.2", 2, nil},
			{"3.9999", 9999, nil},
			{"3.9999 with an option", 9999, []string{"_pq_.test_protocol_negotiation", "true"}},
			{"3.0 with an option", 0, []string{"_pq_.nothing", ""}},
			{"3.2 with two options", 2, []string{"_pq_.one", "1", "_pq_.two", "2"}},
		} {
			d.note(ask.name, func() (any, error) { return negotiated(w, ask.minor, ask.options) })
		}
		return d.steps
	})
}

// negotiated is what the server answers to a startup message, up to its first request
// for authentication.
func negotiated(w way, minor uint32, options []string) (seen []string, err error) {
	conn, err := encrypted(w)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	message := binary.BigEndian.AppendUint32(nil, 3<<16|minor)
	for _, text := range append([]string{"user", user, "database", database}, options...) {
		message = append(append(message, text...), 0)
	}
	message = append(message, 0)
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message)+4)), message...)); err != nil {
		return nil, err
	}
	for {
		var header [5]byte
		if _, err := io.ReadFull(conn, header[:]); err != nil {
			return seen, err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(conn, body); err != nil {
			return seen, err
		}
		seen = append(seen, fmt.Sprintf("%c %q", header[0], body))
		if header[0] == 'R' || header[0] == 'E' {
			return seen, nil
		}
	}
}

// encrypted asks for TLS and connects.
func encrypted(w way) (net.Conn, error) {
	certificate, err := os.ReadFile(site.certificate)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.port)))
	if err != nil {
		return nil, err
	}
	var answer [1]byte
	if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil { // SSLRequest
		return nil, err
	}
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return nil, err
	}
	if answer[0] != 'S' {
		return nil, fmt.Errorf("TLS is refused: %q", answer)
	}
	return tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: host}), nil
}
