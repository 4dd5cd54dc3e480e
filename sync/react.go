package sync

import (
	"context"
	"errors"

	"github.com/jackc/pglogrepl"
)

// react handles the watcher's finding at a commit boundary. It halts one table, or has it
// compared with its source, while the others continue in the same session.
func (a *applier) react(ctx context.Context) error {
	if a.found == nil {
		return nil
	}
	f, halt := *a.found, (*TableError)(nil)
	if errors.As(f.err, &halt) && halt.resync && max(a.streamPosition(), pglogrepl.LSN(a.session.shared.consumed.Load())) < f.at {
		return nil // the stream may still explain it
	}
	a.found = nil
	if f.timeline != 0 {
		return a.session.moveTimeline(ctx)
	}
	if f.err == nil {
		return a.relations.adopt(ctx, f)
	}
	if halt == nil {
		return f.err
	}
	t := a.session.tables.find(halt.Table)
	if t == nil {
		return nil // it is not applied any more
	}
	if f.table == t.layout.name() && t.truncations.explain(t.definition, f.definition) {
		return a.relations.adopt(ctx, f)
	}
	if t.group != nil { // the others have to begin anew with it
		return halt
	}
	if !halt.resync {
		if err := a.session.halt(ctx, halt); err != nil {
			return err
		}
	} else if err := a.joiner.withdraw(ctx, t, halt); err != nil {
		return err
	}
	a.session.watch()
	return a.relations.bindAgain(ctx)
}
