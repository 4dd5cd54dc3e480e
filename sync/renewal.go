package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	gosync "sync"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/crash"
)

// renewer re-anonymizes immediate tables while the stream is applied, one at a time:
// where a release has drifted beyond the policy's threshold, and where an operator
// asks for it. The classes are made on a goroutine from a copy of the records; the
// applier adopts them at a commit boundary and writes them in one transaction, so
// that readers see the old release until it commits. A failed renewal does not affect
// publication.
type renewer struct {
	applier  *applier
	ticker   *time.Ticker
	readDue  bool      // requests are to be looked for as soon as the connection is free
	requests []request // waiting, oldest first
	running  *renewal
	ended    chan *renewal
	ready    *renewal // ended, and to be adopted at the next commit boundary
	outcomes []outcome
	stop     context.CancelFunc
	work     gosync.WaitGroup
}

// renewal makes the classes of one table anew.
type renewal struct {
	mode         *immediate             // of the table
	request      int64                  // 0 where the threshold asks
	runs         []*incremental.Renewal // of each part; nil where none is due
	done         atomic.Int64           // records of all parts that have found their class
	reportedDone int64                  // what the request says of that
	err          error
}

func newRenewer(a *applier) *renewer {
	return &renewer{applier: a, ticker: time.NewTicker(requestInterval), ended: make(chan *renewal, 1), stop: func() {}}
}

// close ends what is under way and waits for it.
func (r *renewer) close() {
	r.ticker.Stop()
	r.stop()
	r.work.Wait()
}

// step does what is to be done at a commit boundary: it adopts a renewal that has
// ended, or begins one that is due.
func (r *renewer) step(ctx context.Context) error {
	if !r.applier.atBoundary() {
		return nil // after the next flush
	}
	if r.ready != nil {
		ready := r.ready
		r.ready, r.running = nil, nil
		r.stop()
		if err := r.finish(ctx, ready); err != nil {
			return err
		}
	}
	if r.running == nil {
		r.beginNext(ctx)
	}
	if len(r.outcomes) > 0 {
		return r.applier.flush(ctx, r.applier.session.position)
	}
	return nil
}

// beginNext begins the oldest request, or what a threshold asks for.
func (r *renewer) beginNext(ctx context.Context) {
	waiting := make([]request, 0, len(r.requests))
	for _, asked := range r.requests {
		if r.running != nil {
			waiting = append(waiting, asked)
			continue
		}
		switch s, problem := r.renewable(asked.table); {
		case problem != nil:
			r.outcomes = append(r.outcomes, outcome{request: asked.id, problem: problem.Error()})
		case s == nil:
			waiting = append(waiting, asked)
		default:
			r.begin(ctx, s, asked.id, func(*maintained) bool { return true })
		}
	}
	r.requests = waiting
	for _, t := range r.applier.session.tables {
		if s, is := t.mode.(*immediate); is && r.running == nil {
			r.begin(ctx, s, 0, func(p *maintained) bool { return p.threshold.Due(p.partition) })
		}
	}
}

