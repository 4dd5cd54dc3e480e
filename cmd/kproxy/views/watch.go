// Package views publishes the views over protected tables that a configuration lists, and
// stand-ins for readable relations, and keeps them in step with their definitions. A planner
// decides what each is published as (plan.go, readable.go), a maker creates and drops them
// (make.go), and a Watcher repeats that while kproxy serves.
package views

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/rewrite"
)

// Interval is how soon changed definitions of views are noticed. viewPause is the pause before
// another attempt where readers' transactions held a view.
const (
	Interval  = 3 * time.Second
	viewPause = 500 * time.Millisecond
)

// Watcher keeps the published views in step with the views over protected tables and the
// readable relations. One look at the database runs at a time, in a goroutine of its own, so
// that a slow database delays nothing else. All methods belong to the one goroutine that
// receives from Soon and Looked.
type Watcher struct {
	logger    *slog.Logger
	conn      *pgx.Conn
	source    *pgx.Conn // to a source in a database of its own
	rewritten rewritings
	// definitions belong to the look under way, if there is one.
	definitions definitions
	snapshot    *catalog.Snapshot // the rewriter's
	known       []catalog.View    // in the rewriter's snapshot
	found       []catalog.View
	// outcomes are those of the last look. A view without one has not been looked at.
	outcomes viewOutcomes
	// afresh says that names which the configuration no longer lists are still to be dropped.
	// A process does that once for each configuration: another process may have a newer one.
	afresh bool
	logged map[viewer]string // problems in the log
	failed string            // why the last look failed, as logged
	away   string            // why the source could not be asked, as logged
	// since is when a view that is still refused was first refused.
	since map[viewer]time.Time
	soon  *time.Timer

	looking bool
	looked  chan *Look
	// doubted are the views whose outcomes in the look under way are out of date.
	doubted map[viewer]bool
}

// NewWatcher returns a Watcher that has looked at nothing yet.
func NewWatcher(logger *slog.Logger) *Watcher {
	return &Watcher{logger: logger, afresh: true, soon: time.NewTimer(time.Hour), looked: make(chan *Look, 1)}
}

// Close waits for a look to end, and closes the connection and the timer.
func (w *Watcher) Close() {
	w.soon.Stop()
	if w.looking {
		l := <-w.looked
		w.conn, w.source = l.conn, l.source
	}
	for _, conn := range []*pgx.Conn{w.conn, w.source} {
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}
}

// Soon receives a value when Begin should be called before its next regular time.
func (w *Watcher) Soon() <-chan time.Time { return w.soon.C }

// LookSoon makes Soon receive a value now.
func (w *Watcher) LookSoon() { w.soon.Reset(0) }

// Looked receives the look that Begin began, for TakeIn.
func (w *Watcher) Looked() <-chan *Look { return w.looked }

// Looking reports whether a look is under way.
func (w *Watcher) Looking() bool { return w.looking }

// Adopt takes the views that a check of the database found under a new configuration.
func (w *Watcher) Adopt(found []catalog.View) { w.found, w.afresh = found, true }

// Refresh takes the views that an audit found.
func (w *Watcher) Refresh(found []catalog.View) { w.found = found }

// Changed reports whether the views differ from those in the rewriter's snapshot.
func (w *Watcher) Changed() bool { return !slices.EqualFunc(w.found, w.known, sameView) }

// Found are the views that clients can find, or of which they are told why they cannot read them.
func (w *Watcher) Found() []catalog.View { return w.found }

// Extend adds the views to a snapshot, without those withdrawn, and remembers it as the
// rewriter's.
func (w *Watcher) Extend(s *catalog.Snapshot, withdrawn map[catalog.Name]string) *catalog.Snapshot {
	w.known = w.found
	w.snapshot = s.WithViews(w.known, withdrawn)
	return w.snapshot
}

