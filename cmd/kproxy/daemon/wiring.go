package daemon

import (
	"crypto/tls"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/access"
	ksync "github.com/kproxy/kproxy/sync"
)

// prepare makes what serves from what was found at the start.
func (d *Daemon) prepare() error {
	owner, err := ownerConfig(d.config)
	if err != nil {
		return err
	}
	d.gate.limit(d.config, d.snapshot())
	d.syncer, err = ksync.New(ksync.Config{
		Owner: owner, Reader: d.config.Upstream.Reader.User,
		Publication: d.config.Publication, Slot: d.config.Slot,
		Tables: d.publications, Seed: d.Seed,
		Recovery: recoveries[d.config.Replication.Recovery], Heartbeat: d.config.Replication.Heartbeat,
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
	toServe, err := d.proxyConfig(d.config)
	if err != nil {
		return err
	}
	if d.proxy, err = proxy.New(toServe); err != nil {
		return fmt.Errorf("preparing the proxy: %w", err)
	}
	return nil
}

// recoveries are the configuration's ways to recover.
var recoveries = map[config.Recovery]ksync.Recovery{
	config.Resynchronize: ksync.ResynchronizeOnLoss,
	config.StopOnLoss:    ksync.StopOnLoss,
}

// proxyConfig is what the proxy needs of a configuration.
func (d *Daemon) proxyConfig(c *config.Config) (proxy.Config, error) {
	upstream, err := readerConfig(c)
	if err != nil {
		return proxy.Config{}, err
	}
	certificate, err := tlsConfig(c.TLS)
	if err != nil {
		return proxy.Config{}, err
	}
	users := make([]access.User, len(c.Users))
	for i, u := range c.Users {
		users[i] = access.User{Name: u.Name, Verifier: u.Verifier.Reveal()}
	}
	return proxy.Config{
		Gate: &d.gate, Access: access.Config{Users: users}, Database: c.Database, Upstream: upstream,
		TLS: certificate, TLSRequired: c.TLS.Mode == config.TLSRequire,
		Available:         d.available,
		MaxStatementBytes: c.Limits.MaxStatementBytes,
		MaxMessageBytes:   c.Limits.MaxMessageBytes,
		MaxSessions:       c.Limits.MaxSessions,
		AuthTimeout:       c.Timeouts.Login,
		ConnectTimeout:    c.Timeouts.Connect,
		DrainTimeout:      c.Timeouts.Shutdown,
		Logger:            d.Logger,
	}, nil
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
	pinned := map[string]string{
		// A release schema only: it holds views and nothing else, so that no function,
		// operator or type of the database is found by an unqualified name. What clients
		// call their search_path, the rewriter follows.
		"search_path":                   catalog.QuoteIdentifier(catalog.ReleaseSchema("public")),
		"default_transaction_read_only": "on",
		"standard_conforming_strings":   "on",
		"client_encoding":               "UTF8",
	}
	if c.TemporaryTables == config.TemporaryAllow {
		// PostgreSQL makes no tables in read-only transactions, not even temporary ones.
		pinned["default_transaction_read_only"] = "off"
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
