package daemon

import (
	"fmt"
	"time"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	ksync "github.com/kproxy/kproxy/sync"
)

// prepare makes what serves from what was found at the start.
func (d *Daemon) prepare() error {
	owner, err := ownerConfig(d.config)
	if err != nil {
		return err
	}
	d.gate.limit(d.config, d.snapshot())
	policy, err := d.policyOf(d.config)
	if err != nil {
		return err
	}
	d.syncer, err = ksync.New(ksync.Config{
		Whole: policy,
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
	look, err := newLookup(d.config)
	if err != nil {
		return err
	}
	d.lookup.Store(look)
	toServe, err := d.proxyConfig(d.config, look)
	if err != nil {
		return err
	}
	if d.proxy, err = proxy.New(toServe); err != nil {
		return fmt.Errorf("preparing the proxy: %w", err)
	}
	d.observed.audits.note(true)
	d.observed.prepared.Store(true)
	return nil
}

// recoveries are the configuration's ways to recover.
var recoveries = map[config.Recovery]ksync.Recovery{
	config.Resynchronize: ksync.ResynchronizeOnLoss,
	config.StopOnLoss:    ksync.StopOnLoss,
}

// proxyConfig is what the proxy needs of a configuration.
func (d *Daemon) proxyConfig(c *config.Config, look *lookup) (proxy.Config, error) {
	upstream, err := sessionConfig(c, c.Upstream.Reader)
	if err != nil {
		return proxy.Config{}, fmt.Errorf("the reader's connection: %w", err)
	}
	readers, err := readerConfigs(c)
	if err != nil {
		return proxy.Config{}, err
	}
	certificate, err := tlsConfig(c.TLS)
	if err != nil {
		return proxy.Config{}, err
	}
	return proxy.Config{
		Gate: &d.gate, Available: d.available, Logger: d.Logger, Observer: d.observed.told(), Withdrawn: withdrawnAtServer,
		Access: accessConfig(c, look, d.secret), Database: c.Database,
		TLS: certificate, TLSRequired: c.TLS.Mode == config.TLSRequire, Forwarders: c.ProxyProtocol.From,
		Upstream: upstream, Readers: readers, Referred: true, Pool: poolOptions(c),
		MaxStatementBytes:  c.Limits.MaxStatementBytes,
		MaxMessageBytes:    c.Limits.MaxMessageBytes,
		MaxSessions:        c.Limits.MaxSessions,
		MaxSessionsPerUser: c.Limits.MaxSessionsPerUser,
		AuthTimeout:        c.Timeouts.Login,
		ConnectTimeout:     c.Timeouts.Connect,
		DrainTimeout:       max(c.Timeouts.Shutdown, time.Nanosecond), // 0 is another word for the usual time
		Timeouts: proxy.Timeouts{
			Statement: c.Timeouts.Statement, Transaction: c.Timeouts.Transaction,
			IdleInTransaction: c.Timeouts.IdleInTransaction, Idle: c.Timeouts.Idle,
		},
	}, nil
}

// pinnedByOperator are the settings of the server that bound clients and that they must not
// raise.
func pinnedByOperator(t config.Timeouts) []string {
	if t.Statement > 0 {
		return []string{"statement_timeout"}
	}
	return nil
}