// ExtendFor is Extend for the snapshot of an audience.
func (w *Watcher) ExtendFor(s *catalog.Snapshot, withdrawn map[catalog.Name]string) *catalog.Snapshot {
	return s.WithViews(w.found, withdrawn)
}

// Begin begins a look, unless one is under way or nothing can come of it. Follows says that
// another process publishes.
func (w *Watcher) Begin(ctx context.Context, c *config.Config, rewriter *rewrite.Rewriter, follows bool) {
	if w.looking || len(c.Policy.Readable) == 0 && (!w.afresh || follows) {
		return
	}
	l := &Look{
		config: c, rewritten: w.rewritten.under(rewriter, w.snapshot), conn: w.conn, source: w.source, definitions: &w.definitions,
		known: w.known, follows: follows, afresh: w.afresh, since: w.since,
	}
	w.looking, w.doubted = true, make(map[viewer]bool)
	go func() {
		l.run(ctx)
		w.looked <- l
	}()
}

// TakeIn takes the results of a look under the configuration in force. It reports whether
// there are any, with the database's relations if they were read again.
func (w *Watcher) TakeIn(l *Look, inForce *config.Config) (relations []catalog.Relation, found bool) {
	w.looking, w.conn, w.source, w.rewritten = false, l.conn, l.source, l.rewritten
	if l.config != inForce {
		return nil, false // a reload looks again
	}
	w.tellAway(l.away)
	switch {
	case l.err == nil:
		w.failed = ""
	case !errors.Is(l.err, context.Canceled) && l.err.Error() != w.failed:
		w.failed = l.err.Error()
		w.logger.Warn("not all views over protected tables could be read or published", "error", l.err)
	}
	if l.outcomes == nil {
		return nil, false
	}
	w.take(l)
	w.log()
	return l.relations, true
}

// tellAway logs, once, that a source in a database of its own could not be asked, and that it is again.
func (w *Watcher) tellAway(away error) {
	switch {
	case away == nil && w.away != "":
		w.away = ""
		w.logger.Info("the views of the source are looked at again")
	case away != nil && away.Error() != w.away && !errors.Is(away, context.Canceled):
		w.away = away.Error()
		w.logger.Warn("the views of the source could not be looked at; what was published of them stays", "error", away)
	}
}

// take keeps what a look has found.
func (w *Watcher) take(l *Look) {
	for _, a := range l.unseen() {
		l.outcomes.keep(a, w.outcomes)
	}
	w.found, w.outcomes, w.afresh = l.found, l.outcomes, w.afresh && (l.kept || l.follows || l.err != nil)
	w.note()
	if l.kept || slices.ContainsFunc(slices.Collect(maps.Values(w.outcomes)), viewOutcome.passes) {
		w.soon.Reset(viewPause)
	}
	for of := range w.doubted {
		delete(w.outcomes, of)
		w.soon.Reset(0)
	}
}

// Reasons why readers cannot read a view. They name no column or relation, which the reader may
// not know.
const (
	unpublishableView = "Its definition does not fit what is published; the operator has been told why."
	unservedRelation  = "It is not as it was when it was accepted, or cannot be shown safely; the operator has been told why."
	BeingPublished    = "It is being published; try again later."
	withdrawnTable    = "It reads a table that is not published now."
)

// Withdraw adds the listed relations that cannot be read now, with reasons for readers, given
// the tables that nobody can read, and by audience those that it cannot read besides. Of each audience, it
// makes that all names that it cannot read.
func (w *Watcher) Withdraw(policy catalog.Policy, withdrawn map[catalog.Name]string, audiences map[string]map[catalog.Name]string) {
	withdraw(w.found, w.outcomes, policy, withdrawn, audiences)
}

func withdraw(found []catalog.View, outcomes viewOutcomes, policy catalog.Policy, withdrawn map[catalog.Name]string, audiences map[string]map[catalog.Name]string) {
	for _, a := range policy.Audiences {
		all := maps.Clone(audiences[a.Name])
		if all == nil {
			all = make(map[catalog.Name]string)
		}
		maps.Copy(all, withdrawn)
		seen, _ := policy.For(a.Name)
		withdrawFor(found, outcomes, seen, all)
		audiences[a.Name] = all
	}
	withdrawFor(found, outcomes, policy, withdrawn)
}