// renewable finds a table that can be re-anonymized; nil for one that is being prepared, for
// which the request has to wait.
func (r *renewer) renewable(name catalog.Name) (*immediate, error) {
	if t := r.applier.session.tables.find(name); t != nil {
		s, is := t.mode.(*immediate)
		if !is {
			return nil, errGuarded(name)
		}
		return s, nil
	}
	if slices.ContainsFunc(r.applier.session.syncer.configured(), func(p catalog.Publication) bool { return p.Policy.Table == name }) {
		if status := r.applier.session.syncer.Status().Tables[name]; status.State == Halted && !status.Preparing {
			return nil, fmt.Errorf("%s is halted: %s", name, status.Problem)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%s is not a protected table", name)
}

// errGuarded says why a guarded table is not made anew.
func errGuarded(name catalog.Name) error {
	return fmt.Errorf("%s is guarded: readers who compare new classes with the old ones could single people out; "+
		"'kproxy rebuild %s --new-lineage' starts a new lineage, at that price", name, name)
}

// begin copies the records of the parts that are due and has their classes made.
func (r *renewer) begin(ctx context.Context, s *immediate, request int64, due func(*maintained) bool) {
	renewal := &renewal{mode: s, request: request, runs: make([]*incremental.Renewal, len(s.parts))}
	any := false
	for i, p := range s.parts {
		if due(p) {
			renewal.runs[i], any = p.partition.BeginRenewal(), true
			renewal.runs[i].Suppression = s.t.layout.publication.Policy.Suppression
		}
	}
	if !any {
		return
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.running = renewal
	r.work.Go(func() {
		renewal.run(ctx, r.applier.session.syncer.config.Logger)
		r.ended <- renewal
	})
}

// run makes the classes. A panic is logged without its own words, which could be
// values of rows.
func (n *renewal) run(ctx context.Context, logger *slog.Logger) {
	defer func() {
		if cause := recover(); cause != nil {
			logger.Error("an internal error ended a re-anonymization", append(crash.Of(cause).Log(), "relation", n.mode.t.layout.name())...)
			n.err = errors.New("an internal error; the log says where it was")
		}
	}()
	before := int64(0)
	for _, run := range n.runs {
		if run == nil {
			continue
		}
		n.err = run.Run(ctx, func(done, _ int) { n.done.Store(before + int64(done)) })
		if n.err != nil {
			return
		}
		before = n.done.Load()
	}
}

// finish adopts what a renewal has made, where it is worth it, and writes it.
func (r *renewer) finish(ctx context.Context, n *renewal) error {
	t := n.mode.t
	if r.applier.session.tables.find(t.layout.name()) != t {
		return nil // it was published anew meanwhile
	}
	if n.err != nil {
		r.applier.session.syncer.config.Logger.Warn("a table could not be re-anonymized; its release stays as it is", "relation", t.layout.name(), "error", n.err)
		for i, p := range n.mode.parts {
			if n.runs[i] != nil {
				p.threshold.Failed()
			}
		}
		return r.writeOutcome(ctx, n, outcome{request: n.request, problem: n.err.Error()})
	}
	result, adopted := outcome{request: n.request}, 0
	for i, p := range n.mode.parts {
		run := n.runs[i]
		if run == nil {
			continue
		}
		worth := p.threshold.Measured(run)
		result.before, result.afresh = max(result.before, run.Before), max(result.afresh, run.Loss())
		p.loss, p.drift = run.Before, run.Drift()
		if n.request != 0 {
			worth = run.Loss() < run.Before // an operator wants any gain
		}
		if !worth {
			r.applier.session.syncer.config.Logger.Debug("the release has not drifted", "relation", t.layout.name(), "part", i, "loss", run.Before, "afresh", run.Loss())
			continue
		}
		if err := p.partition.FinishRenewal(run); err != nil {
			return internal(fmt.Errorf("adopting the classes of %s: %w", t.layout.name(), err))
		}
		p.loss, p.drift = run.Loss(), 1
		t.pending.dirty = true
		adopted++
	}
	result.adopted = adopted > 0
	if err := r.writeOutcome(ctx, n, result); err != nil || adopted == 0 {
		return err
	}
	r.applier.session.syncer.config.Logger.Info("a table was re-anonymized", "relation", t.layout.name(), "parts", adopted,
		"loss", result.before, "afresh", result.afresh, "requested", n.request != 0)
	return nil
}

// writeOutcome writes the outcome with whatever else has to be written.
func (r *renewer) writeOutcome(ctx context.Context, n *renewal, o outcome) error {
	if n.request != 0 {
		r.outcomes = append(r.outcomes, o)
	}
	if n.request == 0 && !n.mode.t.pending.dirty {
		return nil
	}
	return r.applier.flush(ctx, r.applier.session.position)
}
