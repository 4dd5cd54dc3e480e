package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/repeats"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/pool"
)

// What probes are told. The log and 'kproxy status' tell more.
const (
	notStarted    = "kproxy is starting: it serves once the tables are published"
	notServing    = "clients are not answered"
	isStopping    = "kproxy is stopping"
	notGuaranteed = "the check of the guarantees fails"
	notAudited    = "the audit log cannot be written"
	notInForce    = "the policy of this process is not number %d, which is in force: see 'kproxy status'"
	notPublished  = "no protected table can be read"
	notReached    = "the database does not answer"
	secondPrimary = "a second primary is among the readers' database servers"
	probeTimeout  = 2 * time.Second // for its answer
)

// Health tells whether the process lives and whether it serves.
func (d *Daemon) Health(ctx context.Context) observe.Health {
	h := observe.Health{Alive: true}
	not := func(reason string) { h.Reasons = append(h.Reasons, reason) }
	if d.metrics.draining.Load() {
		not(isStopping)
		return h
	}
	if !d.isReady() {
		not(notStarted)
		return h
	}
	if err := d.Responds(ctx); err != nil {
		d.repeats.Note(d.Logger, slog.LevelError, repeats.Key{Kind: "unanswered"}, "clients are not answered", "error", err)
		h.Alive = false
		not(notServing)
	}
	if d.guarantees.failing() {
		not(notGuaranteed)
	}
	if d.metrics.audited() != nil {
		not(notAudited)
	}
	if status := d.syncer.Status(); status.Refused != "" {
		not(fmt.Sprintf(notInForce, status.InForce))
	}
	if d.shown.tables.Load() == 0 {
		not(notPublished)
	}
	if err := d.probe(ctx); err != nil {
		d.Logger.Debug("a probe finds that statements are not served", "error", err)
		if reason := probed(err); !slices.Contains(h.Reasons, reason) {
			not(reason)
		}
	}
	if slices.ContainsFunc(d.proxy.Pool().Hosts, func(h pool.HostReport) bool { return h.Role == "second_primary" }) {
		not(secondPrimary)
	}
	if r := d.refuses(); r != nil {
		h.RefusedSince = &r.Since
	}
	h.Ready = len(h.Reasons) == 0
	return h
}

// prober runs a statement as a client would, so that a probe tells what a client would meet.
// Whoever may reach the probes may ask as often as they like: it is run once in a second.
type prober struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

const probeInterval = time.Second

// probe returns nil where a new session would be served.
func (d *Daemon) probe(ctx context.Context) error {
	p := &d.metrics.prober
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < probeInterval {
		return p.err
	}
	// Who asked may hang up; what is found out is for all who ask.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	if d.available() != nil {
		return nil // which is a reason of its own
	}
	sql := "SELECT 1"
	if table := d.shown.table.Load(); table != nil {
		sql += " FROM " + table.SQL() + " LIMIT 0"
	}
	p.err = d.proxy.Serves(ctx, sql)
	p.asked = time.Now()
	return p.err
}

// probed is what a probe is told of why a new session would not be served: in kproxy's own
// words, or that the database does not answer.
func probed(err error) string {
	if told, own := proxy.Refused(err); own {
		return told
	}
	return notReached
}
