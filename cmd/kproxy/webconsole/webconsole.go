// Package webconsole opens the operator's console in a process, and reads what it shows from the
// process and the private store.
package webconsole

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/connlimit"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/proxy"
	ksync "github.com/kproxy/kproxy/sync"
)

// Process is what the console shows of the process that it is part of. All functions can be
// called from any goroutine.
type Process struct {
	Logger *slog.Logger
	// Level is the logger's, which operators may set.
	Level *slog.LevelVar
	// Config returns the configuration in force.
	Config func() *config.Config
	// Conditions returns those of the protected tables.
	Conditions func() map[catalog.Name]status.Condition
	// Replication returns the status of replication.
	Replication func() ksync.Status
	// Clients counts the clients, and Sessions lists their sessions.
	Clients  func() proxy.Counts
	Sessions func(ctx context.Context) []proxy.SessionInfo
	// Refusal says since when and why new sessions are not served, nil where they are.
	Refusal func() *state.Refusal
	// Work returns what the process makes of protected tables, by their names.
	Work func() map[string]*state.Work
	// Observer keeps figures of statements. It may be nil.
	Observer *observe.Observer
}

// Console is the operator's web console in a process.
type Console struct {
	logger      *slog.Logger
	console     *console.Console
	listener    net.Listener
	server      *http.Server
	certificate *certificate
	encrypted   bool // from its start to its end
}

// certificate is the console's certificate, which a reload may replace.
type certificate struct {
	mutex sync.Mutex
	pair  *tls.Certificate
}

func (c *certificate) load(from config.Console) error {
	if from.CertFile == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(from.CertFile, from.KeyFile)
	if err != nil {
		return fmt.Errorf("loading the console's certificate: %w", err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.pair = &pair
	return nil
}

func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.pair, nil
}

// Bounds of the console's connections. Writing includes reading from the database.
const (
	consoleHeaderTime  = 5 * time.Second
	consoleReadTime    = 15 * time.Second
	consoleWriteTime   = 90 * time.Second
	consoleIdleTime    = 60 * time.Second
	consoleHeaderBytes = 16 << 10
	consoleConnections = 64
)

// Open listens where the configuration says. It returns nil where that has no console.
func Open(ctx context.Context, p Process) (*Console, error) {
	c := p.Config().Console
	if c.Listen == "" {
		return nil, nil
	}
	o := &Console{logger: p.Logger, certificate: &certificate{}}
	if err := o.certificate.load(c); err != nil {
		return nil, err
	}
	access, err := consoleAccess(c)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening for the console: %w", err)
	}
	at, _ := netip.ParseAddrPort(listener.Addr().String())
	options := console.Options{
		Source: newSource(p), Access: access, TLS: c.CertFile != "",
		Loopback: at.Addr().Unmap().IsLoopback(), Port: int(at.Port()), Logger: p.Logger,
		Recognized: connlimit.Recognize,
	}
	if c.Profiling == config.Allow {
		options.Profiles = observe.Profiling()
	}
	o.console = console.New(ctx, options)
	o.server = &http.Server{
		Handler: o.console, ReadHeaderTimeout: consoleHeaderTime, ReadTimeout: consoleReadTime,
		WriteTimeout: consoleWriteTime, IdleTimeout: consoleIdleTime, MaxHeaderBytes: consoleHeaderBytes,
		ErrorLog: slog.NewLogLogger(p.Logger.Handler(), slog.LevelDebug),
	}
	o.listener = connlimit.Listener(listener, consoleConnections, o.server)
	if o.encrypted = options.TLS; o.encrypted {
		o.listener = tls.NewListener(o.listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.certificate.current, NextProtos: []string{"http/1.1"}})
	}
	return o, nil
}

func consoleAccess(c config.Console) (console.Access, error) {
	access := console.Access{Actions: c.Actions == config.Allow}
	for _, u := range c.Users {
		verifier, err := scram.Parse(u.Verifier.Reveal())
		if err != nil {
			return access, fmt.Errorf("the console's user %q: %w", u.Name, err)
		}
		access.Users = append(access.Users, console.User{Name: u.Name, Verifier: verifier})
	}
	return access, nil
}

// URL returns where the console is, empty for nil.
func (o *Console) URL() string {
	if o == nil {
		return ""
	}
	scheme := "http"
	if o.encrypted {
		scheme = "https"
	}
	return scheme + "://" + o.listener.Addr().String() + "/"
}

// Serve answers until ctx ends.
func (o *Console) Serve(ctx context.Context) {
	if o == nil {
		return
	}
	o.logger.Info("the console is open", "url", o.URL())
	context.AfterFunc(ctx, func() { _ = o.server.Close() })
	if err := o.server.Serve(o.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		o.logger.Error("the console has ended", "error", err)
	}
}

// Reconfigure takes over who may do what, and the certificate. If either cannot be used, both
// stay as they are.
func (o *Console) Reconfigure(c config.Console) {
	if o == nil || c.Listen == "" {
		return
	}
	access, err := consoleAccess(c)
	if err == nil {
		err = o.certificate.load(c)
	}
	if err != nil {
		o.logger.Error("the console stays as it is", "error", err)
		return
	}
	o.console.Reconfigure(access)
}