// withdrawFor adds the listed relations that the readers of a policy cannot read; see [catalog.Policy.For].
func withdrawFor(found []catalog.View, outcomes viewOutcomes, policy catalog.Policy, withdrawn map[catalog.Name]string) {
	seen := make(map[catalog.Name]bool)
	for _, t := range policy.Tables {
		seen[t.Table] = true
	}
	for _, name := range policy.Readable {
		if slices.ContainsFunc(found, func(view catalog.View) bool { return view.Name == name }) {
			continue
		}
		switch outcome, looked := outcomes[viewer{view: name}]; {
		case !looked || outcome.problem == "" && !outcome.standIn || outcome.waits:
			withdrawn[name] = BeingPublished
		case outcome.problem != "":
			withdrawn[name] = unservedRelation
		}
	}
	for _, view := range catalog.Ordered(found) {
		if !view.Publishable() {
			continue
		}
		outcome, looked := outcomes[viewer{policy.Audience, view.Name}]
		switch {
		case slices.ContainsFunc(view.Tables, func(t catalog.Name) bool { return !seen[t] }):
			withdrawn[view.Name] = catalog.UnseenTable
		case slices.ContainsFunc(view.Tables, func(t catalog.Name) bool { return withdrawn[t] != "" }):
			withdrawn[view.Name] = withdrawnTable
		case !looked || outcome.standIn || outcome.waits:
			withdrawn[view.Name] = BeingPublished
		case outcome.problem != "":
			withdrawn[view.Name] = unpublishableView
		}
	}
}

// note remembers since when views are refused. Other processes look as often, and refuse them
// soon as well. Until they do, their readers must not find that a view is gone.
func (w *Watcher) note() {
	before := w.since
	w.since = make(map[viewer]time.Time)
	for name, outcome := range w.outcomes {
		if outcome.problem == "" {
			continue
		}
		w.since[name] = time.Now()
		if since, known := before[name]; known {
			w.since[name] = since
		}
	}
}

// Doubt makes the next look examine an audience's views over a table again, or those of the policy's own
// readers. The table may have been published with other columns, and the views dropped with the old release.
func (w *Watcher) Doubt(audience string, table catalog.Name) {
	for _, view := range w.found {
		if of := (viewer{audience, view.Name}); slices.Contains(view.Tables, table) && w.outcomes[of].problem == "" {
			delete(w.outcomes, of)
			if w.looking {
				w.doubted[of] = true
			}
			w.soon.Reset(0)
		}
	}
}

// log writes, once each, what is wrong with a view and that nothing is any more. A view that
// waits for a table is left to the messages about the table.
func (w *Watcher) log() {
	problems := make(map[viewer]string)
	for of, outcome := range w.outcomes {
		kind, logger := "readable relation", w.logger
		if slices.ContainsFunc(w.found, func(v catalog.View) bool { return v.Name == of.view }) {
			kind = "view"
		}
		if of.audience != "" {
			logger = logger.With("audience", of.audience)
		}
		before := w.logged[of]
		switch {
		case outcome.problem == "" && before != "":
			logger.Info("a "+kind+" is well again", "relation", of.view)
		case outcome.problem == "" || outcome.waits:
		default:
			problems[of] = outcome.problem
			if before == outcome.problem {
				break
			}
			if outcome.fix == fixUnseen { // as the policy says
				logger.Info("a "+kind+" is not for the audience", "relation", of.view, "reason", outcome.problem)
				break
			}
			logger.Error("a "+kind+" is withdrawn; all else is served", "relation", of.view, "reason", outcome.problem, "fix", outcome.fix)
		}
	}
	w.logged = problems
}
