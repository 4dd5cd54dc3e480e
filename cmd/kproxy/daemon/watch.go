package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// auditInterval is how often the guarantees are checked again while serving.
const auditInterval = 30 * time.Second

// failedAuditInterval is how soon a failed audit is tried again.
const failedAuditInterval = 5 * time.Second

// alarmInterval is how often replication is held against the bounds of the alarm.
const alarmInterval = 3 * time.Second

// someOnly are the findings that keep kproxy from starting but concern some sessions alone
// while it serves.
var someOnly = []string{inspect.CodeTemporaryGrant, inspect.CodeFurtherReader, codeLogin, codeServer, codePooler, codeAuthQuery}

// startingOnly are the findings that keep kproxy from starting but take nothing
// away from what is published. Replication itself watches its slot.
var startingOnly = slices.Concat(someOnly, []string{"slots", "wal-senders", codeSlotPosition})

// watch keeps names, withdrawals, the audit and the alarms up to date until ctx ends,
// and does what it is given.
func (d *Daemon) watch(ctx context.Context) {
	audit, alarm, look := time.NewTicker(auditInterval), time.NewTicker(alarmInterval), time.NewTicker(viewInterval)
	defer audit.Stop()
	defer alarm.Stop()
	defer look.Stop()
	defer d.views.close()
	due := false
	for {
		select {
		case <-d.refresh:
			d.resolve(nil)
		case task := <-d.tasks:
			task(ctx)
		case <-alarm.C:
			d.alarms.look(d.Logger, d.config.Replication.Alarm, d.syncer.Status())
		case <-look.C:
			d.beginLook(ctx)
			d.beginLookAtHalted(ctx)
		case found := <-d.halted.looked:
			due = d.halted.changedWhileHalted(found) || due
		case <-d.views.soon.C:
			d.beginLook(ctx)
		case l := <-d.views.looked:
			d.takeIn(l)
		case <-audit.C:
			due = true
			d.beginLook(ctx) // what it drops shall not fail the audit
		case <-ctx.Done():
			return
		}
		if due && !d.views.looking {
			due = false
			d.audit(ctx)
			if d.unavailable.Load() != nil {
				audit.Reset(failedAuditInterval)
			} else {
				audit.Reset(auditInterval)
			}
		}
	}
}

// do has watch do something and waits for it, or for the end of ctx.
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

// audit proves again what serving rests on. While it cannot, nothing is served; what
// concerns one name alone withdraws that one.
func (d *Daemon) audit(serving context.Context) {
	ctx, cancel := context.WithTimeout(serving, auditInterval)
	defer cancel()
	found, err := check(ctx, d.config, false)
	if serving.Err() != nil {
		return // for those who finish their work, what was proved last stands
	}
	errs := parted(d.config.Policy, found.Report.Errors())
	broken := errs.broken
	findings := slices.DeleteFunc(errs.all, func(f inspect.Finding) bool { return slices.Contains(startingOnly, f.Code) })
	if err == nil {
		for _, f := range d.changed(found.Publications) {
			if _, known := broken[f.Table]; !known {
				broken[f.Table] = inspect.Report{f}
			}
		}
		d.broken, d.uncallable, d.views.found = broken, errs.functions, found.Views
		d.heal(found.Publications)
		d.resolve(found.Relations)
	}
	switch {
	case unreachable(err):
		// Clients cannot read either; the state that was proved last stands.
		d.Logger.Warn("the audit could not run: the database is out of reach", "error", err)
	case err != nil || len(findings) > 0:
		d.unavailable.Store(&unavailable{})
		d.tellFailure(err, findings)
	case d.unavailable.Swap(nil) != nil:
		d.failure = ""
		d.Logger.Info("the audit passes again; serving")
	}
	if !unreachable(err) {
		d.observed.audits.note(d.unavailable.Load() == nil)
	}
}

// tellFailure puts into the log, once, why the audit fails: one line for each finding.
func (d *Daemon) tellFailure(err error, findings inspect.Report) {
	failure := fmt.Sprint(err, findings)
	if failure == d.failure {
		return
	}
	d.failure = failure
	const message = "the audit failed; refusing statements until it passes"
	if err != nil {
		d.Logger.Error(message, "error", err)
	} else {
		d.Logger.Error(message, "findings", len(findings))
	}
	for _, f := range findings {
		fields := []any{"code", f.Code, "what", f.What, "fix", oneLine(f.Fix)}
		if f.Table != (catalog.Name{}) {
			fields = append(fields, "relation", f.Table)
		}
		d.Logger.Error("a finding of the audit", fields...)
	}
}

// oneLine puts the lines of a script beside each other.
func oneLine(script string) string { return strings.Join(strings.Fields(script), " ") }

// changed reports the tables that are no longer the ones being applied: the
// stream tells nothing of columns that were dropped and added again, or of a
// table that was put in another's place.
func (d *Daemon) changed(now []catalog.Publication) inspect.Report {
	var report inspect.Report
	for _, applied := range d.publications {
		if !slices.ContainsFunc(now, func(p catalog.Publication) bool { return samePublication(p, applied) }) {
			report = append(report, inspect.Finding{
				Severity: inspect.Error, Code: codeTableChanged, Table: applied.Policy.Table,
				What: "the table is not as it was when it was published", Fix: "run 'kproxy reload': kproxy looks at the table afresh",
			})
		}
	}
	return report
}

// samePublication tells whether the table is the same, as far as its release depends
// on it.
func samePublication(a, b catalog.Publication) bool {
	return a.Policy.Table == b.Policy.Table && a.Relation.OID == b.Relation.OID &&
		slices.Equal(a.Relation.Key, b.Relation.Key) && slices.Equal(a.StoredColumns(), b.StoredColumns())
}

// unreachable tells a database that no connection reaches from one that answers
// with a refusal, which may mean that privileges have changed.
func unreachable(err error) bool {
	network := (*net.OpError)(nil)
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &network) && !errors.As(err, &refused)
}
