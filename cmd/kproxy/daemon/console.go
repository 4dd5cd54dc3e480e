package daemon

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

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/scram"
)

// operatorConsole is the web console of the process; nil where there is none.
type operatorConsole struct {
	console     *console.Console
	listener    net.Listener
	server      *http.Server
	certificate *certificate
	encrypted   bool // from its start to its end
}

// certificate is what the console shows, which a reload may replace.
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

// Bounds of the console's connections. Its writing takes as long as what is shown takes
// to be read from the database.
const (
	consoleHeaderTime  = 5 * time.Second
	consoleReadTime    = 15 * time.Second
	consoleWriteTime   = 90 * time.Second
	consoleIdleTime    = 60 * time.Second
	consoleHeaderBytes = 16 << 10
	consoleConnections = 64
)

// openConsole listens where the configuration says; without a console it does nothing.
func (d *Daemon) openConsole(ctx context.Context, c config.Console) error {
	if c.Listen == "" {
		return nil
	}
	o := &operatorConsole{certificate: &certificate{}}
	if err := o.certificate.load(c); err != nil {
		return err
	}
	access, err := consoleAccess(c)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listening for the console: %w", err)
	}
	at, _ := netip.ParseAddrPort(listener.Addr().String())
	options := console.Options{
		Source: newConsoleSource(d), Access: access, TLS: c.CertFile != "",
		Loopback: at.Addr().Unmap().IsLoopback(), Port: int(at.Port()), Logger: d.Logger,
		Recognized: recognized,
	}
	if c.Profiling == config.Allow {
		options.Profiles = observe.Profiling()
	}
	o.console = console.New(ctx, options)
	o.server = &http.Server{
		Handler: o.console, ReadHeaderTimeout: consoleHeaderTime, ReadTimeout: consoleReadTime,
		WriteTimeout: consoleWriteTime, IdleTimeout: consoleIdleTime, MaxHeaderBytes: consoleHeaderBytes,
		ErrorLog: slog.NewLogLogger(d.Logger.Handler(), slog.LevelDebug),
	}
	o.listener = bounded(listener, consoleConnections, o.server)
	if o.encrypted = options.TLS; o.encrypted {
		o.listener = tls.NewListener(o.listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.certificate.current, NextProtos: []string{"http/1.1"}})
	}
	d.console = o
	return nil
}

// showConsole answers operators, and records what pages show over time, until ctx ends.
func (d *Daemon) showConsole(ctx context.Context) {
	if d.console == nil {
		return
	}
	go d.recordLosses(ctx)
	d.console.serve(ctx, d.Logger)
}

// ConsoleURL is where the console is, empty without one. It is known once Ready is closed.
func (d *Daemon) ConsoleURL() string { return d.console.URL() }

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

// URL is where the console is; empty without one.
func (o *operatorConsole) URL() string {
	if o == nil {
		return ""
	}
	scheme := "http"
	if o.encrypted {
		scheme = "https"
	}
	return scheme + "://" + o.listener.Addr().String() + "/"
}

// serve answers until ctx ends.
func (o *operatorConsole) serve(ctx context.Context, log *slog.Logger) {
	log.Info("the console is open", "url", o.URL())
	context.AfterFunc(ctx, func() { _ = o.server.Close() })
	if err := o.server.Serve(o.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Error("the console has ended", "error", err)
	}
}

// reconfigure takes over who may do what and the certificate; what cannot be used leaves
// all as it was.
func (o *operatorConsole) reconfigure(c config.Console, log *slog.Logger) {
	if o == nil || c.Listen == "" {
		return
	}
	access, err := consoleAccess(c)
	if err == nil {
		err = o.certificate.load(c)
	}
	if err != nil {
		log.Error("the console goes on as it was", "error", err)
		return
	}
	o.console.Reconfigure(access)
}
