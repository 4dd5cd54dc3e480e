package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"

	xscram "github.com/xdg-go/scram"
)

// alpnProtocol is PostgreSQL's name in TLS (PG_ALPN_PROTOCOL, registered with IANA).
// Clients that begin with TLS must name it, so that no other protocol's traffic can be
// made to look like PostgreSQL's; others may.
const alpnProtocol = "postgresql"

// presentedKey finds in a handshake's context where to put the certificate that is
// presented to the client.
type presentedKey struct{}

// serverTLS is the operator's configuration with what the protocol needs. It has no
// session tickets, as PostgreSQL has none: in a resumed session no certificate is
// presented to bind a password to.
func serverTLS(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.NextProtos = []string{alpnProtocol}
	c.SessionTicketsDisabled = true
	c.DynamicRecordSizingDisabled = true // rows come in whole buffers
	choose := certificateChoice(c.Certificates, c.GetCertificate)
	c.Certificates = nil
	c.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		chosen, err := choose(hello)
		if presented, ok := hello.Context().Value(presentedKey{}).(**tls.Certificate); ok {
			*presented = chosen
		}
		return chosen, err
	}
	if other := c.GetConfigForClient; other != nil {
		c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := other(hello)
			if chosen == nil || err != nil {
				return nil, err
			}
			return serverTLS(chosen), nil
		}
	}
	return c
}

// certificateChoice chooses among certificates as crypto/tls does: get is asked where
// the client names a server or there is nothing else, then the first certificate that
// the client supports is taken, else the first.
func certificateChoice(
	certificates []tls.Certificate, get func(*tls.ClientHelloInfo) (*tls.Certificate, error),
) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if get != nil && (len(certificates) == 0 || hello.ServerName != "") {
			if chosen, err := get(hello); chosen != nil || err != nil {
				return chosen, err
			}
		}
		if len(certificates) == 0 {
			return nil, errors.New("no certificate is configured")
		}
		if len(certificates) > 1 {
			fits := slices.IndexFunc(certificates, func(c tls.Certificate) bool { return hello.SupportsCertificate(&c) == nil })
			return &certificates[max(fits, 0)], nil
		}
		return &certificates[0], nil
	}
}

// startTLS makes the connection one with TLS.
func (a *attempt) startTLS() error {
	var presented *tls.Certificate
	encrypted := tls.Server(a.conn, a.serverTLS)
	// Deadlines end the handshake; a context that can end would cost a goroutine.
	if err := encrypted.HandshakeContext(context.WithValue(context.Background(), presentedKey{}, &presented)); err != nil {
		// Not wrapped: there is no layer left in which an answer could be read.
		return errors.New("TLS handshake failed: " + err.Error())
	}
	a.conn, a.encrypted = encrypted, true
	a.binding = endpointBinding(presented)
	if state := encrypted.ConnectionState(); len(state.VerifiedChains) > 0 {
		a.certificate = state.PeerCertificates[0]
	}
	return nil
}

// namesProtocol tells whether the client has named PostgreSQL's protocol in TLS.
func (a *attempt) namesProtocol() bool {
	encrypted, ok := a.conn.(*tls.Conn)
	return ok && encrypted.ConnectionState().NegotiatedProtocol == alpnProtocol
}

// endpointBinding returns the channel binding tls-server-end-point (RFC 5929, section
// 4) of a certificate. It is the empty one where the certificate's signature has no
// hash function of its own, such as Ed25519: the RFC does not define it then, and libpq
// cannot connect where it is offered.
func endpointBinding(presented *tls.Certificate) xscram.ChannelBinding {
	if presented == nil || len(presented.Certificate) == 0 {
		return xscram.ChannelBinding{}
	}
	leaf := presented.Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(presented.Certificate[0]); err != nil {
			return xscram.ChannelBinding{}
		}
	}
	binding, err := xscram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
	if err != nil {
		return xscram.ChannelBinding{}
	}
	return binding
}
