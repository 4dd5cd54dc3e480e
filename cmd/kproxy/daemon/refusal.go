package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/units"
)

// refusal remembers since when readers are refused, and has the log say when that begins, when the
// reason changes and when it ends. The zero value is one of readers that are served. Any goroutine may
// use it.
type refusal struct {
	mu  sync.Mutex
	now *state.Refusal // nil while readers are served
}

// refusalInterval is how often a process looks whether it refuses readers.
const refusalInterval = time.Second

// note takes why readers are refused, empty for not, and returns what is known of it.
func (r *refusal) note(logger *slog.Logger, why, fix string, at time.Time) *state.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.now
	switch {
	case why == "" && before == nil:
		return nil
	case why == "":
		r.now = nil
		logger.Info("readers are served again", "refused_for", units.Age(at.Sub(before.Since)))
		return nil
	case before == nil:
		r.now = &state.Refusal{Since: at.UTC().Truncate(time.Second), Why: why, Fix: fix}
	case before.Why != why:
		r.now = &state.Refusal{Since: before.Since, Why: why, Fix: fix}
	default:
		return before
	}
	logger.Error("readers are refused", "reason", why, "since", r.now.Since.Format(time.RFC3339), "fix", fix)
	return r.now
}

// known returns what was found out last, without waiting.
func (r *refusal) known() *state.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// watchRefusals looks, until ctx ends, whether readers are refused.
func (d *Daemon) watchRefusals(ctx context.Context) {
	every := time.NewTicker(refusalInterval)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			d.refuses()
		case <-ctx.Done():
			return
		}
	}
}

// refuses returns since when and why new sessions of this process get nothing, nil where they do. It names
// no object of the database: whoever may connect to that may hear of it.
func (d *Daemon) refuses() *state.Refusal {
	if !d.isReady() || d.metrics.draining.Load() {
		return nil // the states of tables say so
	}
	why, fix := d.whyRefused()
	return d.refusal.note(d.Logger, why, fix, time.Now())
}

func (d *Daemon) whyRefused() (why, fix string) {
	switch {
	case d.guarantees.failing():
		return notGuaranteed, "see what 'kproxy check' says, and the log; kproxy looks again every few seconds"
	case d.metrics.audited() != nil:
		return notAudited, "make room for the audit log, or set audit.on_failure: drop; the log says what is wrong"
	}
	if err := d.probe(context.Background()); err != nil {
		return probed(err), "see whether the servers of upstream.reader answer, let the reader role in and keep up; the log says more, and /readyz the same"
	}
	if len(d.config().Policy.Tables) > 0 && d.shown.tables.Load() == 0 {
		return notPublished, "the states of the tables say why"
	}
	return "", ""
}
