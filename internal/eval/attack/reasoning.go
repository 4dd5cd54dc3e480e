package attack

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// reasoning knows all that allKnowing does, and kproxy's code and settings. It plays the
// publication again with every distribution of the values that it thinks possible, and
// forgets those with which kproxy would have published at another time, or cut another
// class (the minimality attack of Wong, Fu, Wang and Pei 2007, on what was refused).
//
// The distributions are drawn at random. Of a value whose share among those left does not
// differ from what allKnowing believes by more than chance would explain, it believes the
// same.
type reasoning struct {
	allKnowing
	ctx     context.Context
	replay  replayer
	seed    uint64
	commits map[int32][]int // of each record, by number, ascending

	batches map[int]*guesses   // by the version that published a batch
	classes map[int64]*guesses // by class, what is left of the batch's
	err     error
}

// guesses are distributions of the values of a batch, or a class, that are possible; nil
// values where nothing was refused, so that all are.
type guesses struct {
	elements []element
	values   [][]uint32 // of each distribution, in the order of elements
	told     bool       // something was refused, or could have been
}

const (
	drawn  = 150 // distributions that are tried
	sigmas = 4   // standard errors that chance explains: beliefs of thousands are compared
)

func newReasoning(ctx context.Context, w *world, h *history, sets *algebra, replay replayer, seed uint64) *reasoning {
	a := &reasoning{
		allKnowing: allKnowing{w, h, sets}, ctx: ctx, replay: replay, seed: seed,
		commits: map[int32][]int{}, batches: map[int]*guesses{}, classes: map[int64]*guesses{},
	}
	for i, c := range w.commits {
		a.commits[c.record] = append(a.commits[c.record], i+1)
	}
	return a
}

func (*reasoning) name() string { return "set algebra and kproxy's code" }

func (a *reasoning) guess(t target) distribution {
	plain := a.allKnowing.guess(t)
	e := element{t.record, a.w.lives[t.record].last().epoch}
	founder := a.founder(e)
	if plain == nil || founder == nil || a.err != nil {
		return plain
	}
	g := a.class(founder)
	const least = 20 // fewer distributions prove nothing
	if !g.told || len(g.values) < least {
		return plain
	}
	place := slices.Index(g.elements, e)
	d := make(distribution, diagnoses)
	for _, values := range g.values {
		d[values[place]]++
	}
	d = d.normalized()
	for v, p := range plain {
		if chance := sigmas * math.Sqrt(max(p*(1-p), 1/float64(drawn))/float64(len(g.values))); math.Abs(d[v]-p) <= chance {
			d[v] = p
		}
	}
	return d.normalized()
}

// founder is the first view of the class in which an element was published last.
func (a *reasoning) founder(e element) *view {
	for _, v := range slices.Backward(a.h.views) {
		if v.from == v.founded && slices.Contains(v.members, e) {
			return v
		}
	}
	return nil
}

// class are the distributions of a class's batch with which the class would have been
// cut as it was.
func (a *reasoning) class(founder *view) *guesses {
	if g, known := a.classes[founder.class]; known {
		return g
	}
	batch := a.batch(founder.from)
	g := &guesses{elements: batch.elements, values: batch.values, told: batch.told}
	a.classes[founder.class] = g
	for _, s := range a.stories(founder) {
		observed := a.cuts(s, a.w.valueOf)
		if len(s.commits) == 0 || slices.EqualFunc(observed, a.cuts(s, different), slices.Equal) {
			continue
		}
		possible := [][]uint32{}
		for i, values := range g.values {
			random := rand.New(rand.NewPCG(a.seed, uint64(s.class)<<16+uint64(i)))
			if a.agree(s, observed, a.assumed(batch.elements, values, s.known, random)) {
				possible = append(possible, values)
			}
		}
		g.told, g.values = true, possible
	}
	return g
}

// different gives every element a value of its own, so that nothing would be refused.
func different(e element) uint32 { return diagnoses + uint32(e.record)<<4 + uint32(e.epoch&15) }

