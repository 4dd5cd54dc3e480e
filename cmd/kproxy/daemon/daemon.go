// Package daemon wires configuration, replication, rewriting and proxy into
// the process that `kproxy serve` runs.
package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/rewrite"
	ksync "github.com/kproxy/kproxy/sync"
)

// Options are what a caller may add to a configuration.
type Options struct {
	Logger *slog.Logger
	// Progress is told how far the initial publication is; may be nil.
	Progress func(ksync.Progress)
	// Failpoint is passed on to replication; tests inject crashes there.
	Failpoint func(name string)
	// Seed makes the anonymization reproducible.
	Seed uint64
}

// Daemon is one kproxy process for one database.
type Daemon struct {
	config *config.Config
	Options

	proxy    *proxy.Server
	syncer   *ksync.Syncer
	rewriter *rewrite.Rewriter
	address  atomic.Pointer[net.TCPAddr]
	ready    chan struct{}

	unavailable atomic.Pointer[unavailable]
	refresh     chan struct{}

	publications []catalog.Publication // what replication applies

	// What the rewriter knows; used by one goroutine at a time.
	relations []catalog.Relation
	withdrawn map[catalog.Name]string
}

// New prepares a daemon; nothing is connected yet.
func New(c *config.Config, o Options) *Daemon {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Daemon{config: c, Options: o, ready: make(chan struct{}), refresh: make(chan struct{}, 1)}
}

// Ready is closed once clients can connect.
func (d *Daemon) Ready() <-chan struct{} { return d.ready }

// Address is where clients connect; nil before Ready.
func (d *Daemon) Address() *net.TCPAddr { return d.address.Load() }

// Run checks, publishes and serves until ctx ends, which returns nil after
// running statements have finished. It returns a *CheckError when the database
// is not fit, and listens only once every table is published.
func (d *Daemon) Run(ctx context.Context) error {
	// A taken port is reported before the work. It is given back meanwhile:
	// until there is something to read, clients shall not wait in its queue.
	listener, err := d.listen(ctx)
	if err != nil {
		return err
	}
	if err := listener.Close(); err != nil {
		return fmt.Errorf("giving the port back: %w", err)
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	if err := d.prepare(); err != nil {
		return err
	}
	if d.proxy, err = d.server(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	applied := make(chan error, 1)
	go func() { applied <- d.apply(ctx) }()
	select {
	case <-d.syncer.Published():
	case err := <-applied: // ctx ended, or nothing could be published
		return err
	}
	served := d.serve(ctx)
	cancel()
	return errors.Join(served, <-applied)
}

// apply runs replication. When it stops for the operator, clients are told by
// refusals and the operator at once by the log.
func (d *Daemon) apply(ctx context.Context) error {
	err := d.syncer.Run(ctx)
	if err != nil {
		d.Logger.Error("replication stopped; the protected tables are withdrawn", "error", err)
		return fmt.Errorf("replication stopped: %w", err)
	}
	return nil
}

// serve listens until ctx ends.
func (d *Daemon) serve(ctx context.Context) error {
	listener, err := d.listen(ctx)
	if err != nil {
		return err
	}
	d.resolve(nil)
	go d.watch(ctx)
	d.address.Store(listener.Addr().(*net.TCPAddr)) //nolint:forcetypeassert // listening on tcp
	d.Logger.Info("serving", "address", listener.Addr().String(), "database", d.config.Database, "tables", len(d.config.Policy.Tables))
	close(d.ready)
	return d.proxy.Serve(ctx, listener)
}

func (d *Daemon) listen(ctx context.Context) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", d.config.Listen, err)
	}
	return listener, nil
}

func (d *Daemon) prepare() error {
	owner, err := ownerConfig(d.config)
	if err != nil {
		return err
	}
	d.rewriter = rewrite.New(rewrite.Options{
		Database:          d.config.Database,
		CacheBytes:        d.config.Limits.StatementCacheBytes,
		MaxStatementBytes: d.config.Limits.MaxStatementBytes,
		Pinned:            pinnedByOperator(d.config.Timeouts),
	})
	d.syncer, err = ksync.New(ksync.Config{
		Owner: owner, Reader: d.config.Upstream.Reader.User,
		Publication: d.config.Publication, Slot: d.config.Slot,
		Tables: d.publications, Seed: d.Seed,
		Progress: d.Progress, Failpoint: d.Failpoint, Logger: d.Logger,
		Changed: func(ksync.Status) {
			select {
			case d.refresh <- struct{}{}:
			default: // one is waiting
			}
		},
	})
	if err != nil {
		return fmt.Errorf("preparing replication: %w", err)
	}
	return nil
}

func (d *Daemon) server() (*proxy.Server, error) {
	upstream, err := readerConfig(d.config)
	if err != nil {
		return nil, err
	}
	certificate, err := tlsConfig(d.config.TLS)
	if err != nil {
		return nil, err
	}
	users := make(map[string]string, len(d.config.Users))
	for _, u := range d.config.Users {
		users[u.Name] = u.Verifier.Reveal()
	}
	server, err := proxy.New(proxy.Config{
		Gate: d.rewriter, Users: users, Database: d.config.Database, Upstream: upstream,
		TLS: certificate, TLSRequired: d.config.TLS.Mode == config.TLSRequire,
		Available:         d.available,
		MaxStatementBytes: d.config.Limits.MaxStatementBytes,
		MaxMessageBytes:   d.config.Limits.MaxMessageBytes,
		MaxSessions:       d.config.Limits.MaxSessions,
		AuthTimeout:       d.config.Timeouts.Login,
		ConnectTimeout:    d.config.Timeouts.Connect,
		DrainTimeout:      d.config.Timeouts.Shutdown,
		Logger:            d.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the proxy: %w", err)
	}
	return server, nil
}

// pinnedByOperator are the settings that bound clients and that they must not
// raise.
func pinnedByOperator(t config.Timeouts) []string {
	var names []string
	if t.Statement > 0 {
		names = append(names, "statement_timeout")
	}
	if t.Idle > 0 {
		names = append(names, "idle_session_timeout")
	}
	return names
}

// readerConfig is the connection each client session gets. What is pinned here
// is also what RESET ALL and DISCARD ALL return to.
func readerConfig(c *config.Config) (*pgconn.Config, error) {
	upstream, err := pgconn.ParseConfig(c.Upstream.Reader.ConnString())
	if err != nil {
		return nil, fmt.Errorf("the reader's connection: %w", err)
	}
	// Release schemas only: they hold views and nothing else, so that no function,
	// operator or type of the database is found by an unqualified name.
	path := make([]string, len(catalog.DefaultSearchPath))
	for i, schema := range catalog.DefaultSearchPath {
		path[i] = catalog.QuoteIdentifier(catalog.ReleaseSchema(schema))
	}
	pinned := map[string]string{
		"search_path":                   strings.Join(path, ", "),
		"default_transaction_read_only": "on",
		"standard_conforming_strings":   "on",
		"client_encoding":               "UTF8",
	}
	for name, setting := range pinned {
		upstream.RuntimeParams[name] = setting
	}
	if t := c.Timeouts.Statement; t > 0 {
		upstream.RuntimeParams["statement_timeout"] = fmt.Sprint(t.Milliseconds())
	}
	if t := c.Timeouts.Idle; t > 0 {
		upstream.RuntimeParams["idle_session_timeout"] = fmt.Sprint(t.Milliseconds())
	}
	return upstream, nil
}

func tlsConfig(c config.TLS) (*tls.Config, error) {
	if c.Mode == config.TLSOff {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("loading the TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, nil
}
