// Package certificate makes a certificate for servers on this machine that are measured.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The names of the files that Write makes.
const (
	CertificateFile = "server.crt"
	KeyFile         = "server.key"
)

// Write writes into a folder a certificate for localhost and 127.0.0.1, which clients can
// take for its own authority, and its key. It is valid for two days.
func Write(folder string) error {
	certificate, key, err := pair()
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	for _, file := range []struct {
		name, kind string
		content    []byte
	}{{CertificateFile, "CERTIFICATE", certificate}, {KeyFile, "PRIVATE KEY", key}} {
		text := pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.content})
		if err := os.WriteFile(filepath.Join(folder, file.name), text, 0o600); err != nil {
			return fmt.Errorf("writing a certificate: %w", err)
		}
	}
	return nil
}

// pair makes both, in DER.
func pair() (certificate, secret []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	const valid = 48 * time.Hour
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid),
		IsCA: true, BasicConstraintsValid: true,
	}
	if certificate, err = x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key); err != nil {
		return nil, nil, err
	}
	secret, err = x509.MarshalPKCS8PrivateKey(key)
	return certificate, secret, err
}
