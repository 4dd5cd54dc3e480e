package clients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The two ways to the published relations, as indexes of site.ways.
const (
	straight = iota
	through
)

// host is the name that the certificate is for.
const host = "localhost"

// way is where a client connects.
type way struct {
	name string
	port int
}

// url is the way as libpq, pgx and lib/pq take it.
func (w way) url(parameters ...string) string {
	query := url.Values{"sslmode": {"verify-full"}, "sslrootcert": {site.certificate}}
	for i := 0; i < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(user, password),
		Host: net.JoinHostPort(host, strconv.Itoa(w.port)), Path: "/" + database, RawQuery: query.Encode(),
	}
	return u.String()
}

// environment is the way as programs take it that are not libpq's, too.
func (w way) environment() []string {
	return append(os.Environ(), "PGHOST="+host, "PGHOSTADDR=127.0.0.1", "PGPORT="+strconv.Itoa(w.port), "PGUSER="+user, "PGPASSWORD="+password, "PGDATABASE="+database,
		"PGSSLMODE=verify-full", "PGSSLROOTCERT="+site.certificate, "PGCLIENTENCODING=UTF8", "LC_ALL=C.UTF-8", "TZ=UTC", "PGTZ=UTC", "PGDATESTYLE=ISO, MDY")
}

// certify makes a self-signed certificate for the host.
func certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	site.certificate = filepath.Join(site.dir, "server.crt")
	return errors.Join(
		os.WriteFile(site.certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600),
		os.WriteFile(filepath.Join(site.dir, "server.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
}
