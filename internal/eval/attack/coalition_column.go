package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Who guesses a column that the coarsest audience alone sees: readers of a finest release with all columns, who are the
// bound, that audience, and all who pool what they have. The diagnosis is seen by all, so that rows can be joined by it.
const (
	columnOfFinest = "finest with a further column"
	columnAlone    = "coarsest with a further column"
	columnPooled   = "pooled with a further column"
)

// withColumn is the same world, in which a value that depends on the diagnosis is guessed, and the diagnosis is beside it.
func (w *world) withColumn(seed uint64) *world {
	random := rand.New(rand.NewPCG(seed, 5))
	const follows = 0.6 // of the values are what most with the diagnosis have
	of := *w
	of.hasTwo, of.lives = true, nil
	for _, l := range w.lives {
		own := *l
		own.states = slices.Clone(l.states)
		var last state
		for i, s := range l.states {
			changed := &own.states[i]
			changed.beside, changed.value = s.value, last.value
			if i == 0 || s.epoch != last.epoch {
				if changed.value = s.value / 2; random.Float64() >= follows {
					changed.value = random.Uint32N(diagnoses)
				}
			}
			last = *changed
		}
		if l.former >= 0 {
			own.states[0].value = of.lives[l.former].last().value
		}
		of.lives = append(of.lives, &own)
	}
	of.summarize()
	return &of
}

// columnConstraints hold for the diagnosis and the further column; nobody can be certain of either.
func (s Setup) columnConstraints(k int) privacy.ConstraintSet {
	set := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	for i, name := range []string{"further column", sensitiveName} {
		if s.Alpha > 0 {
			set = append(set, privacy.AlphaBound{Alpha: s.Alpha, Attribute: i, Name: name})
		}
		set = append(set, privacy.DistinctDiversity{L: max(s.L, 2), Attribute: i, Name: name})
	}
	return set
}

// runColumn publishes a world with immediate updates for audiences of which the coarsest alone sees a further column.
func (s Setup) runColumn(ctx context.Context, of *world, targets []target, rate float64) (runs []Coalition, err error) {
	s.report("rate %g: publishing a further column", rate)
	w := of.withColumn(s.Seed)
	histories, err := s.publishAudiences(ctx, w, true, s.columnConstraints)
	if err != nil {
		return nil, fmt.Errorf("publishing a further column: %w", err)
	}
	finest, coarsest := histories[:1], histories[len(histories)-1:]
	for _, readers := range []struct {
		name    string
		read    []*history
		knowing attacker
		k       int
	}{
		{columnOfFinest, finest, newCoalition(w, finest), s.K[0]},
		{columnAlone, coarsest, newCoalition(w, coarsest), s.K[len(s.K)-1]},
		{columnPooled, histories, newJoined(w, finest[0], coarsest[0]), s.K[0]},
	} {
		s.report("rate %g: attacking, %s", rate, readers.name)
		run := Coalition{Rate: rate, Updates: updatesOf(0), Releases: nestedReleases, Readers: readers.name, Versions: len(finest[0].versions)}
		shows := readers.read // the column
		if readers.name == columnPooled {
			shows = coarsest
		}
		for _, a := range []attacker{fitting{w, shows}, readers.knowing} {
			run.Guesses = append(run.Guesses, s.score(ctx, a.name(), a, w, targets))
		}
		together := &history{attributes: w.attributes, same: w.same}
		for _, h := range readers.read {
			together.views = append(together.views, h.views...)
		}
		run.Atoms = summarizeAtoms(w, together, s.constraints(readers.k))
		run.countCandidates(w, readers.read, targets, readers.k)
		runs = append(runs, run)
	}
	return runs, nil
}

// joined pools a finest release without the column and a coarser one with it. It knows everybody's classes in both over all
// versions, and joins the rows of a class with those of the union by the diagnosis.
type joined struct {
	allKnowing // of the coarser release, and of what follows of classes of the finest
	finest     *history
}

func (joined) name() string { return "set algebra, and joining by the shared column" }

func newJoined(w *world, finest, coarser *history) joined {
	a := joined{allKnowing{w, coarser, newAlgebra(coarser)}, finest}
	for _, v := range finest.views {
		for _, union := range coarser.views {
			if from := max(v.from, union.from); from >= min(v.until, union.until) || !contains(union.elements, v.elements) {
				continue
			}
			if counts, follow := joinedCounts(a.tally(finest, v), a.tally(coarser, union)); follow {
				a.sets.learn(knownSet{v.elements, counts})
			}
		}
	}
	return a
}

// contains reports whether all of a class is in a union.
func contains(union, class []element) bool {
	return len(class) > 0 && !slices.ContainsFunc(class, func(e element) bool { return !slices.Contains(union, e) })
}

// tally counts the rows of a view by diagnosis and the further column.
func (a joined) tally(h *history, v *view) (joint [diagnoses][diagnoses]int) {
	for _, e := range v.members {
		s := a.w.lives[e.record].at(h.versions[v.from].commit)
		joint[s.beside][s.value]++
	}
	return joint
}

// joinedCounts are the values of a class if they follow: each diagnosis of the class is nowhere else in the union, or has
// one value there. Of the class the diagnoses alone are read.
func joinedCounts(class, union [diagnoses][diagnoses]int) (counts [diagnoses]int, follow bool) {
	for d := range class {
		n, all := sum(class[d]), union[d]
		switch {
		case n == 0:
		case n == sum(all):
			for value, of := range all {
				counts[value] += of
			}
		case slices.Contains(all[:], sum(all)):
			counts[slices.Index(all[:], sum(all))] += n
		default:
			return counts, false
		}
	}
	return counts, true
}

// guess joins in the last version that shows the target, and keeps what set algebra leaves possible.
func (a joined) guess(t target) distribution {
	plain := a.allKnowing.guess(t)
	l := a.w.lives[t.record]
	class, from := a.last(a.finest, l, t.record)
	union, unionFrom := a.last(a.h, l, t.record)
	if plain == nil || class == nil || union == nil || !contains(union.elements, class.elements) {
		return plain
	}
	e := a.w.same(element{t.record, l.last().epoch})
	if atom, known := a.sets.of[e]; known && len(a.sets.atoms[atom].elements) <= len(class.elements) {
		return plain
	}
	return joinedGuess(a.tally(from, class), a.tally(unionFrom, union), plain)
}

// joinedGuess has the rows of a class have the values that rows of the union with their diagnosis have, as far as these
// are possible by what else is known.
func joinedGuess(class, union [diagnoses][diagnoses]int, possible distribution) distribution {
	d := make(distribution, diagnoses)
	for diagnosis := range class {
		n := sum(class[diagnosis])
		if n == 0 {
			continue
		}
		for value, m := range union[diagnosis] {
			if possible[value] > 0 {
				d[value] += float64(n) * float64(m) / float64(sum(union[diagnosis]))
			}
		}
	}
	if d = d.normalized(); d == nil {
		return possible
	}
	return d
}

// last is the view of the target in the last version that shows the last value.
func (a joined) last(h *history, l *life, record int32) (*view, *history) {
	first, last := h.span(l)
	if first > last {
		return nil, h
	}
	for _, v := range h.at(last) {
		if slices.ContainsFunc(v.members, func(e element) bool { return e.record == record && e.epoch == l.last().epoch }) {
			return v, h
		}
	}
	return nil, h
}
