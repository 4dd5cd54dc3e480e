package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/repeats"
)

// guarantees are the results of the audit. Any goroutine may ask for them; the watch
// goroutine writes them.
type guarantees struct {
	fails atomic.Bool // the last audit failed; each statement asks

	mu   sync.Mutex
	last observe.Audit

	logged string // why the audit fails, as logged; the watch goroutine's
}

// failing reports whether nothing may be served.
func (g *guarantees) failing() bool { return g.fails.Load() }

func (g *guarantees) read() observe.Audit {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// note keeps the result of an audit.
func (g *guarantees) note(passes bool) {
	g.fails.Store(!passes)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last.Passes, g.last.At = passes, time.Now()
	if !passes {
		g.last.Failed++
	}
}

// unavailable is what clients are told while the audit fails. The findings are
// for the operator's log only: they name hidden objects.
type unavailable struct{}

func (unavailable) Error() string {
	return "kproxy cannot prove that protected data is out of reach and has stopped serving"
}

// SQLState is cannot_connect_now: trying again later may help.
func (unavailable) SQLState() string { return "57P03" }

// Hint tells the analyst whom to turn to.
func (unavailable) Hint() string {
	return "The operator finds the reason in kproxy's log and with 'kproxy check'."
}

// available returns nil while statements may be served.
func (d *Daemon) available() error {
	if d.guarantees.failing() {
		return unavailable{}
	}
	return d.metrics.audited()
}

// audit checks again what serving rests on. While that fails, nothing is served. What
// concerns one name alone withdraws that name.
func (d *Daemon) audit(serving context.Context) {
	ctx, cancel := context.WithTimeout(serving, auditInterval)
	defer cancel()
	c := d.config()
	if d.unproved {
		d.prove(serving, c)
		return
	}
	found, err := check.Serving(ctx, c)
	if serving.Err() != nil {
		return // for statements that still run, the last result stands
	}
	if check.SourceAway(err) {
		d.repeats.Note(d.Logger, slog.LevelWarn, repeats.Key{Kind: "audit"}, "the source could not be checked", "error", err)
		d.auditRelease(serving, c)
		return
	}
	errs := check.Divide(c.Policy, found.Report.Errors())
	findings := slices.DeleteFunc(errs.All, func(f inspect.Finding) bool { return slices.Contains(check.StartingOnly, f.Code) })
	if err == nil {
		for _, f := range d.served.changed(found.Publications) {
			if _, known := errs.Broken[f.Table]; !known {
				errs.Broken[f.Table] = inspect.Report{f}
			}
		}
		d.served.broken, d.served.uncallable = errs.Broken, errs.Functions
		d.views.Refresh(found.Views)
		if next, healed := d.served.heal(found.Publications, d.syncer.Status().Tables); healed {
			d.syncer.Reload(next)
		}
		d.resolve(found.Relations)
	}
	if unreachable(err) {
		// Clients cannot read either, and the last result stands.
		d.repeats.Note(d.Logger, slog.LevelWarn, repeats.Key{Kind: "audit"}, "the audit could not run: the database is out of reach", "error", err)
		return
	}
	d.guarantees.log(d.Logger, err, findings)
	d.guarantees.note(err == nil && len(findings) == 0)
}

// auditRelease audits what readers can reach while the source is away: readers go on. What an audit
// has found stands until one of both databases passes.
func (d *Daemon) auditRelease(serving context.Context, c *config.Config) {
	ctx, cancel := context.WithTimeout(serving, auditInterval)
	defer cancel()
	report, err := check.Reach(ctx, c)
	if serving.Err() != nil || unreachable(err) {
		return
	}
	errs := check.Divide(c.Policy, report.Errors())
	if err == nil && len(errs.Broken) > 0 {
		broken := maps.Clone(errs.Broken)
		maps.Copy(broken, d.served.broken)
		d.served.broken = broken
		d.resolve(nil)
	}
	if err != nil || len(errs.All) > 0 {
		d.guarantees.log(d.Logger, err, errs.All)
		d.guarantees.note(false)
	}
}

// log writes, once, why an audit fails, with a line for each finding, and that it passes
// again.
func (g *guarantees) log(logger *slog.Logger, err error, findings inspect.Report) {
	failure := ""
	if err != nil || len(findings) > 0 {
		failure = fmt.Sprint(err, findings)
	}
	if failure == g.logged {
		return
	}
	g.logged = failure
	const message = "the audit failed; refusing statements until it passes"
	switch {
	case failure == "":
		logger.Info("the audit passes again; serving")
	case err != nil:
		logger.Error(message, "error", err)
	default:
		logger.Error(message, "findings", len(findings))
	}
	for _, f := range findings {
		fields := []any{"code", f.Code, "what", f.What, "fix", check.OneLine(f.Fix)}
		if f.Table != (catalog.Name{}) {
			fields = append(fields, "relation", f.Table)
		}
		logger.Error("a finding of the audit", fields...)
	}
}

// unreachable tells a database that no connection reaches from one that answers
// with a refusal, which may mean that privileges have changed.
func unreachable(err error) bool {
	network := (*net.OpError)(nil)
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &network) && !errors.As(err, &refused)
}
