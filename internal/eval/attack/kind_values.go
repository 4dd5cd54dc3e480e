package attack

import (
	"cmp"
	"slices"
)

// published is a release of visits as set algebra reads it, with the numbers of one of their columns.
func (k *kindRelease) published(column func(kindValues) uint32) *history {
	h := &history{}
	versions := 1
	for _, v := range k.views {
		if v.table != visitsTable {
			continue
		}
		of := &view{from: v.from, until: v.until}
		for _, at := range v.rows {
			of.elements = append(of.elements, element{record: int32(at)})
			of.counts[column(k.shows.all[at].kindValues)]++
		}
		h.views, versions = append(h.views, of), max(versions, v.from+1)
		if v.until != never {
			versions = max(versions, v.until+1)
		}
	}
	slices.SortStableFunc(h.views, func(a, b *view) int { return cmp.Compare(a.from, b.from) })
	h.versions = make([]version, versions)
	return h
}

// kindKnowing is set algebra over all versions of some releases.
type kindKnowing struct {
	sets  *algebra
	views map[element][]*view
}

func newKindKnowing(published ...*history) *kindKnowing {
	k := &kindKnowing{sets: newAlgebra(published...), views: make(map[element][]*view)}
	for _, h := range published {
		for _, v := range h.views {
			for _, e := range v.elements {
				k.views[e] = append(k.views[e], v)
			}
		}
	}
	return k
}

// guess keeps, of the values of a row's atom, those that are in all cells that the row was in.
func (k *kindKnowing) guess(e element) distribution {
	atom, known := k.sets.of[e]
	var least [diagnoses]int
	if known {
		least = k.sets.atoms[atom].counts
	}
	for _, v := range k.views[e] {
		for value, n := range v.counts {
			if !known || n < least[value] {
				least[value] = n
			}
		}
		known = true
	}
	d := make(distribution, diagnoses)
	d.addCounts(least, 1)
	return d.normalized()
}

// kindJoined guesses a column that the coarser release alone shows, of rows that the finest has in smaller cells: it joins both
// by the ward, which both show.
type kindJoined struct {
	*kindKnowing // of the coarser release, and of what follows for cells of the finest
	finest       map[element][]*view
	coarser      map[element][]*view
	joint        map[*view][diagnoses][diagnoses]int
}

func newKindJoined(finest, coarser *kindRelease) *kindJoined {
	fine, coarse := finest.published(wardOf), coarser.published(furtherOf)
	k := &kindJoined{kindKnowing: newKindKnowing(coarse), finest: make(map[element][]*view), joint: make(map[*view][diagnoses][diagnoses]int)}
	k.coarser = k.views
	for _, h := range []*history{fine, coarse} {
		for _, v := range h.views {
			var joint [diagnoses][diagnoses]int
			for _, e := range v.elements {
				s := finest.shows.all[e.record]
				joint[s.value][s.further]++
			}
			k.joint[v] = joint
		}
	}
	for _, v := range fine.views {
		for _, e := range v.elements {
			k.finest[e] = append(k.finest[e], v)
		}
		if union := k.unionOf(v, v.elements[0]); union != nil {
			if counts, follow := joinedCounts(k.joint[v], k.joint[union]); follow {
				k.sets.learn(knownSet{v.elements, counts})
			}
		}
	}
	return k
}

// unionOf is the last cell of the coarser release that has all of a cell.
func (k *kindJoined) unionOf(cell *view, e element) *view {
	for _, union := range slices.Backward(k.coarser[e]) {
		if max(union.from, cell.from) < min(union.until, cell.until) && contains(union.elements, cell.elements) {
			return union
		}
	}
	return nil
}

// guess joins in the last cell that shows the row, and keeps what set algebra leaves possible.
func (k *kindJoined) guess(e element) distribution {
	plain := k.kindKnowing.guess(e)
	cells := k.finest[e]
	if plain == nil || len(cells) == 0 {
		return plain
	}
	cell := cells[len(cells)-1]
	union := k.unionOf(cell, e)
	if union == nil {
		return plain
	}
	if atom, known := k.sets.of[e]; known && len(k.sets.atoms[atom].elements) <= len(cell.elements) {
		return plain
	}
	return joinedGuess(k.joint[cell], k.joint[union], plain)
}

func wardOf(v kindValues) uint32    { return v.value }
func furtherOf(v kindValues) uint32 { return v.further }

// guessed is how often a column of visits is guessed: of those that the last version shows, or of all that there were, as they were last.
// Of those that were shown several times, readers take the guess that they are most sure of.
func (k *kindRelease) guessed(read string, column func(kindValues) uint32, guess func(element) distribution) (g KindGuess) {
	w, prior, places := k.shows.world, make(distribution, diagnoses), make(map[int][]int)
	for _, v := range k.views {
		for _, at := range v.rows {
			if s := k.shows.all[at]; v.table == visitsTable && s.state == len(w.rows[visitsTable][s.row].states)-1 && !slices.Contains(places[s.row], at) {
				places[s.row] = append(places[s.row], at)
			}
		}
	}
	for _, row := range w.rows[visitsTable] {
		prior[column(row.states[len(row.states)-1])]++
	}
	prior = prior.normalized()
	for row, of := range w.rows[visitsTable] {
		if read == lastVersion && len(places[row]) == 0 {
			continue
		}
		best := prior
		for i, at := range places[row] {
			if d := guess(element{record: int32(at)}); d != nil && (i == 0 || d.most() > best.most()) {
				best = d
			}
		}
		truth := column(of.states[len(of.states)-1])
		g.Targets++
		g.Right += best.chance(truth)
		g.Posterior += best[truth]
		if best[truth] >= certain {
			g.Certain++
		}
	}
	each := float64(max(1, g.Targets))
	g.Right, g.Posterior, g.Certain = g.Right/each, g.Posterior/each, g.Certain/each
	return g
}
