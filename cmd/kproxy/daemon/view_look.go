package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/config"
)

// viewInterval is how soon changed definitions of views are noticed, and viewPause how
// soon it is tried again what readers' transactions were in the way of.
const (
	viewInterval = 3 * time.Second
	viewPause    = 500 * time.Millisecond
)

// viewTimeout bounds one look: while it lasts, nothing else is kept up to date.
const viewTimeout = 10 * time.Second

// views are the views over protected tables as this process knows them.
type views struct {
	conn      *pgx.Conn
	rewritten rewritings
	snapshot  *catalog.Snapshot // the rewriter's
	found     []catalog.View
	// outcomes are those of the last look; a view that is in none has not been looked at.
	outcomes map[catalog.Name]viewOutcome
	// afresh says that the configuration was read since what it no longer lists was
	// dropped. A process does that once: another one may have a newer configuration.
	afresh bool
	told   map[catalog.Name]string // problems that are in the log
	// since is when a view was first refused that is still.
	since map[catalog.Name]time.Time
	soon  *time.Timer
}

// newViews has everything looked at at once.
func newViews() views { return views{afresh: true, soon: time.NewTimer(time.Hour)} }

// close lets go of the connection and the timer.
func (v *views) close() {
	v.soon.Stop()
	if v.conn != nil {
		_ = v.conn.Close(context.Background())
	}
}

// looks says whether there may be views to publish.
func (d *Daemon) looks() bool { return len(d.config.Policy.Readable) > 0 || d.views.afresh }

// lookAtViews brings the published views in line with the database and the policy.
// Without a connection it leaves what is known as it is.
func (d *Daemon) lookAtViews(ctx context.Context) {
	if !d.looks() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, viewTimeout)
	defer cancel()
	relations, err := d.makeViews(ctx)
	if err != nil {
		if d.views.conn != nil {
			_ = d.views.conn.Close(ctx)
			d.views.conn = nil
		}
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			d.Logger.Warn("views over protected tables could not be looked at", "error", err)
		}
	}
	d.tellViews()
	d.resolve(relations)
}

// makeViews looks and makes. It returns the database's relations where there are other
// views than before, and nil otherwise.
func (d *Daemon) makeViews(ctx context.Context) (relations []catalog.Relation, err error) {
	if d.views.conn == nil || d.views.conn.IsClosed() {
		if d.views.conn, err = connectOwner(ctx, d.config); err != nil {
			return nil, err
		}
	}
	p, found, err := newPlanner(ctx, d.views.conn, d.config, d.views.rewritten.under(d.gate.rewriter.Load(), d.views.snapshot))
	if err != nil {
		return nil, err
	}
	plans := p.plan(found)
	d.views.rewritten = p.rewritten
	m := viewMaker{
		conn: d.views.conn, reader: d.config.Upstream.Reader.User, invoker: p.invoker, again: d.views.afresh,
		gone: func(name catalog.Name) bool {
			listed := slices.Contains(d.config.Policy.Readable, name)
			return (listed || d.views.afresh) && !slices.ContainsFunc(found, func(v catalog.View) bool { return v.Name == name && v.Publishable() })
		},
	}
	m.told = func(name catalog.Name) bool {
		since, refused := d.views.since[name]
		return refused && time.Since(since) > 2*viewInterval
	}
	failed := m.make(ctx, plans)
	switch {
	case errors.Is(failed, errViewStore):
		failed = nil
		m.outcomes = make(map[catalog.Name]viewOutcome)
		for _, plan := range plans {
			m.outcomes[plan.view.Name] = viewOutcome{problem: "the private store was made by an earlier version, which published no views", fix: "run 'kproxy setup', which keeps what is there"}
		}
	case m.outcomes == nil:
		return nil, failed
	}
	if m.kept || slices.ContainsFunc(slices.Collect(maps.Values(m.outcomes)), func(o viewOutcome) bool { return o == held }) {
		d.views.soon.Reset(viewPause) // once the readers' sessions are ended
	}
	if !slices.EqualFunc(found, d.known, sameView) {
		if relations, err = inspect.Relations(ctx, d.views.conn, m.reader); err != nil {
			return nil, err
		}
	}
	d.views.found, d.views.outcomes, d.views.afresh = found, m.outcomes, d.views.afresh && (m.kept || failed != nil)
	d.views.note()
	return relations, failed
}

// What readers are told of views. They name no column or relation, of which the reader
// may not know.
const (
	unpublishableView = "Its definition does not fit what is published; the operator has been told why."
	withdrawnTable    = "It reads a table that is not published now."
)

// withdraw adds the views that cannot be read now, given the tables that cannot.
func (v *views) withdraw(withdrawn map[catalog.Name]string) {
	for _, view := range catalog.Ordered(v.found) {
		if !view.Publishable() {
			continue
		}
		outcome, looked := v.outcomes[view.Name]
		switch {
		case slices.ContainsFunc(view.Tables, func(t catalog.Name) bool { return withdrawn[t] != "" }):
			withdrawn[view.Name] = withdrawnTable
		case !looked || outcome.waits:
			withdrawn[view.Name] = beingPublished
		case outcome.problem != "":
			withdrawn[view.Name] = unpublishableView
		}
	}
}

// note remembers since when views are refused. Other processes look as often, and refuse
// them by then: until they do, their readers shall not find that a view is gone.
func (v *views) note() {
	before := v.since
	v.since = make(map[catalog.Name]time.Time)
	for name, outcome := range v.outcomes {
		if outcome.problem == "" {
			continue
		}
		v.since[name] = time.Now()
		if since, known := before[name]; known {
			v.since[name] = since
		}
	}
}

// doubt has the views over a table looked at again, which has been published in a new
// shape perhaps, and they with it are gone.
func (v *views) doubt(table catalog.Name) {
	for _, view := range v.found {
		if slices.Contains(view.Tables, table) && v.outcomes[view.Name].problem == "" {
			delete(v.outcomes, view.Name)
			v.soon.Reset(0)
		}
	}
}

// tellViews puts into the log, once, what is wrong with views and that nothing is any
// more. What waits for a table is told of that.
func (d *Daemon) tellViews() {
	problems := make(map[catalog.Name]string)
	for _, view := range d.views.found {
		outcome := d.views.outcomes[view.Name]
		before := d.views.told[view.Name]
		switch {
		case outcome.problem == "" && before != "":
			d.Logger.Info("a view is well again", "view", view.Name)
		case outcome.problem == "" || outcome.waits:
		default:
			problems[view.Name] = outcome.problem
			if before != outcome.problem {
				d.Logger.Error("a view is withdrawn; all else is served", "view", view.Name, "problem", outcome.problem, "fix", outcome.fix)
			}
		}
	}
	d.views.told = problems
}

// sweepViews drops published views that show readers more than they may read themselves:
// privileges may have changed while no kproxy ran.
func sweepViews(ctx context.Context, c *config.Config) error {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	found, err := inspect.Widenings(ctx, conn, c.Upstream.Reader.User)
	if err != nil {
		return nil //nolint:nilerr // the check says what is missing
	}
	for _, w := range found {
		if _, err := conn.Exec(ctx, "DROP VIEW IF EXISTS "+w.View.SQL()+" CASCADE"); err != nil {
			return fmt.Errorf("dropping view %s, which shows %s: %w", w.View, w.Source, err)
		}
	}
	return nil
}
