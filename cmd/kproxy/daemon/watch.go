package daemon

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// auditInterval is how often the guarantees are checked again while serving.
const auditInterval = 30 * time.Second

// failedAuditInterval is how soon a failed audit is tried again.
const failedAuditInterval = 5 * time.Second

// startingOnly are the findings that keep kproxy from starting but take nothing
// away from what is published. Replication itself watches its slot.
var startingOnly = []string{"slots", "wal-senders", codeSlotPosition}

// watch keeps names, withdrawals and the audit up to date until ctx ends.
func (d *Daemon) watch(ctx context.Context) {
	audit := time.NewTicker(auditInterval)
	defer audit.Stop()
	for {
		select {
		case <-d.refresh:
			d.resolve(nil)
		case <-audit.C:
			d.audit(ctx)
			if d.unavailable.Load() != nil {
				audit.Reset(failedAuditInterval)
			} else {
				audit.Reset(auditInterval)
			}
		case <-ctx.Done():
			return
		}
	}
}

// audit proves again what serving rests on. While it cannot, nothing is served.
func (d *Daemon) audit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, auditInterval)
	defer cancel()
	report, publications, relations, err := Check(ctx, d.config)
	findings := slices.DeleteFunc(report.Errors(), func(f inspect.Finding) bool { return slices.Contains(startingOnly, f.Code) })
	if err == nil {
		findings = append(findings, d.changed(publications)...)
		d.resolve(relations)
	}
	switch {
	case unreachable(err):
		// Clients cannot read either; the state that was proved last stands.
		d.Logger.Warn("the audit could not run: the database is out of reach", "error", err)
	case err != nil || len(findings) > 0:
		d.unavailable.Store(&unavailable{})
		d.Logger.Error("the audit failed; refusing statements until it passes", "error", err, "findings", findings.String())
	case d.unavailable.Swap(nil) != nil:
		d.Logger.Info("the audit passes again; serving")
	}
}

// changed reports the tables that are no longer the ones being applied: the
// stream tells nothing of columns that were dropped and added again, or of a
// table that was put in another's place.
func (d *Daemon) changed(now []catalog.Publication) inspect.Report {
	var report inspect.Report
	for _, applied := range d.publications {
		same := slices.ContainsFunc(now, func(p catalog.Publication) bool {
			return p.Policy.Table == applied.Policy.Table && p.Relation.OID == applied.Relation.OID &&
				slices.Equal(p.Relation.Key, applied.Relation.Key) && slices.Equal(p.StoredColumns(), applied.StoredColumns())
		})
		if !same {
			report = append(report, inspect.Finding{
				Severity: inspect.Error, Code: "table-changed", Table: applied.Policy.Table,
				What: "the table is not as it was when it was published", Fix: "restart kproxy: it publishes the table afresh",
			})
		}
	}
	return report
}

// unreachable tells a database that no connection reaches from one that answers
// with a refusal, which may mean that privileges have changed.
func unreachable(err error) bool {
	network := (*net.OpError)(nil)
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &network) && !errors.As(err, &refused)
}
