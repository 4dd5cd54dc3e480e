package daemon

import (
	"context"
	"errors"
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// check examines the database at the start. A table that was published before and that no
// longer fits its policy is withdrawn. One that was never published is an error, and so are
// listed names that cannot be used before anything has been published.
func (d *Daemon) check(ctx context.Context) error {
	c := d.config()
	before, err := readPublished(ctx, c)
	if err != nil {
		return err
	}
	if err := errors.Join(sweepViews(ctx, c), dropProtected(ctx, c)); err != nil {
		return err
	}
	served := func(catalog.Name) bool { return len(before) > 0 }
	found, err := examine(ctx, c, leniency{
		table:    func(t catalog.TablePolicy) bool { return slices.Contains(before, t.Table) },
		readable: served, called: served,
	})
	if err != nil {
		return err
	}
	for _, f := range found.report {
		if f.Severity != inspect.Warning || f.Code == codeViewProblem { // logged when views are published
			continue
		}
		if f.Table != (catalog.Name{}) {
			d.Logger.Warn(f.What, "relation", f.Table, "fix", f.Fix)
		} else {
			d.Logger.Warn(f.What, "fix", f.Fix)
		}
	}
	d.adopt(found)
	if d.secret, err = loginSecret(ctx, c); err != nil {
		return err
	}
	d.served.names, err = readNames(ctx, c)
	return err
}

// adopt takes what an examination found as what is served.
func (d *Daemon) adopt(found examined) {
	d.served.adopt(found)
	d.views.Adopt(found.views)
	d.halted.audited = nil // what was seen before may be older than what is found
}
