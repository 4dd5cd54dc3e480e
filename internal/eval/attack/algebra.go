package attack

import "slices"

// algebra is what follows from published sets whose members are known: if one lies
// within another, the values of the rest are the difference, and so on. Its atoms are
// the smallest sets found in this way.
type algebra struct {
	atoms   []knownSet
	of      map[element]int // the atom of an element
	pending []knownSet      // sets whose parts could not be told apart so far
}

// knownSet is a set whose values the reader knows, but not whose is which.
type knownSet struct {
	elements []element
	counts   [diagnoses]int
}

// newAlgebra reads what readers of some publications of the same records have.
func newAlgebra(publications ...*history) *algebra {
	g := &algebra{of: map[element]int{}}
	for _, h := range publications {
		g.read(h)
	}
	const rounds = 8
	for range rounds {
		before := len(g.pending)
		g.pending = slices.DeleteFunc(g.pending, g.learn)
		if len(g.pending) == before {
			break
		}
	}
	return g
}

// read learns from one version after the other.
func (g *algebra) read(h *history) {
	came, went := map[int][]*view{}, map[int][]*view{}
	for _, v := range h.views {
		came[v.from] = append(came[v.from], v)
		if v.until != never {
			went[v.until] = append(went[v.until], v)
		}
	}
	for version := range h.versions {
		for _, c := range components(went[version], came[version]) {
			g.compare(c)
		}
		for _, v := range came[version] {
			if s := (knownSet{v.elements, v.counts}); !g.learn(s) {
				g.pending = append(g.pending, s)
			}
		}
	}
}

// exchange is a part of what changed between two versions: classes that went and
// classes that came with some of the same elements.
type exchange struct{ went, came []*view }

// components divides the views that went and came into parts without common elements
// or classes.
func components(went, came []*view) []exchange {
	parent := make([]int, len(went)+len(came))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	seen := map[element]int{}
	all := slices.Concat(went, came)
	for i, v := range all {
		for _, e := range v.elements {
			if j, known := seen[e]; known {
				parent[root(i)] = root(j)
			}
			seen[e] = i
		}
	}
	var parts []exchange
	place := map[int]int{}
	for i, v := range all {
		at, known := place[root(i)]
		if !known {
			at = len(parts)
			place[root(i)] = at
			parts = append(parts, exchange{})
		}
		if i < len(went) {
			parts[at].went = append(parts[at].went, v)
		} else {
			parts[at].came = append(parts[at].came, v)
		}
	}
	return parts
}

// compare learns the elements that are only on one side of an exchange, if all their
// values stand out.
func (g *algebra) compare(x exchange) {
	var plus, minus [diagnoses]int
	sides := map[element]int{}
	for _, v := range x.went {
		for _, e := range v.elements {
			sides[e]--
		}
		for value, n := range v.counts {
			minus[value] += n
		}
	}
	for _, v := range x.came {
		for _, e := range v.elements {
			sides[e]++
		}
		for value, n := range v.counts {
			plus[value] += n
		}
	}
	for value := range plus {
		common := min(plus[value], minus[value])
		plus[value] -= common
		minus[value] -= common
	}
	var added, removed []element
	for e, side := range sides {
		switch {
		case side > 0:
			added = append(added, e)
		case side < 0:
			removed = append(removed, e)
		}
	}
	if sum(plus) != len(added) {
		return
	}
	g.learn(knownSet{sorted(added), plus})
	g.learn(knownSet{sorted(removed), minus})
}

func sorted(elements []element) []element {
	slices.SortFunc(elements, func(a, b element) int {
		if a.record != b.record {
			return int(a.record - b.record)
		}
		return int(a.epoch - b.epoch)
	})
	return elements
}

func sum(counts [diagnoses]int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// learn takes a set over and reports whether nothing more can follow from it: its
// elements that do not make up whole atoms must be of one kind, or their values follow.
func (g *algebra) learn(s knownSet) bool {
	pieces, order := map[int][]element{}, []int{}
	for _, e := range s.elements {
		atom, known := g.of[e]
		if !known {
			atom = -1
		}
		if pieces[atom] == nil {
			order = append(order, atom)
		}
		pieces[atom] = append(pieces[atom], e)
	}
	rest := s.counts
	var partial []int
	for _, atom := range order {
		switch {
		case atom >= 0 && len(pieces[atom]) == len(g.atoms[atom].elements):
			rest = less(rest, g.atoms[atom].counts)
		case atom >= 0 && g.alike(atom):
			counts := part(g.atoms[atom].counts, len(pieces[atom]))
			g.split(atom, knownSet{pieces[atom], counts})
			rest = less(rest, counts)
		default:
			partial = append(partial, atom)
		}
	}
	switch len(partial) {
	case 0:
		return true
	case 1:
		g.split(partial[0], knownSet{pieces[partial[0]], rest})
		return true
	case 2:
		return g.tellApart(partial, pieces, rest)
	default:
		return false
	}
}

// tellApart divides the values of two pieces, if no value of the one can be among the
// other's.
func (g *algebra) tellApart(atoms []int, pieces map[int][]element, counts [diagnoses]int) bool {
	for i, atom := range atoms {
		if atom < 0 {
			continue
		}
		own := counts
		for value, n := range g.atoms[atom].counts {
			own[value] = min(own[value], n)
		}
		if sum(own) == len(pieces[atom]) {
			other := atoms[1-i]
			g.split(atom, knownSet{pieces[atom], own})
			g.split(other, knownSet{pieces[other], less(counts, own)})
			return true
		}
	}
	return false
}

// alike reports whether an atom has one value only.
func (g *algebra) alike(atom int) bool {
	a := g.atoms[atom]
	return slices.Contains(a.counts[:], len(a.elements))
}

// part is what so many elements have of an atom with one value.
func part(counts [diagnoses]int, elements int) [diagnoses]int {
	for value, n := range counts {
		if n > 0 {
			counts[value] = elements
		}
	}
	return counts
}

func less(a, b [diagnoses]int) [diagnoses]int {
	for value, n := range b {
		a[value] -= n
	}
	return a
}

// split makes a piece of an atom, or elements without one, an atom of their own.
func (g *algebra) split(atom int, piece knownSet) {
	if atom >= 0 {
		rest := knownSet{counts: less(g.atoms[atom].counts, piece.counts)}
		for _, e := range g.atoms[atom].elements {
			if !slices.Contains(piece.elements, e) {
				rest.elements = append(rest.elements, e)
			}
		}
		g.atoms[atom] = rest
	}
	for _, e := range piece.elements {
		g.of[e] = len(g.atoms)
	}
	g.atoms = append(g.atoms, piece)
}

// allKnowing knows the members of every class that was ever published, and what follows
// from all of them together.
type allKnowing struct {
	w    *world
	h    *history
	sets *algebra
}

func (allKnowing) name() string { return "set algebra" }
func (allKnowing) proves() bool { return true }

func (a allKnowing) guess(t target) distribution {
	return a.believe(a.w.same(element{t.record, a.w.lives[t.record].last().epoch}))
}

// believe keeps, of the values of an element's atom, those that are in all classes that
// the element was in.
func (a allKnowing) believe(e element) distribution {
	atom, known := a.sets.of[e]
	var least [diagnoses]int
	if known {
		least = a.sets.atoms[atom].counts
	}
	for _, v := range a.h.views {
		if !slices.Contains(v.elements, e) {
			continue
		}
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