// assumed is a distribution as a function. Known elements have their own values, others
// are drawn.
func (a *reasoning) assumed(elements []element, values []uint32, known []element, random *rand.Rand) func(element) uint32 {
	assigned := make(map[element]uint32, len(values)+len(known))
	for _, e := range known {
		assigned[e] = a.w.valueOf(e)
	}
	for i, e := range elements {
		assigned[e] = values[i]
	}
	return func(e element) uint32 {
		value, known := assigned[e]
		if !known {
			value = a.w.prior.draw(random)
			assigned[e] = value
		}
		return value
	}
}

// batch are the distributions of the values of all classes founded with a version, with
// which they would not have been published before, and others refused as they were.
func (a *reasoning) batch(version int) *guesses {
	if g, known := a.batches[version]; known {
		return g
	}
	g := &guesses{}
	a.batches[version] = g
	for _, v := range a.h.views {
		if v.from == version && v.founded == version {
			g.elements = append(g.elements, v.members...)
		}
	}
	groups, whole := a.groups(g.elements)
	if !whole {
		return g
	}
	s := a.waiting(version)
	observed := a.tries(s, a.w.valueOf)
	g.told = !slices.Equal(observed, a.tries(s, different))
	for i := range drawn {
		random := rand.New(rand.NewPCG(a.seed+1, uint64(version)<<16+uint64(i)))
		values := make([]uint32, len(g.elements))
		for _, places := range groups {
			shuffled := random.Perm(len(places))
			for j, place := range places {
				values[place] = a.w.valueOf(g.elements[places[shuffled[j]]])
			}
		}
		if g.told && !slices.Equal(observed, a.tries(s, a.assumed(g.elements, values, nil, random))) {
			continue
		}
		g.values = append(g.values, values)
	}
	return g
}

// groups are the places of the elements of each known set; whole says that none of the
// sets has other elements besides.
func (a *reasoning) groups(elements []element) (groups [][]int, whole bool) {
	place := map[int]int{}
	var atoms []int
	for i, e := range elements {
		atom, known := a.sets.of[a.w.same(e)]
		if !known {
			return nil, false
		}
		at, met := place[atom]
		if !met {
			at = len(groups)
			place[atom] = at
			groups, atoms = append(groups, nil), append(atoms, atom)
		}
		groups[at] = append(groups[at], i)
	}
	for i, atom := range atoms {
		if len(groups[i]) != len(a.sets.atoms[atom].elements) {
			return nil, false
		}
	}
	return groups, true
}

// story is what happened to the members of a class after it was published.
type story struct {
	class   int64
	founded int // commit
	members []element
	commits []int
	watched map[int32]bool // the records whose rows are looked at; nil for all
	known   []element      // whose values are taken as known
}

// stories are what tells of the values in a class: when it was cut, and when its rows
// were cut out of the class in which the same people had been before.
func (a *reasoning) stories(founder *view) []story {
	own := a.story(founder)
	var origin *view
	watched := map[int32]bool{}
	for _, e := range founder.members {
		watched[e.record] = true
	}
	for _, v := range a.h.views {
		if v.from == v.founded && v.from < founder.from && slices.ContainsFunc(v.members, func(e element) bool { return watched[e.record] }) {
			origin = v
		}
	}
	if origin == nil {
		return []story{own}
	}
	before := a.story(origin)
	before.watched, before.known = watched, origin.members
	before.commits = slices.DeleteFunc(before.commits, func(c int) bool { return c > own.founded })
	return []story{own, before}
}

func (a *reasoning) story(founder *view) story {
	s := story{class: founder.class, founded: a.h.versions[founder.from].commit, members: founder.members}
	for _, e := range founder.members {
		for _, c := range a.commits[e.record] {
			if c > s.founded {
				s.commits = append(s.commits, c)
			}
		}
	}
	slices.SortFunc(s.commits, cmp.Compare)
	return s
}
