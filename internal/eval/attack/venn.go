package attack

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Atoms are the sets of people who were in the same classes in all versions, and had their
// values changed between the same ones. A reader who compares versions, and follows rows
// by a column that is unique, cannot tell smaller sets apart: if each of them satisfies
// the constraints, with the values of every time, the whole history tells what one
// release with these classes would.
type Atoms struct {
	Sets      int `json:"sets"`
	BelowK    int `json:"below_k"`   // sets of fewer than k people
	Violating int `json:"violating"` // sets that violate the constraints, those of too few included
	// People is the share of all published values that are in violating sets.
	People float64 `json:"people"`
	// Greatest is the greatest share of a value in a set.
	Greatest float64 `json:"greatest"`
}

// vennAtoms are these sets, once for each time at which their values were others, as the
// elements of their people then.
func vennAtoms(w *world, h *history) [][]element {
	shown := map[int32][]element{} // of each person, the first record's
	of := map[int32]int{}
	var people [][]int32
	type piece struct{ set, generation int }
	for _, v := range h.views {
		pieces, order := map[piece][]int32{}, []piece{}
		for _, e := range v.elements {
			person := w.first(e.record)
			generation := slices.Index(shown[person], e)
			if generation < 0 {
				generation = len(shown[person])
				shown[person] = append(shown[person], e)
			}
			set, known := of[person]
			if !known {
				set = -1
			}
			at := piece{set, generation}
			if pieces[at] == nil {
				order = append(order, at)
			}
			pieces[at] = append(pieces[at], person)
		}
		for _, at := range order {
			if at.set >= 0 && len(pieces[at]) == len(people[at.set]) {
				continue
			}
			for _, person := range pieces[at] {
				of[person] = len(people)
			}
			people = append(people, pieces[at])
			if at.set >= 0 {
				people[at.set] = slices.DeleteFunc(slices.Clone(people[at.set]), func(person int32) bool { return of[person] != at.set })
			}
		}
	}
	return generations(people, shown)
}

// generations are the elements that were shown of sets of people, first, second and so on.
func generations(people [][]int32, shown map[int32][]element) [][]element {
	var atoms [][]element
	for _, set := range people {
		if len(set) == 0 {
			continue
		}
		for generation := range shown[set[0]] {
			var atom []element
			for _, person := range set {
				if generation < len(shown[person]) {
					atom = append(atom, shown[person][generation])
				}
			}
			atoms = append(atoms, atom)
		}
	}
	return atoms
}

// first is the first record of somebody who came back.
func (w *world) first(record int32) int32 {
	for w.lives[record].former >= 0 {
		record = w.lives[record].former
	}
	return record
}

// valueOf is the sensitive value of an element.
func (w *world) valueOf(e element) uint32 {
	for _, s := range w.lives[e.record].states {
		if s.epoch == e.epoch {
			return s.value
		}
	}
	return w.lives[e.record].last().value
}

func summarizeAtoms(w *world, h *history, cs privacy.ConstraintSet) Atoms {
	var a Atoms
	elements, violating := 0, 0
	for _, atom := range vennAtoms(w, h) {
		s := privacy.NewSubjectSummary(1)
		for _, e := range atom {
			s.AddOf(w.lives[e.record].subject, []uint32{w.valueOf(e)})
		}
		a.Sets++
		elements += len(atom)
		if s.Records < cs.K() {
			a.BelowK++
		}
		if !cs.Satisfied(s, nil) {
			a.Violating++
			violating += len(atom)
		}
		for _, n := range s.Sensitive[0] {
			a.Greatest = max(a.Greatest, float64(n)/float64(s.Records))
		}
	}
	if elements > 0 {
		a.People = float64(violating) / float64(elements)
	}
	return a
}
