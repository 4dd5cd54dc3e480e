package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/build"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/connlimit"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/observe/audit"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/proxy"
	ksync "github.com/kproxy/kproxy/sync"
)

// metrics are what the process shows its operator besides the log. The zero value is one
// without metrics and audit log. Any goroutine may read it.
type metrics struct {
	observer *observe.Observer // nil where no metrics, audit log or console are configured
	log      *audit.Log        // nil where there is none
	listener net.Listener      // of metrics and probes; nil where there are none

	prepared atomic.Bool // syncer and proxy are there
	draining atomic.Bool
	proofs   history.Proofs
	prober   prober
}

// Paces of what is looked at for metrics.
const (
	sampleInterval = 5 * time.Second
	proofInterval  = time.Minute

	// auditCloseTimeout is how long the end of the process waits for the audit log's.
	auditCloseTimeout = 10 * time.Second
)

// Bounds of the connections of metrics and probes, each of which is for one request.
const (
	metricsHeaderTime  = 2 * time.Second
	metricsWriteTime   = 30 * time.Second
	metricsHeaderBytes = 16 << 10
	metricsConnections = 32
)

// observing says whether anybody looks.
func observing(c *config.Config) bool {
	return c.Metrics.Listen != "" || c.Audit.File != "" || c.Console.Listen != ""
}

// openMetrics opens what the configuration asks for, until close is called, and serves
// metrics and probes from then on: that the process is not ready yet is what they are for.
func (d *Daemon) openMetrics(ctx context.Context) (closing func(), err error) {
	c := d.config()
	m := &d.metrics
	if !observing(c) {
		return func() {}, nil
	}
	if c.Audit.File != "" {
		if m.log, err = openAudit(c.Audit, d.Logger); err != nil {
			return nil, err
		}
	}
	if c.Metrics.Listen != "" {
		if m.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", c.Metrics.Listen); err != nil {
			return nil, errors.Join(fmt.Errorf("listening for metrics: %w", err), m.closeAudit())
		}
	}
	m.observer = observe.New(observe.Options{Version: build.This().Version, State: d.observedState, Audit: m.log, Tables: c.Metrics.Tables})
	ctx, cancel := context.WithCancel(ctx)
	go m.sample(ctx, d.config, d.Logger)
	served := d.serveMetrics()
	return func() {
		cancel()
		if err := m.closeAudit(); err != nil {
			d.Logger.Error("the end of the audit log is lost", "error", err, "records", m.log.Stats().Queued)
		}
		served()
	}, nil
}

func openAudit(c config.Audit, log *slog.Logger) (*audit.Log, error) {
	options := audit.Options{Open: audit.Path(c.File), Logger: log}
	if c.File == config.AuditToStderr {
		options.Open = audit.Stderr
	}
	if c.OnFailure == config.DropRecords {
		options.OnFailure = audit.Drop
	}
	return audit.New(options)
}

func (m *metrics) closeAudit() error {
	if m.log == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditCloseTimeout)
	defer cancel()
	return m.log.Close(ctx)
}

// serveMetrics answers until the function that it returns is called.
func (d *Daemon) serveMetrics() (closing func()) {
	m := &d.metrics
	if m.listener == nil {
		return func() {}
	}
	server := &http.Server{
		Handler: m.observer.Handler(d.Health, d.config().Metrics.Listen, d.config().Metrics.Hosts...), ReadHeaderTimeout: metricsHeaderTime, ReadTimeout: metricsHeaderTime,
		WriteTimeout: metricsWriteTime, MaxHeaderBytes: metricsHeaderBytes,
		ErrorLog: slog.NewLogLogger(d.Logger.Handler(), slog.LevelDebug),
	}
	server.SetKeepAlivesEnabled(false)
	d.Logger.Info("metrics and probes are served", "url", "http://"+m.listener.Addr().String())
	go func() {
		if err := server.Serve(connlimit.Listener(m.listener, metricsConnections, server)); err != nil && !errors.Is(err, http.ErrServerClosed) {
			d.Logger.Error("metrics and probes have ended", "error", err)
		}
	}()
	return func() { _ = server.Close() }
}

