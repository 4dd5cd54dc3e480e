package daemon

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/login"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Reload reads the configuration again and takes it over, or goes on with the running
// one as a whole; the log tells which. It returns when that is done or ctx has ended.
func (d *Daemon) Reload(ctx context.Context) {
	d.do(ctx, func(ctx context.Context) { d.reload(ctx, processes.Question{}) })
}

// policyOf is the whole policy of a configuration.
func (d *Daemon) policyOf(c *config.Config) (ksync.Policy, error) {
	if d.Place == "" {
		return ksync.Policy{}, nil
	}
	return ksync.NewPolicy(c.Policy, d.Place)
}

// reload takes a new configuration over; where it is to be tried only, it says what that
// would change.
func (d *Daemon) reload(ctx context.Context, q processes.Question) processes.Outcome {
	try, running := q.Try, d.config()
	ctx, cancel := context.WithTimeout(ctx, auditInterval)
	defer cancel()
	if !try {
		d.metrics.reopenAudit()
	}
	next, err := d.load()
	if err != nil {
		return d.refuse(settings.Changes{}, err, try)
	}
	changes := settings.Compare(running, next)
	next = settings.Takeover(running, next)
	if !try {
		if err := views.DropProtected(ctx, next); err != nil {
			return d.refuse(changes, err, try)
		}
	}
	found, err := check.Fitness(ctx, next, check.Leniency{
		Table: func(t catalog.TablePolicy) bool {
			return slices.ContainsFunc(running.Policy.Tables, func(r catalog.TablePolicy) bool { return reflect.DeepEqual(r, t) })
		},
		Readable: func(name catalog.Name) bool { return slices.Contains(running.Policy.Readable, name) },
		Called:   func(name catalog.Name) bool { return slices.Contains(running.Policy.Functions, name) },
	})
	if err != nil {
		return d.refuse(changes, err, try)
	}
	changes.Afresh = d.looksAfresh(found)
	if try {
		return processes.Outcome{Changes: changes}
	}
	policy, err := d.policyOf(next)
	if err != nil {
		return d.refuse(changes, err, try)
	}
	owner, source, primary, err := upstream.Logins(next)
	if err != nil {
		return d.refuse(changes, err, try)
	}
	// Functions are accepted before any client can call them, and only if the configuration is
	// taken over.
	reconfigured := false
	names, unaccepted, err := readNamesThen(ctx, next, func() error {
		err := d.reconfigure(next)
		reconfigured = err == nil
		return err
	})
	if err != nil {
		if reconfigured {
			err = errors.Join(err, d.reconfigure(running))
		}
		return d.refuse(changes, err, try)
	}
	d.syncer.LogInAs(owner, source, primary)
	// Readers first: what is no longer theirs is refused before anything is taken down.
	afresh := d.unproved || changes.TableCount() > 0 || len(changes.Afresh) > 0 || policy.Fingerprint != d.syncer.Policy().Fingerprint || d.syncer.Status().Refused != ""
	d.effective.Store(next)
	d.certificates.adopt(d.Logger, next)
	d.console.Reconfigure(next.Console)
	d.adopt(found)
	d.unproved = false
	d.served.names = names
	uncallable, _ := d.served.refuseFunctions(unaccepted)
	d.Level.Set(next.Log.Level)
	d.resolve(nil)
	d.readsAs(running, next)
	unlisted := slices.DeleteFunc(slices.Clone(running.Policy.Functions), func(name catalog.Name) bool { return slices.Contains(next.Policy.Functions, name) })
	d.proxy.EndCallers(append(uncallable, catalog.Texts(unlisted)...)...)
	d.lookAtViews(ctx)
	if d.guarantees.failing() {
		d.audit(ctx) // what failed has been mended: clients need not wait for the next one
	}
	d.syncer.Supersede(superseded(next))
	if afresh {
		d.syncer.ReloadAs(found.Publications, policy, !q.Accepted)
		d.resolve(nil) // who asked for this reads no release that the policy rules out
	}
	select {
	case d.again <- struct{}{}:
	default: // one is waiting
	}
	d.Logger.Info("the configuration was reloaded", "changes", strings.ReplaceAll(changes.String(), "\n", "; "))
	if len(changes.Restart) > 0 {
		d.Logger.Warn("settings were changed that take effect when kproxy is started again", "settings", strings.Join(changes.Restart, ", "))
	}
	return processes.Outcome{Changes: changes}
}

// readsAs has the rewriters read as another configuration says, and ends the sessions of readers that
// belong to another audience under it.
func (d *Daemon) readsAs(running, next *config.Config) {
	d.gate.SetLimits(next, d.snapshots())
	d.renew()
	d.proxy.EndRoles(gate.Moved(running, next)...)
}

// superseded is what becomes of releases when their policy changes. They are not kept in step, which a
// bound on staleness would have all tables refused for.
func superseded(c *config.Config) ksync.Superseded {
	switch {
	case c.Upstream.MaxStaleness > 0:
		return ksync.KeepNone
	case c.Replication.Superseded == config.Keep:
		return ksync.KeepAny
	default:
		return ksync.KeepStrong
	}
}

// reconfigure has the proxy go on under next.
func (d *Daemon) reconfigure(next *config.Config) error {
	look, err := login.NewLookup(next)
	if err != nil {
		return err
	}
	toServe, err := d.proxyConfig(next, look)
	if err == nil {
		err = d.proxy.Reconfigure(toServe)
		d.answers.Resize(next.Answers.Size)
	}
	if err != nil {
		return err // nobody has asked by look yet
	}
	d.lookup.Swap(look).Close()
	return nil
}

// load reads the configuration, and refuses one that this process cannot seal the store of.
func (d *Daemon) load() (*config.Config, error) {
	if d.Load == nil {
		return nil, errors.New("this process was not started from a configuration file")
	}
	next, err := d.Load()
	if err != nil {
		return nil, err
	}
	return next, config.CheckSealed(settings.Takeover(d.config(), next).Policy)
}

func (d *Daemon) refuse(changes settings.Changes, err error, try bool) processes.Outcome {
	if !try {
		d.Logger.Error("the new configuration is refused; the old one goes on", "error", err)
	}
	return processes.Outcome{Changes: changes, Refused: err.Error()}
}

// looksAfresh are the protected tables at which replication has to look again although the
// configuration says the same of them: those that are not what they were, and halted ones.
func (d *Daemon) looksAfresh(found check.Fit) []string {
	var afresh []string
	tables := d.syncer.Status().Tables
	for _, t := range d.config().Policy.Tables {
		of := func(p catalog.Publication) bool { return p.Policy.Table == t.Table }
		was, is := slices.IndexFunc(d.served.publications, of), slices.IndexFunc(found.Publications, of)
		if is < 0 {
			continue // it is no longer configured
		}
		if tables[t.Table].State == ksync.Halted || was >= 0 && !samePublication(d.served.publications[was], found.Publications[is]) {
			afresh = append(afresh, t.Table.String())
		}
	}
	return afresh
}
