package chaos

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/access"
)

// What clients of a [Front] log in with.
const (
	User     = "ann"
	Password = "a password"
	Database = "clinic"
)

// Front is a running proxy.
type Front struct {
	TCP, Unix string // addresses

	stop   context.CancelFunc
	done   chan error
	folder string
}

var verifier = sync.OnceValues(func() (scram.Verifier, error) {
	return scram.Derive(Password, []byte("0123456789abcdef"), scram.MinIterations)
})

// certificate is made for localhost and nobody trusts it.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour * 24)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

// Config is a configuration for a [Front] with a gate before a server.
func Config(gate proxy.Gate, upstream *pgconn.Config) (proxy.Config, error) {
	known, err := verifier()
	if err != nil {
		return proxy.Config{}, err
	}
	shown, err := certificate()
	if err != nil {
		return proxy.Config{}, err
	}
	return proxy.Config{
		Gate:     gate,
		Access:   access.Config{Users: []access.User{{Name: User, Verifier: known.String()}}, Throttle: access.Throttling{Off: true}},
		Database: Database,
		Upstream: upstream,
		TLS:      &tls.Config{Certificates: []tls.Certificate{shown}, MinVersion: tls.VersionTLS12},
	}, nil
}

// Start runs a proxy on a TCP port and a Unix socket.
func Start(c proxy.Config) (*Front, error) {
	server, err := proxy.New(c)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "chaos")
	if err != nil {
		return nil, err
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	unix, err := net.Listen("unix", filepath.Join(folder, "socket"))
	if err != nil {
		return nil, errors.Join(err, tcp.Close(), os.RemoveAll(folder))
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &Front{TCP: tcp.Addr().String(), Unix: unix.Addr().String(), stop: cancel, done: make(chan error, 1), folder: folder}
	go func() { f.done <- server.Serve(ctx, tcp, unix) }()
	return f, nil
}

// stopTimeout bounds how long a proxy may take to stop.
const stopTimeout = 60 * time.Second

// Stop ends the proxy.
func (f *Front) Stop() error {
	f.stop()
	defer func() { _ = os.RemoveAll(f.folder) }()
	select {
	case err := <-f.done:
		return err
	case <-time.After(stopTimeout):
		return fmt.Errorf("the proxy has not stopped after %v", stopTimeout)
	}
}

// Login is that of a client, over a Unix socket or TCP, with TLS or without.
func (f *Front) Login(unix, encrypted bool) Login {
	l := Login{Network: "tcp", Address: f.TCP, User: User, Password: Password, Database: Database}
	if unix {
		l.Network, l.Address = "unix", f.Unix
	}
	if encrypted {
		l.TLS = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} // the test's own server
	}
	return l
}
