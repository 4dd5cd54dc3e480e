package attack

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// visitTarget is a visit that is attacked.
type visitTarget struct {
	visit int
	kind  string // arrived, left or stays
}

// targets are drawn at random, of each kind as many.
func (w *visitWorld) targets() (targets []visitTarget) {
	random := rand.New(rand.NewPCG(w.setup.Seed, 9))
	left := map[string]int{"arrived": w.setup.Targets, "left": w.setup.Targets, "stays": w.setup.Targets}
	for _, v := range random.Perm(len(w.visits)) {
		kind := "stays"
		switch of := w.visits[v]; {
		case of.deleted != never:
			kind = "left"
		case of.inserted >= 0:
			kind = "arrived"
		}
		if left[kind] > 0 {
			left[kind]--
			targets = append(targets, visitTarget{v, kind})
		}
	}
	return targets
}

// prior is how often a ward occurs, as everybody may know it.
func (w *visitWorld) prior() distribution {
	d := make(distribution, wards)
	for _, v := range w.visits {
		d[v.ward]++
	}
	return d.normalized()
}

// visitAttacker guesses the ward of a visit; nil where nothing published speaks of it.
type visitAttacker struct {
	name  string
	guess func(visit int) distribution
}

// visitReader knows who is in which class, and all versions.
type visitReader struct {
	world *visitWorld
	shown *visitVersions
	of    map[int][]int   // rows of each visit; what an attacker may not know is their wards
	like  map[frame][]int // rows that appeared and vanished together in a class
	at    map[int]int     // the version that an event made
}

// frame are rows that cannot be told apart by class and moments.
type frame struct {
	class              int64
	pooled             bool
	appeared, vanished int
}

func newVisitReader(w *visitWorld, h *visitVersions) *visitReader {
	r := &visitReader{world: w, shown: h, of: make(map[int][]int), like: make(map[frame][]int), at: make(map[int]int)}
	for i, row := range h.rows {
		v := int(row.record - 1)
		r.of[v] = append(r.of[v], i)
		r.like[r.frameOf(row)] = append(r.like[r.frameOf(row)], i)
	}
	for version, event := range h.events {
		if _, known := r.at[event]; !known {
			r.at[event] = version
		}
	}
	return r
}

func (r *visitReader) frameOf(row shownVisit) frame {
	f := frame{pooled: row.pooled, appeared: row.appeared, vanished: row.vanished}
	if !row.pooled {
		f.class = r.shown.classes[row.pseudonym]
	}
	return f
}

// candidates are the rows that a visit can be which is shown in a row: those of the class that
// appeared and vanished with it, and whose days can be its day.
func (r *visitReader) candidates(visit, row int) (rows []int) {
	day := float64(r.world.visits[visit].day)
	for _, i := range r.like[r.frameOf(r.shown.rows[row])] {
		if c := r.shown.rows[i]; c.low <= day && day <= c.high {
			rows = append(rows, i)
		}
	}
	return rows
}

func (r *visitReader) wardsOf(rows []int) distribution {
	d := make(distribution, wards)
	for _, i := range rows {
		d[r.shown.rows[i].ward]++
	}
	return d.normalized()
}

// pseudonyms is how many persons some rows have.
func (r *visitReader) pseudonyms(rows []int) int {
	persons := make(map[uint64]bool)
	for _, i := range rows {
		persons[r.shown.rows[i].pseudonym] = true
	}
	return len(persons)
}

// lastVersion guesses by what is there in the end.
func (r *visitReader) lastVersion(visit int) distribution {
	class, pooled, shown := r.shown.members[r.world.visits[visit].person], false, false
	for _, i := range r.of[visit] {
		if r.shown.rows[i].vanished == never {
			pooled, shown = r.shown.rows[i].pooled, true
		}
	}
	if !shown {
		return nil
	}
	day, rows := float64(r.world.visits[visit].day), []int(nil)
	for i, row := range r.shown.rows {
		if row.vanished == never && row.pooled == pooled && (pooled || r.shown.classes[row.pseudonym] == class) && row.low <= day && day <= row.high {
			rows = append(rows, i)
		}
	}
	return r.wardsOf(rows)
}

