package attack

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
)

// guardedAudiences publishes one table for several audiences by a lineage: coarser releases follow it, or, as the
// control, each is a lineage of its own.
type guardedAudiences struct {
	*guarded
	coarser []*coarserAudience
	apart   []*guarded
}

type coarserAudience struct {
	*guardedRelease
	release *lineage.Coarser
	finer   *guardedRelease
}

func (s Setup) publishGuarded(ctx context.Context, w *world, crowd int, unions bool) ([]*history, error) {
	finest, err := newGuarded(w, s.constraints(s.K[0]), s, s.K[0], crowd)
	if err != nil {
		return nil, err
	}
	p := &guardedAudiences{guarded: finest}
	histories, finer := []*history{finest.shown}, finest.guardedRelease
	for _, k := range s.K[1:] {
		if !unions {
			own, err := newGuarded(w, s.constraints(k), s, k, crowd)
			if err != nil {
				return nil, err
			}
			p.apart, histories = append(p.apart, own), append(histories, own.shown)
			continue
		}
		one := &coarserAudience{guardedRelease: newGuardedRelease(w), finer: finer}
		if one.release, err = finest.lineage.AddCoarser(s.constraints(k)); err != nil {
			return nil, fmt.Errorf("k = %d: %w", k, err)
		}
		p.coarser, histories, finer = append(p.coarser, one), append(histories, one.shown), one.guardedRelease
	}
	return histories, w.play(ctx, p, false)
}

func (p *guardedAudiences) apply(c commit, number int) error {
	for _, own := range p.apart {
		if err := own.apply(c, number); err != nil {
			return err
		}
	}
	return p.guarded.apply(c, number)
}

func (p *guardedAudiences) publish(ctx context.Context, commit, tick int) error {
	if err := p.guarded.publish(ctx, commit, tick); err != nil {
		return err
	}
	for _, one := range p.coarser {
		if err := one.publish(commit, tick); err != nil {
			return err
		}
	}
	for _, own := range p.apart {
		if err := own.publish(ctx, commit, tick); err != nil {
			return err
		}
	}
	return nil
}

// publish takes over what the last version of the lineage has changed.
func (a *coarserAudience) publish(commit, tick int) error {
	changes := a.release.Changes()
	from := map[incremental.ClassID]map[lineage.RowID]guardedRow{}
	added := map[incremental.ClassID][]guardedRow{}
	for _, r := range changes.Rows {
		if from[r.From] == nil {
			from[r.From] = map[lineage.RowID]guardedRow{}
			for _, of := range a.finer.classes[r.From].rows {
				from[r.From][of.id] = of
			}
		}
		of, shown := from[r.From][r.ID]
		if !shown {
			return fmt.Errorf("row %d is not shown by the finer release", r.ID)
		}
		added[r.Class] = append(added[r.Class], of)
	}
	return a.change(changes.Classes, added, changes.Gone, changes.Weights, commit, tick)
}
