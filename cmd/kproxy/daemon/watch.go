package daemon

import (
	"context"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/views"
	ksync "github.com/kproxy/kproxy/sync"
)

// auditInterval is how often the guarantees are checked again while serving.
const auditInterval = 30 * time.Second

// failedAuditInterval is how soon a failed audit is tried again.
const failedAuditInterval = 5 * time.Second

// alarmInterval is how often replication is held against the bounds of the alarm.
const alarmInterval = 3 * time.Second

// watch keeps what is served, the audit and the alarms up to date until ctx ends, and runs
// the tasks of other goroutines.
func (d *Daemon) watch(ctx context.Context) {
	audit, alarm, look := time.NewTicker(d.auditPause()), time.NewTicker(alarmInterval), time.NewTicker(views.Interval)
	defer audit.Stop()
	defer alarm.Stop()
	defer look.Stop()
	defer d.views.Close()
	due := false
	for {
		select {
		case <-d.refresh:
			d.resolve(nil)
		case task := <-d.tasks:
			task(ctx)
		case <-alarm.C:
			d.alarms.look(d.Logger, d.config().Replication.Alarm, d.syncer.Status())
			d.certificates.look(d.Logger, time.Now())
		case <-look.C:
			d.beginLook(ctx)
			d.outOfService.begin(ctx, d.config(), d.syncer.Status().Tables, d.served.broken)
		case found := <-d.outOfService.looked:
			due = d.outOfService.takeIn(found) || due
		case <-d.views.Soon():
			d.beginLook(ctx)
		case l := <-d.views.Looked():
			d.takeInLook(l)
		case <-audit.C:
			due = true
			d.beginLook(ctx) // what it drops shall not fail the audit
		case <-ctx.Done():
			return
		}
		if due && !d.views.Looking() {
			due = false
			d.audit(ctx)
			audit.Reset(d.auditPause())
		}
	}
}

// auditPause is how soon the next audit is.
func (d *Daemon) auditPause() time.Duration {
	if d.guarantees.failing() || d.unproved {
		return failedAuditInterval
	}
	return auditInterval
}

// do runs a task in the watch goroutine and waits until it has run or ctx has ended.
func (d *Daemon) do(ctx context.Context, task func(context.Context)) {
	done := make(chan struct{})
	select {
	case d.tasks <- func(ctx context.Context) { defer close(done); task(ctx) }:
		select {
		case <-done:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
}

// beginLook begins a look at the views, unless one is under way.
func (d *Daemon) beginLook(ctx context.Context) {
	d.views.Begin(ctx, d.config(), d.gate.Rewriter.Load(), d.syncer.Status().State == ksync.Following)
}

// lookAtViews looks at the views and takes in what it finds. A look that has begun before may
// have missed a change.
func (d *Daemon) lookAtViews(ctx context.Context) {
	d.awaitLook()
	d.beginLook(ctx)
	d.awaitLook()
}

func (d *Daemon) awaitLook() {
	if d.views.Looking() {
		d.takeInLook(<-d.views.Looked())
	}
}

func (d *Daemon) takeInLook(l *views.Look) {
	if relations, found := d.views.TakeIn(l, d.config()); found {
		d.resolve(relations)
	}
}