// difference guesses by the numbers of wards before and after the commit that inserted the visit, or
// deleted it.
func (r *visitReader) difference(visit int) distribution {
	of := r.world.visits[visit]
	for _, moment := range []struct {
		event int
		sign  float64
	}{{of.inserted, 1}, {of.deleted, -1}} {
		version, made := r.at[moment.event]
		if !made || moment.event < 0 {
			continue
		}
		d := make(distribution, wards)
		for _, row := range r.shown.rows {
			if row.appeared == version {
				d[row.ward] += moment.sign
			}
			if row.vanished == version {
				d[row.ward] -= moment.sign
			}
		}
		for i := range d {
			d[i] = max(0, d[i])
		}
		if d = d.normalized(); d != nil {
			return d
		}
	}
	return nil
}

// moments guesses by the rows that appeared and vanished as that of the visit did, which this attacker
// is told: the fewest of them where the visit was shown several times.
func (r *visitReader) moments(visit int) distribution {
	var fewest []int
	for _, i := range r.of[visit] {
		if rows := r.candidates(visit, i); fewest == nil || len(rows) < len(fewest) {
			fewest = rows
		}
	}
	return r.wardsOf(fewest)
}

func (r *visitReader) attackers() []visitAttacker {
	return []visitAttacker{{"last version", r.lastVersion}, {"difference", r.difference}, {"moments", r.moments}}
}

// measure lets every attacker guess.
func (w *visitWorld) measure(mode string, h *visitVersions) VisitMeasurement {
	r, targets := newVisitReader(w, h), w.targets()
	m := VisitMeasurement{Mode: mode, Versions: len(h.events), Fewest: math.MaxInt}
	for _, a := range r.attackers() {
		m.Attackers = append(m.Attackers, w.score(a, targets))
	}
	known := 0
	for _, t := range targets {
		for _, i := range r.of[t.visit] {
			if !h.rows[i].pooled {
				n := r.pseudonyms(r.candidates(t.visit, i))
				m.Fewest, m.Risk, known = min(m.Fewest, n), m.Risk+1/float64(n), known+1
			}
		}
	}
	if known == 0 {
		m.Fewest = 0
	}
	m.Risk /= float64(max(1, known))
	keyed, waited := 0, 0
	for v, of := range w.visits {
		if rows := r.of[v]; of.inserted >= 0 && len(rows) > 0 && !h.rows[rows[0]].pooled {
			keyed, waited = keyed+1, waited+h.rows[rows[0]].day-of.day
		}
	}
	m.Keyed, m.Waiting = float64(keyed)/float64(max(1, w.inserted())), float64(waited)/float64(max(1, keyed))
	return m
}

func (w *visitWorld) inserted() (n int) {
	for _, v := range w.visits {
		if v.inserted >= 0 {
			n++
		}
	}
	return n
}

func (w *visitWorld) score(a visitAttacker, targets []visitTarget) VisitSuccess {
	s := VisitSuccess{Attacker: a.name, Targets: len(targets), Kinds: make(map[string]float64)}
	prior, ofKind := w.prior(), make(map[string]float64)
	for _, t := range targets {
		d := a.guess(t.visit)
		if d == nil {
			d = prior
		}
		right := d.chance(w.visits[t.visit].ward)
		s.Right += right / float64(len(targets))
		s.Kinds[t.kind] += right
		ofKind[t.kind]++
	}
	for kind, n := range ofKind {
		s.Kinds[kind] /= n
	}
	return s
}

// bound is the success of somebody who has a single release of all visits that there ever were.
func (w *visitWorld) bound(ctx context.Context) (VisitSuccess, error) {
	p, err := newImmediateVisits(w, w.setup)
	if err != nil {
		return VisitSuccess{}, err
	}
	for person, cells := range w.persons {
		if err := p.insert(people.Root, w.person(person, cells), 0); err != nil {
			return VisitSuccess{}, err
		}
	}
	for v := range w.visits {
		if err := p.insert(0, w.row(v), 0); err != nil {
			return VisitSuccess{}, err
		}
	}
	if err := p.publish(ctx, -1, 0); err != nil {
		return VisitSuccess{}, err
	}
	r := newVisitReader(w, p.shown)
	return w.score(visitAttacker{"one static release", r.lastVersion}, w.targets()), nil
}
