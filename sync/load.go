package sync

import (
	"context"
	"fmt"
)

// spread puts the values of the coded columns at their places in a row.
func spread(row []value, coded []int, values []value) {
	for i, c := range coded {
		row[c] = values[i]
	}
}

// loadGeneration fills the table from a generation of the store as it stands.
func (t *table) loadGeneration(ctx context.Context, from *storeView, g generation, seed uint64, progress func(done int)) error {
	t.release.position, t.release.showAt, t.release.previous = g.lsn, g.shows, g.previous
	if err := t.begin(g.number, g.nextRecord, g.nextClass, seed); err != nil {
		return err
	}
	err := t.unseal(ctx, from.first, g.number)
	if s, guards := t.mode.(*guarded); guards && err == nil {
		s.returns.resume(g)
		s.sealReturns()
	}
	if err == nil {
		err = t.mode.load(ctx, from, progress)
	}
	if err != nil {
		return fmt.Errorf("loading the store of %s: %w", t.layout.name(), errUnloadable(&t.layout, withoutValues(err)))
	}
	return nil
}
