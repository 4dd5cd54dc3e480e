package daemon

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Outcome is what a wish to reload came to.
type Outcome struct {
	Changes
	// Refused says why the running configuration goes on as a whole; empty where the
	// new one was taken over.
	Refused string `json:"refused,omitempty"`
}

// Reload reads the configuration again and takes it over, or goes on with the running
// one as a whole; the log tells which. It returns when that is done or ctx has ended.
func (d *Daemon) Reload(ctx context.Context) {
	d.do(ctx, func(ctx context.Context) { d.reload(ctx, false) })
}

// reload takes a new configuration over; with try it says only what that would change.
func (d *Daemon) reload(ctx context.Context, try bool) Outcome {
	ctx, cancel := context.WithTimeout(ctx, auditInterval)
	defer cancel()
	if !try {
		d.reopenAudit()
	}
	next, err := d.load()
	if err != nil {
		return d.refuse(Changes{}, err, try)
	}
	changes := compare(d.config, next)
	next = takeover(d.config, next)
	running := d.config.Policy
	found, err := examine(ctx, next, leniency{
		table: func(t catalog.TablePolicy) bool {
			return slices.ContainsFunc(running.Tables, func(r catalog.TablePolicy) bool { return reflect.DeepEqual(r, t) })
		},
		readable: func(name catalog.Name) bool { return slices.Contains(running.Readable, name) },
		called:   func(name catalog.Name) bool { return slices.Contains(running.Functions, name) },
	})
	if err != nil {
		return d.refuse(changes, err, try)
	}
	if try {
		return Outcome{Changes: changes}
	}
	owner, err := ownerConfig(next)
	if err == nil {
		err = d.reconfigure(next)
	}
	if err != nil {
		return d.refuse(changes, err, try)
	}
	d.syncer.LogInAs(owner)
	// Readers first: what is no longer theirs is refused before anything is taken down.
	afresh := d.looksAfresh(changes, found)
	d.config = next
	d.effective.Store(next)
	d.console.reconfigure(next.Console, d.Logger)
	d.adopt(found)
	d.Level.Set(next.Log.Level)
	d.resolve(nil)
	d.gate.limit(next, d.snapshot())
	d.renew()
	d.lookAtViews(ctx)
	if d.unavailable.Load() != nil {
		d.audit(ctx) // what failed has been mended: clients need not wait for the next one
	}
	if afresh {
		d.syncer.Reload(found.publications)
		d.resolve(nil) // who asked for this reads no release of the policy before it
	}
	select {
	case d.again <- struct{}{}:
	default: // one is waiting
	}
	d.Logger.Info("the configuration was reloaded", "changes", strings.ReplaceAll(changes.String(), "\n", "; "))
	if len(changes.Restart) > 0 {
		d.Logger.Warn("settings were changed that take effect when kproxy is started again", "settings", strings.Join(changes.Restart, ", "))
	}
	return Outcome{Changes: changes}
}

// reconfigure has the proxy go on under next.
func (d *Daemon) reconfigure(next *config.Config) error {
	look, err := newLookup(next)
	if err != nil {
		return err
	}
	toServe, err := d.proxyConfig(next, look)
	if err == nil {
		err = d.proxy.Reconfigure(toServe)
	}
	if err != nil {
		return err // nobody has asked by look yet
	}
	d.lookup.Swap(look).close()
	return nil
}

func (d *Daemon) load() (*config.Config, error) {
	if d.Load == nil {
		return nil, errors.New("this process was not started from a configuration file")
	}
	return d.Load()
}

func (d *Daemon) refuse(changes Changes, err error, try bool) Outcome {
	if !try {
		d.Logger.Error("the new configuration is refused; the old one goes on", "error", err)
	}
	return Outcome{Changes: changes, Refused: err.Error()}
}

// looksAfresh tells whether replication has to look at the tables again: where they or
// what is said of them changed, and where one waits for that.
func (d *Daemon) looksAfresh(changes Changes, found examined) bool {
	if changes.tables() > 0 || !slices.EqualFunc(d.publications, found.publications, samePublication) {
		return true
	}
	for _, table := range d.syncer.Status().Tables {
		if table.State == ksync.Halted {
			return true
		}
	}
	return false
}
