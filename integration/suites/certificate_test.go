package suites

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// certificate is what all ways show: PEM files, of which the second is the key.
type certificate struct{ file, key string }

// ofLoopback makes a self-signed certificate for the loopback address, once.
var ofLoopback = sync.OnceValues(func() (certificate, error) {
	c := certificate{filepath.Join(scratch, "server.crt"), filepath.Join(scratch, "server.key")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kproxy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, err
	}
	return c, errors.Join(
		os.WriteFile(c.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o644),
		os.WriteFile(c.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
})

// config is for servers in this process.
func (c certificate) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.file, c.key)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, err
}

// copyTo puts the certificate into a server's data folder, as its owner's.
func (c certificate) copyTo(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	for _, file := range []string{c.file, c.key} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.Base(file))
		if err := errors.Join(os.WriteFile(to, text, 0o600), os.Chown(to, int(owner.Uid), int(owner.Gid))); err != nil {
			return err
		}
	}
	return nil
}
