package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog/inspect"
)

// auditInterval is how often the guarantees are checked again while serving.
const auditInterval = 30 * time.Second

// startingOnly are the findings that keep kproxy from starting but take nothing
// away from what is published.
var startingOnly = []string{"slots", "wal-senders"}

// watch keeps names, withdrawals and the audit up to date until ctx ends.
func (d *Daemon) watch(ctx context.Context) {
	audit := time.NewTicker(auditInterval)
	defer audit.Stop()
	for {
		select {
		case <-d.refresh:
			d.resolve()
		case <-audit.C:
			d.audit(ctx)
			d.resolve()
		case <-ctx.Done():
			return
		}
	}
}

// audit checks everything again that serving rests on: the reader's privileges,
// the publication, the tables. While something fails, nothing is served.
func (d *Daemon) audit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, auditInterval)
	defer cancel()
	conn, err := connectOwner(ctx, d.config)
	if err != nil {
		// The database is out of reach: clients cannot read either, and what they
		// will find is audited once it is back.
		d.Logger.Warn("the audit could not run", "error", err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	report, err := inspect.Check(ctx, conn, checkInput(d.config))
	findings := slices.DeleteFunc(report.Errors(), func(f inspect.Finding) bool { return slices.Contains(startingOnly, f.Code) })
	if err != nil || len(findings) > 0 {
		d.unavailable.Store(&unavailable{})
		d.Logger.Error("the audit failed; refusing statements until it passes", "error", err, "findings", findings.String())
	} else if d.unavailable.Swap(nil) != nil {
		d.Logger.Info("the audit passes again; serving")
	}
	if relations, err := inspect.Relations(ctx, conn, d.config.Upstream.Reader.User); err == nil {
		d.relations.Store(&relations)
	}
}