// MetricsURL is where metrics and probes are served, empty without them. It is known once
// Ready is closed.
func (d *Daemon) MetricsURL() string {
	if d.metrics.listener == nil {
		return ""
	}
	return "http://" + d.metrics.listener.Addr().String()
}

// reopenAudit opens the audit log again by its name.
func (m *metrics) reopenAudit() {
	if m.log != nil {
		m.log.Reopen()
	}
}

// audited is nil while what runs gets into the audit log.
func (m *metrics) audited() error {
	if m.log == nil {
		return nil
	}
	return m.log.Err()
}

// proxyObserver returns the observer as the proxy takes it: nil where there is none.
func (m *metrics) proxyObserver() proxy.Observer {
	if m.observer == nil {
		return nil
	}
	return m.observer
}

// sample updates the figures that change by themselves until ctx ends.
func (m *metrics) sample(ctx context.Context, config func() *config.Config, logger *slog.Logger) {
	tick, proofs := time.NewTicker(sampleInterval), time.NewTicker(proofInterval)
	defer tick.Stop()
	defer proofs.Stop()
	for {
		select {
		case <-tick.C:
			if m.prepared.Load() {
				m.observer.Sample()
			}
		case <-proofs.C:
			if err := m.readProofs(ctx, config()); err != nil && ctx.Err() == nil {
				logger.Debug("the proofs could not be read", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// readProofs reads the results of the verifier in all processes.
func (m *metrics) readProofs(ctx context.Context, c *config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, proofInterval)
	defer cancel()
	return m.proofs.Read(ctx, c)
}

// observedState is what metrics are made of.
func (d *Daemon) observedState() observe.State {
	c := d.config()
	s := observe.State{MaxSessions: c.Limits.MaxSessions, Audit: d.guarantees.read()}
	if !d.metrics.prepared.Load() {
		return s
	}
	s.Counts, s.Pool = d.Clients(), d.proxy.Pool()
	cache := d.gate.CacheStats()
	s.Cache = observe.Cache{Entries: cache.Entries, Bytes: cache.Bytes, Evictions: cache.Evictions}
	s.Answers = d.answers.Stats()
	replication := d.syncer.Status()
	s.Replication = &observe.Replication{
		State: replication.State.String(), Applies: replication.State == ksync.Streaming,
		Unapplied: replication.Stale, Retained: replication.Slot.Retained, Behind: replication.Slot.Behind, WALStatus: replication.Slot.WALStatus,
	}
	s.Certificates = d.certificates.observed()
	s.ProofInterval = d.metrics.proofs.Interval(c.Verify.Every)
	conditions := d.conditions()
	for _, policy := range c.Policy.Tables {
		t := replication.Tables[policy.Table]
		s.Tables = append(s.Tables, observe.Table{
			Name: policy.Table.String(), State: conditions[policy.Table].State, Preparing: t.Preparing, Generation: t.Generation,
			Proof:   d.metrics.proofs.Of(policy.Table),
			Records: t.Records, Classes: t.Classes, Withheld: t.Withheld,
			Waiting: t.Waiting, Stale: t.Stale, Expired: t.Expired, Ghosts: t.Ghosts, Untold: t.Untold, Returned: t.Returned,
			OldestWaiting: t.OldestWaiting, OldestStale: t.OldestStale, Loss: t.Loss, Drift: t.Drift,
			Audiences: observedAudiences(policy, conditions[policy.Table], t),
		})
	}
	return s
}

// observedAudiences is what metrics tell of what audiences see of a table.
func observedAudiences(policy catalog.TablePolicy, own status.Condition, t ksync.TableStatus) (all []observe.Audience) {
	for _, of := range policy.Seeing() {
		seen := t.Audiences[of.Audience]
		a := observe.Audience{Name: of.Audience, State: status.AudienceState(own, t, of.Audience), Classes: seen.Classes, Withheld: max(t.Withheld, seen.Withheld)}
		if a.State == state.Withheld {
			a.Withheld = t.Records // none is seen
		}
		all = append(all, a)
	}
	return all
}
