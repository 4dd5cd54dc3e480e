package attack

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// kindReaders have some releases of a kind. They know who is in each class and the moments at which rows came, changed and
// left, and are even told in which cell of each version a row that they know is. Who it is, and what it says, they infer.
type kindReaders struct {
	shows    *kindShows
	all      bool // they know all rows of a person, and else one
	releases []*kindRelease
	of       []map[int][]*kindView // of each release, by row
	rows     map[int][]int         // of each person, in the release that shows most
}

func newKindReaders(all bool, releases []*kindRelease) *kindReaders {
	r := &kindReaders{shows: releases[0].shows, all: all, releases: releases, rows: make(map[int][]int)}
	for _, release := range releases {
		of := make(map[int][]*kindView)
		for _, v := range release.views {
			for _, at := range v.rows {
				of[at] = append(of[at], v)
			}
		}
		r.of = append(r.of, of)
	}
	for at, s := range r.shows.all {
		if len(r.of[0][at]) > 0 {
			r.rows[s.person] = append(r.rows[s.person], at)
		}
	}
	return r
}

// alike are the rows that were wherever a row was, in all releases and versions.
func (r *kindReaders) alike(at int) (rows []int) {
	for _, of := range r.of {
		for _, v := range of[at] {
			if rows == nil {
				rows = slices.Clone(v.rows)
				continue
			}
			rows = slices.DeleteFunc(rows, func(other int) bool { _, in := slices.BinarySearch(v.rows, other); return !in })
		}
	}
	return rows
}

// isKeyed reports whether a row was ever shown with its keys.
func (r *kindReaders) isKeyed(at int) bool {
	return slices.ContainsFunc(r.of, func(of map[int][]*kindView) bool {
		return slices.ContainsFunc(of[at], func(v *kindView) bool { return !v.pooled })
	})
}

// candidates is how many persons somebody can be of whom a row is known, or all rows are; 0 where nothing is shown.
func (r *kindReaders) candidates(at int) int {
	rows := r.alike(at)
	if rows == nil {
		return 0
	}
	persons := r.personsOf(rows)
	if !r.isKeyed(at) {
		return len(persons) // nothing tells of whose other rows it is
	}
	for _, other := range r.rows[r.shows.all[at].person] {
		if table := r.shows.all[other].table; (r.all || table == people.Root) && r.together(at, other) && r.isKeyed(other) {
			left := r.personsOf(r.alike(other))
			for person := range persons {
				if !left[person] {
					delete(persons, person)
				}
			}
		}
	}
	return len(persons)
}

// together reports whether two rows of a person were shown in the same class once: a person whose rows are all shown anew
// is another one to readers.
func (r *kindReaders) together(at, other int) bool {
	for _, v := range r.of[0][at] {
		if slices.ContainsFunc(r.of[0][other], func(o *kindView) bool { return max(v.from, o.from) < min(v.until, o.until) }) {
			return true
		}
	}
	return false
}

func (r *kindReaders) personsOf(rows []int) map[int]bool {
	persons := make(map[int]bool)
	for _, at := range rows {
		persons[r.shows.all[at].person] = true
	}
	return persons
}

// seen are the rows that are known, of those that the finest of the releases shows: where all of a person are, the root's stand for them.
func (r *kindReaders) seen() (rows []int) {
	for at := range r.of[0] {
		if (r.shows.all[at].table == people.Root) == r.all {
			rows = append(rows, at)
		}
	}
	slices.Sort(rows)
	return rows
}

// identify counts who is left of each target.
func (r *kindReaders) identify() (i KindIdentity) {
	for _, at := range r.seen() {
		n := r.candidates(at)
		if i.Targets++; i.Targets == 1 || n < i.Fewest {
			i.Fewest = n
		}
		i.Candidates += float64(n)
		i.Risk += 1 / float64(n)
		if n < r.releases[0].k {
			i.Fewer++
		}
	}
	each := float64(max(1, i.Targets))
	i.Candidates, i.Risk, i.Fewer = i.Candidates/each, i.Risk/each, i.Fewer/each
	return i
}
