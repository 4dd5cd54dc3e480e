// Package daemon runs what `kproxy serve` does: it connects configuration, replication,
// rewriting and proxy. What the goroutines of a process share is listed in [Daemon]; what one
// of them owns alone is a type of its own.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/describe"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/login"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/cmd/kproxy/webconsole"
	"github.com/kproxy/kproxy/cmd/kproxy/work"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/repeats"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/answers"
	ksync "github.com/kproxy/kproxy/sync"
)

// Options are what a caller may add to a configuration.
type Options struct {
	Logger *slog.Logger
	// Level is the logger's, which a reload sets. It may be nil.
	Level *slog.LevelVar
	// Load reads the configuration again. If it is nil, the configuration cannot be reloaded.
	Load func() (*config.Config, error)
	// Place is where the configuration is read from, as upstream.Place returns it. If it is
	// empty, the daemon does not compare its policy with the one in force.
	Place string
	// Progress is called while tables are published. It may be nil.
	Progress func(ksync.Progress)
	// Failpoint is passed on to replication. Tests inject crashes there.
	Failpoint func(name string)
	// Listeners, if there are any, replace the addresses that the configuration names.
	Listeners []net.Listener
	// Seed makes the anonymization reproducible.
	Seed uint64
}

// Daemon is one kproxy process for one database. Any number of them serve the same database.
type Daemon struct {
	Options
	ready   chan struct{}
	address atomic.Pointer[net.TCPAddr]
	// effective is the configuration in force. Only the watch goroutine replaces it.
	effective atomic.Pointer[config.Config]

	// Run sets these before it starts other goroutines.
	proxy    *proxy.Server
	syncer   *ksync.Syncer
	referrer *referrer
	console  *webconsole.Console
	secret   []byte // of salts for users who do not exist

	gate         gate.Gate
	answers      *answers.Store
	lookup       atomic.Pointer[login.Lookup] // nil where the configuration names all users
	descriptions *describe.Writer
	metrics      metrics
	guarantees   guarantees
	shown        shown
	board        work.Board
	refusal      refusal
	repeats      repeats.Log

	refresh chan struct{}
	tasks   chan func(context.Context) // for the watch goroutine
	again   chan struct{}              // after a reload, for a replication that has stopped

	// These belong to Run until it starts the watch goroutine, and then to that.
	served       served
	views        *views.Watcher
	outOfService unserved
	alarms       alarms
	certificates inUse
	// connections are those that the server of the owner has for everybody.
	connections int
	// unproved says that the source has been away since the start: what is served is what the store has
	// kept, and nothing is applied.
	unproved bool
}

// New prepares a daemon. It connects to nothing.
func New(c *config.Config, o Options) *Daemon {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Level == nil {
		o.Level = &slog.LevelVar{}
	}
	d := &Daemon{
		Options: o, views: views.NewWatcher(o.Logger), outOfService: newUnserved(), descriptions: describe.NewWriter(o.Logger), served: served{logger: o.Logger},
		answers: answers.New(0),
		ready:   make(chan struct{}), refresh: make(chan struct{}, 1), tasks: make(chan func(context.Context)), again: make(chan struct{}, 1),
	}
	d.effective.Store(c)
	return d
}

// config returns the configuration in force.
func (d *Daemon) config() *config.Config { return d.effective.Load() }

// Ready is closed once clients can connect.
func (d *Daemon) Ready() <-chan struct{} { return d.ready }

