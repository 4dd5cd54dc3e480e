package attack

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// shownVisit is a row of visits as it was ever shown. Record is for judging alone.
type shownVisit struct {
	record    incremental.RecordID
	pseudonym uint64
	pooled    bool
	low, high float64
	ward      uint32
	appeared  int // version
	vanished  int // version; never for one that is there at the end
	day       int // on which it appeared
}

// visitVersions are all that was shown.
type visitVersions struct {
	rows []shownVisit
	// events are the numbers of the last event before each version.
	events []int
	// classes are the classes of persons, by pseudonym of the root row; members by number.
	classes map[uint64]int64
	members map[int]int64
	shown   map[incremental.RecordID]int // rows that are there now
}

func newVisitVersions() *visitVersions {
	return &visitVersions{classes: make(map[uint64]int64), members: make(map[int]int64), shown: make(map[incremental.RecordID]int)}
}

// add takes over a version. The wards are those that were published.
func (h *visitVersions) add(w *visitWorld, root, visits people.TableChanges, event, day int) {
	if len(root.Cells)+len(visits.Cells)+len(root.Gone)+len(visits.Gone) == 0 {
		return // nothing has changed
	}
	version := len(h.events)
	h.events = append(h.events, event)
	for _, cell := range root.Cells {
		for _, r := range cell.Rows {
			h.classes[r.Own] = cell.ID
			h.members[int(r.ID-1)] = cell.ID
		}
	}
	for _, id := range visits.Gone {
		h.rows[h.shown[id]].vanished = version
		delete(h.shown, id)
	}
	for _, cell := range visits.Cells {
		low, high := float64(w.date.Hierarchy.Encode(cell.Values[0].Lower)), float64(w.date.Hierarchy.Encode(cell.Values[0].Upper))
		for _, r := range cell.Rows {
			h.shown[r.ID] = len(h.rows)
			h.rows = append(h.rows, shownVisit{
				record: r.ID, pseudonym: r.Person, pooled: cell.Pooled, low: low, high: high, ward: w.visits[r.ID-1].ward, appeared: version, vanished: never, day: day,
			})
		}
	}
}

func (s VisitSetup) options() people.MaintainedOptions {
	random := rand.New(rand.NewPCG(s.Seed, 2))
	return people.MaintainedOptions{Method: partition.RoundedPartition{}, Seed: s.Seed, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }}
}

func (s VisitSetup) constraints() privacy.ConstraintSet {
	return privacy.ConstraintSet{privacy.KAnonymity{K: s.K}}
}

// immediateVisits publishes every commit at once.
type immediateVisits struct {
	world *visitWorld
	of    *people.Maintained
	shown *visitVersions
}

func newImmediateVisits(w *visitWorld, s VisitSetup) (*immediateVisits, error) {
	of, err := people.NewMaintained(w.shape(), s.constraints(), people.Knows{}, s.options())
	return &immediateVisits{world: w, of: of, shown: newVisitVersions()}, err
}

func (p *immediateVisits) insert(table int, r people.Row, _ int) error { return p.of.Insert(table, r) }

func (p *immediateVisits) remove(visit incremental.RecordID, _ int) error {
	return p.of.Delete(0, visit)
}

func (p *immediateVisits) publish(ctx context.Context, event, day int) error {
	changes, err := p.of.Settle(ctx)
	if err != nil {
		return err
	}
	p.shown.add(p.world, changes.Root, changes.Tables[0], event, day)
	return nil
}

func (p *immediateVisits) versions() *visitVersions { return p.shown }

// guardedVisits publishes at a pace.
type guardedVisits struct {
	world *visitWorld
	of    *people.Guarded
	shown *visitVersions
	start time.Time
}

func newGuardedVisits(w *visitWorld, s VisitSetup, pace catalog.Pace) (*guardedVisits, error) {
	o := people.GuardedOptions{MaintainedOptions: s.options(), RowsWithin: pace.RowsWithin()}
	of, err := people.NewGuarded(w.shape(), s.constraints(), people.Knows{Crowd: pace.Crowd()}, o)
	return &guardedVisits{world: w, of: of, shown: newVisitVersions(), start: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}, err
}

func (p *guardedVisits) at(days int) time.Time { return p.start.Add(time.Duration(days) * day) }

func (p *guardedVisits) insert(table int, r people.Row, days int) error {
	return p.of.Insert(table, r, p.at(days))
}

func (p *guardedVisits) remove(visit incremental.RecordID, days int) error {
	return p.of.Delete(0, visit, p.at(days))
}

func (p *guardedVisits) publish(ctx context.Context, event, days int) error {
	changes, err := p.of.Publish(ctx, p.at(days))
	if err != nil {
		return err
	}
	p.shown.add(p.world, changes.Root.TableChanges, changes.Tables[0].TableChanges, event, days)
	return nil
}

func (p *guardedVisits) versions() *visitVersions { return p.shown }
