package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// viewInterval is how soon changed definitions of views are noticed, and viewPause how
// soon it is tried again what readers' transactions were in the way of.
const (
	viewInterval = 3 * time.Second
	viewPause    = 500 * time.Millisecond
)

// views are the views over protected tables as this process knows them. They are looked at
// in a goroutine of its own, one look at a time: what the database is slow to answer holds
// up nothing else, withdrawals least of all.
type views struct {
	conn      *pgx.Conn
	rewritten rewritings
	// definitions belong to the look that there is.
	definitions definitions
	snapshot    *catalog.Snapshot // the rewriter's
	found       []catalog.View
	// outcomes are those of the last look; a view that is in none has not been looked at.
	outcomes map[catalog.Name]viewOutcome
	// afresh says that the configuration was read since what it no longer lists was
	// dropped. A process does that once: another one may have a newer configuration.
	afresh bool
	told   map[catalog.Name]string // problems that are in the log
	failed string                  // what kept the last look from its end, as the log was told
	// since is when a view was first refused that is still.
	since map[catalog.Name]time.Time
	soon  *time.Timer

	looking bool
	looked  chan *look
	// doubted are the views whose outcomes do not count that a look brings which has begun.
	doubted map[catalog.Name]bool
}

// newViews has everything looked at at once.
func newViews() views {
	return views{afresh: true, soon: time.NewTimer(time.Hour), looked: make(chan *look, 1)}
}

// close waits for a look to end, and lets go of the connection and the timer.
func (v *views) close() {
	v.soon.Stop()
	if v.looking {
		v.conn = (<-v.looked).conn
	}
	if v.conn != nil {
		_ = v.conn.Close(context.Background())
	}
}

// looks says whether there may be views to publish, or to know of.
func (d *Daemon) looks(follows bool) bool {
	return len(d.config.Policy.Readable) > 0 || d.views.afresh && !follows
}

// beginLook has the views looked at, if they are not at the moment. What comes of it is
// given to takeIn.
func (d *Daemon) beginLook(ctx context.Context) {
	v, follows := &d.views, d.syncer.Status().State == ksync.Following
	if v.looking || !d.looks(follows) {
		return
	}
	l := &look{
		config: d.config, rewritten: v.rewritten.under(d.gate.rewriter.Load(), v.snapshot), conn: v.conn, definitions: &v.definitions,
		known: d.known, follows: follows, afresh: v.afresh, since: v.since,
	}
	v.looking, v.doubted = true, make(map[catalog.Name]bool)
	go func() {
		l.run(ctx)
		v.looked <- l
	}()
}

// lookAtViews looks at the views and waits for what comes of it. A look that has begun may
// have missed what there is to see.
func (d *Daemon) lookAtViews(ctx context.Context) {
	d.awaitLook()
	d.beginLook(ctx)
	d.awaitLook()
}

func (d *Daemon) awaitLook() {
	if d.views.looking {
		d.takeIn(<-d.views.looked)
	}
}

// takeIn has readers know what a look has found. Where that is nothing, what is known stays
// as it is.
func (d *Daemon) takeIn(l *look) {
	d.views.looking, d.views.conn, d.views.rewritten = false, l.conn, l.rewritten
	if l.config != d.config {
		return // who has put the other one in place looks again
	}
	switch {
	case l.err == nil:
		d.views.failed = ""
	case !errors.Is(l.err, context.Canceled) && l.err.Error() != d.views.failed:
		d.views.failed = l.err.Error()
		d.Logger.Warn("views over protected tables could not be looked at, or not all of them", "error", l.err)
	}
	if l.outcomes == nil {
		return
	}
	d.views.take(l)
	d.tellViews()
	d.resolve(l.relations)
}

// take keeps what a look has found.
func (v *views) take(l *look) {
	v.found, v.outcomes, v.afresh = l.found, l.outcomes, v.afresh && (l.kept || l.follows || l.err != nil)
	v.note()
	if l.kept || slices.ContainsFunc(slices.Collect(maps.Values(v.outcomes)), viewOutcome.passes) {
		v.soon.Reset(viewPause)
	}
	for name := range v.doubted {
		delete(v.outcomes, name)
		v.soon.Reset(0)
	}
}

// What readers are told of views. They name no column or relation, of which the reader
// may not know.
const (
	unpublishableView = "Its definition does not fit what is published; the operator has been told why."
	unservedRelation  = "It is not as it was when it was accepted, or cannot be shown safely; the operator has been told why."
	withdrawnTable    = "It reads a table that is not published now."
)

// withdraw adds the listed relations that cannot be read now, given the tables that cannot.
func (v *views) withdraw(listed []catalog.Name, withdrawn map[catalog.Name]string) {
	for _, name := range listed {
		if slices.ContainsFunc(v.found, func(view catalog.View) bool { return view.Name == name }) {
			continue
		}
		switch outcome, looked := v.outcomes[name]; {
		case !looked || outcome.problem == "" && !outcome.standIn || outcome.waits:
			withdrawn[name] = beingPublished
		case outcome.problem != "":
			withdrawn[name] = unservedRelation
		}
	}
	for _, view := range catalog.Ordered(v.found) {
		if !view.Publishable() {
			continue
		}
		outcome, looked := v.outcomes[view.Name]
		switch {
		case slices.ContainsFunc(view.Tables, func(t catalog.Name) bool { return withdrawn[t] != "" }):
			withdrawn[view.Name] = withdrawnTable
		case !looked || outcome.standIn || outcome.waits:
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
			if v.looking {
				v.doubted[view.Name] = true
			}
			v.soon.Reset(0)
		}
	}
}

// tellViews puts into the log, once, what is wrong with views and that nothing is any
// more. What waits for a table is told of that.
func (d *Daemon) tellViews() {
	problems := make(map[catalog.Name]string)
	for name, outcome := range d.views.outcomes {
		kind := "readable relation"
		if slices.ContainsFunc(d.views.found, func(v catalog.View) bool { return v.Name == name }) {
			kind = "view"
		}
		before := d.views.told[name]
		switch {
		case outcome.problem == "" && before != "":
			d.Logger.Info("a "+kind+" is well again", "relation", name)
		case outcome.problem == "" || outcome.waits:
		default:
			problems[name] = outcome.problem
			if before != outcome.problem {
				d.Logger.Error("a "+kind+" is withdrawn; all else is served", "relation", name, "problem", outcome.problem, "fix", outcome.fix)
			}
		}
	}
	d.views.told = problems
}
