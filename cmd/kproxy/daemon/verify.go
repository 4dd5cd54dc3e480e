package daemon

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/verify"
)

// Verify proves the release of every protected table. A table that the policy
// and the database do not agree on cannot be proved, which is an error. The outcome is
// kept for the console where the private store can be written.
func Verify(ctx context.Context, c *config.Config) (verify.Report, error) {
	report, err := verifyTables(ctx, c, func(catalog.Name) bool { return true })
	if err == nil {
		_ = recordProofs(ctx, c, report) // a proof holds on a standby, too, which keeps none
	}
	return report, err
}

// verifyTables proves the releases of the tables that are wanted.
func verifyTables(ctx context.Context, c *config.Config, wanted func(catalog.Name) bool) (verify.Report, error) {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	relations, err := inspect.Relations(ctx, conn, c.Upstream.Reader.User)
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	publications, _, err := inspect.Publish(ctx, conn, c.Policy, relations)
	if err != nil {
		return nil, err
	}
	for _, t := range c.Policy.Tables {
		if wanted(t.Table) && !slices.ContainsFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == t.Table }) {
			return nil, fmt.Errorf("table %s does not fit its policy; 'kproxy check' says why", t.Table)
		}
	}
	publications = slices.DeleteFunc(publications, func(p catalog.Publication) bool { return !wanted(p.Policy.Table) })
	report, err := verify.Run(ctx, conn, publications)
	if err != nil {
		return nil, fmt.Errorf("proving the release: %w", err)
	}
	return report, nil
}