// Run checks, publishes and serves until ctx ends, which returns nil after
// running statements have finished. It returns a *check.Error when the database
// is not fit, and listens only once every table is published or needs the operator.
func (d *Daemon) Run(ctx context.Context) error {
	if err := d.tryListening(ctx); err != nil {
		return err
	}
	closeMetrics, err := d.openMetrics(ctx)
	if err != nil {
		return err
	}
	defer closeMetrics()
	if err := d.check(ctx); err != nil {
		return err
	}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	defer func() { d.lookup.Load().Close() }()
	defer d.repeats.Flush()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { d.metrics.draining.Store(true) })
	if d.console, err = webconsole.Open(ctx, d.consoleProcess()); err != nil {
		return err
	}
	first := d.config() // a reload replaces it
	applied := make(chan error, 1)
	go func() { applied <- d.apply(ctx) }()
	go d.descriptions.Run(ctx)
	d.resolve(nil)
	referred := make(chan struct{})
	go func() { defer close(referred); d.referrer.run(ctx) }()
	defer func() { cancel(); <-referred }()
	go d.watch(ctx)
	go d.watchRefusals(ctx)
	go d.answerer().Run(ctx)
	measured := history.Process{Logger: d.Logger, Config: d.config, Replication: d.syncer.Status, Published: d.publishes}
	go d.metrics.proofs.Prove(ctx, measured)
	if d.console != nil {
		go measured.RecordLosses(ctx)
		go measured.KeepFigures(ctx)
		go d.console.Serve(ctx)
	}
	select {
	case <-d.syncer.Published():
	case err := <-applied: // ctx ended, or nothing could be published
		return err
	}
	d.do(ctx, d.lookAtViews)
	d.do(ctx, d.readNames) // of what has been published since
	go d.followNames(ctx)
	served := d.serve(ctx, first)
	cancel()
	return errors.Join(served, <-applied)
}

// stoppedPause is how often replication that has stopped is tried again.
const stoppedPause = 10 * time.Second

// apply runs replication. If it stops before anything is published, apply returns its error.
// Later, clients are refused, the log says why, and replication starts again once the
// operator has mended the cause.
func (d *Daemon) apply(ctx context.Context) error {
	logged := ""
	for {
		err := d.syncer.Run(ctx)
		if err == nil {
			return nil
		}
		if logged != err.Error() {
			logged = err.Error()
			d.Logger.Error("replication stopped; the protected tables are withdrawn", "error", err)
		}
		err = fmt.Errorf("replication stopped: %w", err)
		select {
		case <-d.syncer.Published():
		default:
			return err
		}
		select {
		case <-time.After(stoppedPause):
		case <-d.again:
		case <-ctx.Done():
			return err
		}
	}
}

// answerer answers the questions of other processes.
func (d *Daemon) answerer() *processes.Answerer {
	return &processes.Answerer{
		Logger: d.Logger, Config: d.config,
		Count: func() processes.Clients {
			c := processes.Clients{Counts: d.Clients(), Answers: d.answers.Stats(), Unserved: d.unserved(), Refused: d.syncer.Status().Refused, Refusal: d.refuses(), Work: d.work(), Expires: d.certificates.first()}
			session := d.syncer.Status().Session
			c.Session = &session
			c.Problem, c.Fix = d.unapplied()
			return c
		},
		Reload: func(ctx context.Context, q processes.Question) (o processes.Outcome) {
			d.do(ctx, func(ctx context.Context) { o = d.reload(ctx, q) })
			return o
		},
	}
}

// unapplied says why this process neither applies changes nor follows one that does.
func (d *Daemon) unapplied() (problem, fix string) {
	switch s := d.syncer.Status(); s.State {
	case ksync.Reconnecting, ksync.Stopped:
		return s.Reason, s.Fix
	case ksync.Following:
		if s.Refused == "" { // else Reason is that
			return s.Reason, s.Fix
		}
		fallthrough
	default:
		return "", ""
	}
}

// work is what this process makes of protected tables, by their names.
func (d *Daemon) work() map[string]*state.Work {
	under, works := d.syncer.Status(), make(map[string]*state.Work)
	for _, t := range d.config().Policy.Tables {
		if w := d.board.Of(t.Table, under); w != nil {
			works[t.Table.String()] = w
		}
	}
	return works
}

// showProgress notes how far the publication of a table is.
func (d *Daemon) showProgress(at ksync.Progress) {
	d.board.Show(at)
	if d.Progress != nil {
		d.Progress(at)
	}
}

// consoleProcess is what the console shows of this process.
func (d *Daemon) consoleProcess() webconsole.Process {
	return webconsole.Process{
		Logger: d.Logger, Level: d.Level, Config: d.config, Conditions: d.conditions,
		Replication: d.syncer.Status, Clients: d.Clients, Sessions: d.proxy.Sessions, Observer: d.metrics.observer,
		Refusal: d.refusal.known, Work: d.work,
	}
}

// ConsoleURL returns where the console is, empty without one. It is known once Ready is
// closed.
func (d *Daemon) ConsoleURL() string { return d.console.URL() }
