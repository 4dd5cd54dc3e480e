package daemon

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/login"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/pool"
	ksync "github.com/kproxy/kproxy/sync"
)

// prepare makes what serves from what was found at the start.
func (d *Daemon) prepare(ctx context.Context) error {
	c := d.config()
	owner, source, primary, err := upstream.Logins(c)
	if err != nil {
		return err
	}
	d.gate.SetLimits(c, d.snapshots())
	d.answers.Resize(c.Answers.Size)
	policy, err := d.policyOf(c)
	if err != nil {
		return err
	}
	keys, err := c.Release.Seal.Ring(ctx)
	if err != nil {
		return err
	}
	d.syncer, err = ksync.New(ksync.Config{
		Whole: policy, Seal: keys, Unproved: d.unproved,
		Owner: owner, Source: source, Primary: primary, Reader: c.Upstream.Reader.User,
		Publication: c.Publication, Slot: c.Slot, Distribute: c.Distributes(),
		Tables: d.served.publications, Seed: d.Seed,
		Recovery: check.Recoveries[c.Replication.Recovery], Heartbeat: cmp.Or(c.Replication.Heartbeat, never),
		Superseded: superseded(c),
		Progress:   d.showProgress, Failpoint: d.Failpoint, Logger: d.Logger,
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
	look, err := login.NewLookup(c)
	if err != nil {
		return err
	}
	d.lookup.Store(look)
	toServe, err := d.proxyConfig(c, look)
	if err != nil {
		return err
	}
	if d.proxy, err = proxy.New(toServe); err != nil {
		return fmt.Errorf("preparing the proxy: %w", err)
	}
	d.certificates.adopt(d.Logger, c)
	d.referrer = &referrer{logger: d.Logger, config: d.config, syncer: d.syncer, proxy: d.proxy, wake: make(chan struct{}, 1)}
	d.guarantees.note(true)
	d.metrics.prepared.Store(true)
	return nil
}

// proxyConfig is what the proxy needs of a configuration.
func (d *Daemon) proxyConfig(c *config.Config, look *login.Lookup) (proxy.Config, error) {
	session, err := upstream.SessionConfig(c, c.Upstream.Reader)
	if err != nil {
		return proxy.Config{}, fmt.Errorf("the reader's connection: %w", err)
	}
	readers, err := upstream.ReaderConfigs(c)
	if err != nil {
		return proxy.Config{}, err
	}
	certificate, err := login.TLS(c.TLS)
	if err != nil {
		return proxy.Config{}, err
	}
	return proxy.Config{
		Answers: d.answers,
		Gate:    &d.gate, Available: d.available, Logger: d.Logger, Observer: d.metrics.proxyObserver(), Withdrawn: withdrawnAtServer,
		Access: login.Access(c, look, d.secret), Database: c.Database,
		TLS: certificate, TLSRequired: c.TLS.Mode == config.TLSRequire, Forwarders: c.ProxyProtocol.From,
		Upstream: session, Readers: readers, Referred: true, Pool: poolOptions(c, d.connections),
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

// never is longer than any interval.
const never = math.MaxInt64 * time.Nanosecond

// preferences are the configuration's choices among servers.
var preferences = map[config.Prefer]pool.Prefer{
	config.PreferPrimary: pool.PreferPrimary,
	config.PreferStandby: pool.PreferStandby,
	config.OnlyStandby:   pool.OnlyStandby,
}

// poolOptions say how many connections sessions get of those that the server has, and to which
// servers.
func poolOptions(c *config.Config, has int) pool.Options {
	const none = -1
	return pool.Options{
		MaxConnections: cmp.Or(c.Limits.MaxConnections, min(check.Spare(has), c.Limits.MaxSessions)), MaxPerUser: c.Limits.MaxConnectionsPerUser,
		MaxQueue: cmp.Or(c.Limits.MaxWaiting, none), QueueTimeout: c.Timeouts.Queue,
		IdleTimeout: cmp.Or(c.Pool.Idle, none*time.Second), Lifetime: c.Pool.Lifetime,
		Prefer: preferences[c.Upstream.Prefer], MaxStaleness: c.Upstream.MaxStaleness,
	}
}
