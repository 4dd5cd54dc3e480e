package daemon

import (
	"context"
	"errors"
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/login"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
)

// check examines the database at the start. A table that was published before and that no
// longer fits its policy is withdrawn. One that was never published is an error, and so are
// listed names that cannot be used before anything has been published.
func (d *Daemon) check(ctx context.Context) error {
	c := d.config()
	if err := check.Own(ctx, c); err != nil {
		return err
	}
	before, err := check.ReadPublished(ctx, c)
	if err != nil {
		return err
	}
	if err := errors.Join(views.DropWidened(ctx, c), views.DropProtected(ctx, c)); err != nil {
		return err
	}
	found, err := check.Fitness(ctx, c, leniency(before))
	if check.SourceAway(err) {
		found, err = d.standBy(ctx, before, err)
	}
	if err != nil {
		return err
	}
	for _, f := range found.Report {
		if f.Severity != inspect.Warning || f.Code == views.CodeProblem { // logged when views are published
			continue
		}
		if f.Table != (catalog.Name{}) {
			d.Logger.Warn(f.What, "relation", f.Table, "fix", f.Fix)
		} else {
			d.Logger.Warn(f.What, "fix", f.Fix)
		}
	}
	d.adopt(found)
	if d.secret, err = login.Secret(ctx, c); err != nil {
		return err
	}
	names, unaccepted, err := readNames(ctx, c)
	if err != nil {
		return err
	}
	d.served.names = names
	d.served.refuseFunctions(unaccepted)
	return nil
}

// leniency is that of a start, given the tables that were published before.
func leniency(before []catalog.Name) check.Leniency {
	served := func(catalog.Name) bool { return len(before) > 0 }
	return check.Leniency{
		Table:    func(t catalog.TablePolicy) bool { return slices.Contains(before, t.Table) },
		Readable: served, Called: served,
	}
}

// adopt takes what an examination found as what is served.
func (d *Daemon) adopt(found check.Fit) {
	d.served.adopt(found)
	d.views.Adopt(found.Views)
	d.connections = found.Connections
	d.outOfService.audited = nil // what was seen before may be older than what is found
}
