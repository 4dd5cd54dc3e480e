package torture

import (
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// lesserFaults leave both servers with what they have.
func lesserFaults() []fault {
	return []fault{
		{name: "kill -9", do: killApplier},
		{name: "source killed", do: killServer((*run).source)},
		{name: "release killed", do: killServer((*run).release)},
		{name: "source cut", do: cutLinks((*run).toSource)},
		{name: "release cut", do: cutLinks((*run).toRelease)},
		{name: "source cut within a message", do: cutWithin((*run).toSource)},
		{name: "release cut within a message", do: cutWithin((*run).toRelease)},
		{name: "kill -9 at a failpoint", do: killAtFailpoint},
		{name: "both servers killed", do: killBoth},
		{name: "slot dropped", do: dropSlot},
		{name: "source half-open", slow: true, do: halfOpenTo((*run).toSource)},
		{name: "release half-open", slow: true, do: halfOpenTo((*run).toRelease)},
	}
}

// movingFaults put another server into the place of one, which may lack what the former one had.
func movingFaults() []fault {
	return []fault{
		{name: "source restored", do: restore((*run).source, false)},
		{name: "release restored", do: restore((*run).release, false)},
		{name: "source's standby promoted", do: promote((*run).source)},
		{name: "release's standby promoted", do: promote((*run).release)},
		{name: "snapshot of the source put back", do: restore((*run).source, true)},
		{name: "snapshot of the release put back", do: restore((*run).release, true)},
	}
}

// newApartPlan draws a run in which both servers fail. Consecutive seeds have each fault in turn.
func newApartPlan(seed uint64, version pgserver.Version) *plan {
	rng := rand.New(rand.NewPCG(seed, 1<<50))
	p := &plan{
		seed: seed, rows: []int{50, 150, 300}[rng.IntN(3)], writers: 1 + rng.IntN(2), children: 1 + rng.IntN(2),
		apart: true, moving: movingFaults(), jumps: rng.IntN(4) == 0,
	}
	every := []*shape{people(), visits(), oddNames(), tokens(), journal(), swaps()}
	drawn := []*shape{every[rng.IntN(len(every))], wards(), ledger()}
	if rng.IntN(3) > 0 {
		drawn = append(drawn, patients())
	}
	if rng.IntN(3) == 0 {
		drawn = append(drawn, entries())
	}
	if rng.IntN(3) == 0 {
		drawn = append(drawn, guests(), stays())
	}
	for _, s := range drawn {
		s.policy.Table = s.table()
	}
	p.shapes = drawn
	lesser, moving := lesserFaults(), movingFaults()
	p.faults = []fault{lesser[seed%uint64(len(lesser))], moving[seed%uint64(len(moving))]}
	if rng.IntN(2) == 0 {
		p.faults = append(p.faults, moving[rng.IntN(len(moving))])
	}
	rng.Shuffle(len(p.faults), func(i, j int) { p.faults[i], p.faults[j] = p.faults[j], p.faults[i] })
	return p
}

// drawn are the tables whose rows are drawn: all but the ledger.
func (p *plan) drawn() []*shape {
	return slices.DeleteFunc(slices.Clone(p.shapes), func(s *shape) bool { return s.name == ledger().name })
}

// moves says that servers take the places of others in this run.
func (p *plan) moves() bool { return len(p.moving) > 0 }

// isMoving says whether a fault puts another server into the place of one.
func (p *plan) isMoving(f fault) bool {
	for _, m := range p.moving {
		if m.name == f.name {
			return true
		}
	}
	return false
}
