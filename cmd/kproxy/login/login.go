// Package login turns the users, rules and certificates of a configuration into what the proxy
// takes, and looks up verifiers in a database.
package login

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy/access"
)

// Settings of rules in the types of package access.
var (
	transports = map[config.Transport]access.Transport{
		config.AnyTransport: access.Any, config.PlainTransport: access.Plain, config.TLSTransport: access.TLS, config.UnixTransport: access.Unix,
	}
	methods = map[config.Method]access.Method{
		config.MethodScram: access.Password, config.MethodCert: access.Certificate, config.MethodReject: access.Reject,
	}
	certificates = map[config.ClientCertificate]access.CertificateCheck{
		config.NoCertificate: access.NoCertificate, config.AnyCertificate: access.VerifyCA, config.OwnCertificate: access.VerifyFull,
	}
	clientNames = map[config.ClientName]access.CertificateName{
		config.CommonName: access.CommonName, config.DistinguishedName: access.DistinguishedName,
	}
)

// Access returns who may log in. Salts for users who do not exist are derived from secret.
func Access(c *config.Config, look *Lookup, secret []byte) access.Config {
	a := access.Config{
		LookupReader: c.AuthQuery.Reader, LookupTimeout: c.AuthQuery.Timeout, LookupLifetime: c.AuthQuery.Lifetime,
		Iterations: c.AuthQuery.Iterations, Secret: secret,
		Throttle: access.Throttling{
			Off: c.Throttle.Off, Free: c.Throttle.Free, Delay: c.Throttle.Delay, MaxDelay: c.Throttle.MaxDelay, Forget: c.Throttle.Forget,
		},
		MaxPending: c.Limits.MaxLogins, MaxPendingPerAddress: c.Limits.MaxLoginsPerAddress,
	}
	if look != nil {
		a.Lookup = look.Find
	}
	for _, u := range c.Users {
		a.Users = append(a.Users, access.User{Name: u.Name, Verifier: u.Verifier.Reveal(), Reader: u.Reader, CertificateName: u.CertificateName})
	}
	for _, rule := range c.Access {
		a.Rules = append(a.Rules, access.Rule{
			Transport: transports[rule.Transport], Databases: rule.Databases, Users: rule.Users, Addresses: rule.From,
			Method: methods[rule.Method], Certificate: certificates[rule.ClientCertificate], CertificateName: clientNames[rule.ClientName],
		})
	}
	return a
}

// TLS reads the certificates. A reload calls it again.
func TLS(c config.TLS) (*tls.Config, error) {
	if c.Mode == config.TLSOff {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("loading the TLS certificate: %w", err)
	}
	serving := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if c.ClientCAFile == "" {
		return serving, nil
	}
	authorities, err := os.ReadFile(c.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("loading the authorities of clients' certificates: %w", err)
	}
	serving.ClientCAs, serving.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !serving.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, errors.New("loading the authorities of clients' certificates: the file holds none")
	}
	return serving, nil
}

// Secret reads the secret from which all processes on the database derive salts for users who do
// not exist. It is nil if setup was last run by an earlier version.
func Secret(ctx context.Context, c *config.Config) ([]byte, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var secret []byte
	err = conn.QueryRow(ctx, "SELECT salt FROM kproxy_store.login").Scan(&secret)
	if upstream.MissingStore(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the private store: %w", err)
	}
	return secret, nil
}
