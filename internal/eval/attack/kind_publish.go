package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// kindPublisher publishes a kind of people for a chain of audiences.
type kindPublisher interface {
	apply(c kindChange, day int) error
	publish(ctx context.Context, version, day int) error
}

func (s KindSetup) options(audience uint64) people.MaintainedOptions {
	random := rand.New(rand.NewPCG(s.Seed, 100+audience))
	return people.MaintainedOptions{Method: partition.RoundedPartition{}, Seed: s.Seed + audience, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }}
}

func (s KindSetup) coarser(audience uint64) people.CoarserOptions {
	o := s.options(audience)
	return people.CoarserOptions{K: s.K[audience], Seed: o.Seed, Random: o.Random, Pseudonym: o.Pseudonym}
}

func (s KindSetup) knows(all bool) people.Knows { return people.Knows{All: all, Crowd: s.Crowd} }

func onlyK(k int) privacy.ConstraintSet { return privacy.ConstraintSet{privacy.KAnonymity{K: k}} }

// play has everything happen, and more days go by in which what waits appears. It gives the number of versions.
func (w *kindWorld) play(ctx context.Context, publishers []kindPublisher) (versions int, err error) {
	step := func(day int, c kindCommit) error {
		for _, p := range publishers {
			for _, change := range c {
				if err := p.apply(change, day); err != nil {
					return err
				}
			}
			if err := p.publish(ctx, versions, day); err != nil {
				return err
			}
		}
		versions++
		return ctx.Err()
	}
	if err := step(0, w.begin); err != nil {
		return versions, err
	}
	for day := range 2 * w.setup.Days {
		if day <= w.setup.Days {
			for _, c := range w.commits[day] {
				if err := step(day, c); err != nil {
					return versions, err
				}
			}
		}
		if err := step(day, nil); err != nil {
			return versions, err
		}
	}
	return versions, nil
}

// immediateKind publishes every commit at once.
type immediateKind struct {
	world    *kindWorld
	of       *people.Maintained
	coarser  []*people.Coarser
	releases []*kindRelease
	state    map[placeOfRow]int
}

// placeOfRow names a row.
type placeOfRow struct{ table, row int }

// newImmediateKind publishes for the audiences from a place on, with unions for those after it if wanted.
func newImmediateKind(w *kindWorld, shows *kindShows, all bool, audience int, unions bool) (*immediateKind, error) {
	s := w.setup
	of, err := people.NewMaintained(w.shape(), onlyK(s.K[audience]), s.knows(all), s.options(uint64(audience)))
	if err != nil {
		return nil, err
	}
	p := &immediateKind{world: w, of: of, releases: []*kindRelease{newKindRelease(shows, s.K[audience])}, state: make(map[placeOfRow]int)}
	for i := audience + 1; unions && i < len(s.K); i++ {
		coarser, err := people.NewCoarser(of, s.coarser(uint64(i)))
		if err != nil {
			return nil, err
		}
		p.coarser, p.releases = append(p.coarser, coarser), append(p.releases, newKindRelease(shows, s.K[i]))
	}
	return p, nil
}

func (p *immediateKind) apply(c kindChange, _ int) error {
	p.state[placeOfRow{c.table, c.row}] = c.state
	switch c.what {
	case inserts:
		return p.of.Insert(c.table, p.world.row(c.table, c.row, c.state))
	case changes:
		return p.of.Modify(c.table, p.world.row(c.table, c.row, c.state))
	default:
		return p.of.Delete(c.table, incremental.RecordID(c.row+1))
	}
}

func (p *immediateKind) publish(ctx context.Context, version, _ int) error {
	changed, err := p.of.Settle(ctx)
	if err != nil {
		return err
	}
	p.show(p.releases[0], version, changed)
	for i, coarser := range p.coarser {
		if changed, err = coarser.Settle(ctx, changed); err != nil {
			return err
		}
		p.show(p.releases[i+1], version, changed)
	}
	return nil
}

func (p *immediateKind) show(r *kindRelease, version int, c *people.MaintainedChanges) {
	for table := people.Root; table < kindTables; table++ {
		of := &c.Root
		if table != people.Root {
			of = &c.Tables[table]
		}
		r.change(table, version, of, func(id incremental.RecordID) int {
			row := int(id - 1)
			return r.shows.placeOf(table, row, p.state[placeOfRow{table, row}])
		})
	}
}

// guardedKind publishes by a lineage.
type guardedKind struct {
	world    *kindWorld
	of       *people.Guarded
	coarser  []*people.GuardedCoarser
	releases []*kindRelease
	state    map[placeOfRow]int
}

func newGuardedKind(w *kindWorld, shows *kindShows, all bool, audience int, unions bool) (*guardedKind, error) {
	s := w.setup
	const weeks = 2
	o := people.GuardedOptions{MaintainedOptions: s.options(uint64(audience)), Within: weeks * 7 * day, Rows: s.K[audience], RowsWithin: weeks * 7 * day}
	of, err := people.NewGuarded(w.shape(), onlyK(s.K[audience]), s.knows(all), o)
	if err != nil {
		return nil, err
	}
	p := &guardedKind{world: w, of: of, releases: []*kindRelease{newKindRelease(shows, s.K[audience])}, state: make(map[placeOfRow]int)}
	for i := audience + 1; unions && i < len(s.K); i++ {
		coarser, err := of.AddCoarser(s.coarser(uint64(i)))
		if err != nil {
			return nil, fmt.Errorf("k = %d: %w", s.K[i], err)
		}
		p.coarser, p.releases = append(p.coarser, coarser), append(p.releases, newKindRelease(shows, s.K[i]))
	}
	return p, nil
}

func dayOf(days int) time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(days) * day)
}

func (p *guardedKind) apply(c kindChange, days int) error {
	p.state[placeOfRow{c.table, c.row}] = c.state
	switch c.what {
	case inserts:
		return p.of.Insert(c.table, p.world.row(c.table, c.row, c.state), dayOf(days))
	case changes:
		return p.of.Modify(c.table, p.world.row(c.table, c.row, c.state), dayOf(days))
	default:
		return p.of.Delete(c.table, incremental.RecordID(c.row+1), dayOf(days))
	}
}

// publish takes over a version. A row of a coarser release is the finer one's, with the values that this shows.
func (p *guardedKind) publish(ctx context.Context, version, days int) error {
	changed, err := p.of.Publish(ctx, dayOf(days))
	if err != nil {
		return err
	}
	for table := people.Root; table < kindTables; table++ {
		of := &changed.Root
		if table != people.Root {
			of = &changed.Tables[table]
		}
		finest := p.releases[0]
		finest.change(table, version, &of.TableChanges, func(id incremental.RecordID) int {
			row := int(id - 1)
			return finest.shows.placeOf(table, row, p.state[placeOfRow{table, row}])
		})
	}
	for i, coarser := range p.coarser {
		finer := p.releases[i]
		for at, c := range coarser.Changes() {
			p.releases[i+1].change(at-1, version, &c.TableChanges, func(id incremental.RecordID) int { return finer.now[at][id].at })
		}
	}
	return nil
}
