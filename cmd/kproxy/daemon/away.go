package daemon

import (
	"context"
	"errors"
	"log/slog"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/repeats"
)

// A source in a database of its own can be away when a process starts. The process then serves what is
// published, where the store tells what that is made of, and examines the source as a start does as soon as
// it answers. Until then replication does not look at the source, and applies nothing.

// standBy is the check of a start while the source is away, for which why is the reason.
func (d *Daemon) standBy(ctx context.Context, before []catalog.Name, why error) (check.Fit, error) {
	found, err := check.Kept(ctx, d.config(), leniency(before))
	switch {
	case errors.Is(err, check.ErrNothingKept):
		return check.Fit{}, errors.Join(why, err)
	case err != nil:
		return check.Fit{}, err
	}
	d.unproved = true
	d.Logger.Warn("the source is away; serving what was published before, and applying nothing until it answers", "error", why)
	return found, nil
}

// prove examines the source as a start does, and has replication begin if it is fit. Where it is not, readers
// get nothing, as a start would have refused them.
func (d *Daemon) prove(serving context.Context, c *config.Config) {
	ctx, cancel := context.WithTimeout(serving, auditInterval)
	defer cancel()
	before, err := check.ReadPublished(ctx, c)
	var found check.Fit
	if err == nil {
		found, err = check.Fitness(ctx, c, leniency(before))
	}
	if serving.Err() != nil {
		return
	}
	refused, unfit := errors.AsType[*check.Error](err)
	switch {
	case check.SourceAway(err):
		d.repeats.Note(d.Logger, slog.LevelWarn, repeats.Key{Kind: "audit"}, "the source could not be checked", "error", err)
		d.auditRelease(serving, c)
		return
	case unreachable(err):
		d.repeats.Note(d.Logger, slog.LevelWarn, repeats.Key{Kind: "audit"}, "the audit could not run: the database is out of reach", "error", err)
		return
	case unfit:
		d.guarantees.log(d.Logger, nil, refused.Report.Errors())
		d.guarantees.note(false)
		return
	case err != nil:
		d.guarantees.log(d.Logger, err, inspect.Report{})
		d.guarantees.note(false)
		return
	}
	d.unproved = false
	d.adopt(found)
	d.Logger.Info("the source answers and is fit; applying its changes")
	d.syncer.ReloadAs(found.Publications, d.syncer.Policy(), false)
	d.resolve(nil)
	d.guarantees.log(d.Logger, nil, nil)
	d.guarantees.note(true)
}
