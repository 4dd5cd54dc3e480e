// Package daemon wires configuration, replication, rewriting and proxy into
// the process that `kproxy serve` runs.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	ksync "github.com/kproxy/kproxy/sync"
)

// Options are what a caller may add to a configuration.
type Options struct {
	Logger *slog.Logger
	// Level is the logger's, for a reload to set; may be nil.
	Level *slog.LevelVar
	// Load reads the configuration again; nil means that it cannot be reloaded.
	Load func() (*config.Config, error)
	// Place is where the configuration is read from, as Place names it; empty where it does
	// not matter whether its policy is the one in force.
	Place string
	// Progress is told how far the publication of tables is; may be nil.
	Progress func(ksync.Progress)
	// Failpoint is passed on to replication; tests inject crashes there.
	Failpoint func(name string)
	// Listeners, if there are any, are listened on in place of the addresses that the
	// configuration names.
	Listeners []net.Listener
	// Seed makes the anonymization reproducible.
	Seed uint64
}

// Daemon is one kproxy process for one database. Any number of them serve the same
// one.
type Daemon struct {
	Options

	proxy   *proxy.Server
	syncer  *ksync.Syncer
	gate    gate
	address atomic.Pointer[net.TCPAddr]
	ready   chan struct{}

	lookup      atomic.Pointer[lookup] // nil where the configuration names all users
	unavailable atomic.Pointer[unavailable]
	// effective is the configuration that is in force, for who does not run in watch.
	effective atomic.Pointer[config.Config]
	console   *operatorConsole
	observed  observation
	referrer  *referrer
	refresh   chan struct{}
	tasks     chan func(context.Context) // for watch to do
	again     chan struct{}              // after a reload, for a replication that has stopped

	descriptions descriptions

	// What follows is used by one goroutine at a time: Run's, and then watch's.

	config       *config.Config
	secret       []byte                          // of salts for users who do not exist
	publications []catalog.Publication           // what replication was given
	broken       map[catalog.Name]inspect.Report // tables and readable relations about which a check found errors
	uncallable   map[catalog.Name]inspect.Report // functions likewise
	relations    []catalog.Relation              // what the rewriter knows
	views        views
	halted       halted
	known        []catalog.View // what the rewriter knows
	withdrawn    map[catalog.Name]string
	names        catalog.ServerNames // likewise
	// released are the tables by the numbers of their generations.
	released map[int64]catalog.Name
	served   map[catalog.Name]catalog.OID // what readers may have read
	told     map[subject]string           // problems of single names that are in the log
	failure  string                       // why the audit fails, as the log was told last
	applies  bool                         // as the log was told last
	alarms   alarms
}

// New prepares a daemon; nothing is connected yet.
func New(c *config.Config, o Options) *Daemon {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Level == nil {
		o.Level = &slog.LevelVar{}
	}
	d := &Daemon{
		config: c, Options: o, views: newViews(), halted: newHalted(), descriptions: newDescriptions(o.Logger),
		ready: make(chan struct{}), refresh: make(chan struct{}, 1), tasks: make(chan func(context.Context)), again: make(chan struct{}, 1),
	}
	d.effective.Store(c)
	d.referrer = newReferrer(d)
	return d
}

// Ready is closed once clients can connect.
func (d *Daemon) Ready() <-chan struct{} { return d.ready }

// Address is the first one where clients connect by TCP; nil before Ready, or without one.
func (d *Daemon) Address() *net.TCPAddr { return d.address.Load() }

// Status is where replication stands, and each table's release. It is known once
// Ready is closed.
func (d *Daemon) Status() ksync.Status { return d.syncer.Status() }

// Run checks, publishes and serves until ctx ends, which returns nil after
// running statements have finished. It returns a *CheckError when the database
// is not fit, and listens only once every table is published or needs the operator.
func (d *Daemon) Run(ctx context.Context) error {
	if err := d.tryListening(ctx); err != nil {
		return err
	}
	unobserve, err := d.openObservation(ctx)
	if err != nil {
		return err
	}
	defer unobserve()
	if err := d.check(ctx); err != nil {
		return err
	}
	if d.names, err = callable(ctx, d.config); err != nil {
		return err
	}
	if err := d.prepare(); err != nil {
		return err
	}
	defer func() { d.lookup.Load().close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { d.observed.draining.Store(true) })
	if err := d.openConsole(ctx, d.config.Console); err != nil {
		return err
	}
	first := *d.config // a reload replaces d.config
	applied := make(chan error, 1)
	go func() { applied <- d.apply(ctx) }()
	go d.descriptions.run(ctx)
	d.resolve(nil)
	referred := make(chan struct{})
	go func() { defer close(referred); d.referrer.run(ctx) }()
	defer func() { cancel(); <-referred }()
	go d.watch(ctx)
	go d.hear(ctx)
	go d.prove(ctx)
	go d.showConsole(ctx)
	select {
	case <-d.syncer.Published():
	case err := <-applied: // ctx ended, or nothing could be published
		return err
	}
	d.do(ctx, d.lookAtViews)
	d.do(ctx, d.lookAtCallable) // of what has been published since
	go d.followCallable(ctx)
	served := d.serve(ctx, &first)
	cancel()
	return errors.Join(served, <-applied)
}

// stoppedPause is how often it is tried whether the operator has mended what stopped
// replication.
const stoppedPause = 10 * time.Second

// apply runs replication. When it stops for the operator before anything is published,
// that is its error; later, clients are told by refusals and the operator at once by
// the log, and it goes on when the operator has done something.
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
