package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	xscram "github.com/xdg-go/scram"
)

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
		case p.code == sslRequestCode && !askedTLS:
			askedTLS = true
			encrypted, err := s.answerTLS(conn)
			if err != nil {
				return conn, p, err
			}
			// Inside TLS there is no other encryption to ask for.
			askedGSS = askedGSS || encrypted != conn
			conn = encrypted
		case p.code == gssRequestCode && !askedGSS:
			askedGSS = true
			if _, err := conn.Write([]byte{'N'}); err != nil {
				return conn, p, err
			}
		default:
			return conn, p, nil
		}
	}
}

// answerTLS answers a request for TLS and returns the connection to go on with.
// Nothing has been read beyond the request: bytes sent ahead in the clear reach
// the handshake, which fails on them (CVE-2021-23214).
func (s *settings) answerTLS(conn net.Conn) (net.Conn, error) {
	if s.TLS == nil {
		_, err := conn.Write([]byte{'N'})
		return conn, err
	}
	if _, err := conn.Write([]byte{'S'}); err != nil {
		return nil, err
	}
	encrypted := tls.Server(conn, s.TLS)
	if err := encrypted.Handshake(); err != nil {
		// Not wrapped: there is no layer left in which an answer could be read.
		return nil, errors.New("TLS handshake failed: " + err.Error())
	}
	return encrypted, nil
}

// isEncrypted reports whether conn is a TLS connection.
func isEncrypted(conn net.Conn) bool {
	_, ok := conn.(*tls.Conn)
	return ok
}

// endpointBinding returns the channel binding tls-server-end-point (RFC 5929)
// for a configuration with one fixed certificate, the only case in which it is
// known which certificate the client sees; else the empty one.
func endpointBinding(config *tls.Config) xscram.ChannelBinding {
	if config == nil || len(config.Certificates) != 1 || config.GetCertificate != nil ||
		config.GetConfigForClient != nil || len(config.Certificates[0].Certificate) == 0 {
		return xscram.ChannelBinding{}
	}
	leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil {
		return xscram.ChannelBinding{}
	}
	binding, err := xscram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
	if err != nil {
		return xscram.ChannelBinding{}
	}
	return binding
}
