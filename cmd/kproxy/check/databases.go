package check

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
)

// findings are those of the database, or of both.
func findings(ctx context.Context, on upstream.Databases, c *config.Config, kept []catalog.Publication) (inspect.Report, error) {
	if on.Source == nil {
		known, err := views.Kept(ctx, on.Owner, c)
		if err != nil {
			return nil, err
		}
		return inspect.CheckRelease(ctx, on.Owner, checkInput(c), relationsOf(kept), known)
	}
	if c.IsApart() {
		return inspect.CheckApart(ctx, on.Owner, on.Source, checkInput(c))
	}
	report, err := inspect.Check(ctx, on.Owner, checkInput(c))
	if err != nil {
		return nil, fmt.Errorf("checking the database: %w", err)
	}
	return report, nil
}

// Reach connects as the owner, to the database of the release alone, and reports protected data that
// readers can reach there.
func Reach(ctx context.Context, c *config.Config) (inspect.Report, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	report, err := inspect.Reach(ctx, conn, checkInput(c))
	if err != nil {
		return nil, fmt.Errorf("checking the database of the release: %w", err)
	}
	return report, nil
}

// Relations returns the relations that clients' statements can name, and those of the source.
func Relations(ctx context.Context, on upstream.Databases, c *config.Config) (all, ofSource []catalog.Relation, err error) {
	if c.IsApart() {
		return inspect.RelationsApart(ctx, on.Owner, on.Source, c.Upstream.Reader.User, c.Policy)
	}
	all, err = inspect.Relations(ctx, on.Owner, c.Upstream.Reader.User)
	return all, all, err
}

// OfSource is the part of a policy that speaks of the source.
func OfSource(c *config.Config) catalog.Policy {
	policy := c.Policy
	if c.IsApart() {
		policy.Readable = nil
	}
	return policy
}
