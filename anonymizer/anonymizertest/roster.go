package anonymizertest

import "math/rand/v2"

// Roster is a set of numbers from which one can be drawn at random, each as likely as
// the others, in constant time. What is drawn depends on the order of the calls alone.
type Roster[ID comparable] struct {
	ids   []ID
	place map[ID]int
}

// NewRoster returns an empty one.
func NewRoster[ID comparable]() *Roster[ID] { return &Roster[ID]{place: map[ID]int{}} }

// Add adds an id that is not there.
func (r *Roster[ID]) Add(id ID) {
	r.place[id] = len(r.ids)
	r.ids = append(r.ids, id)
}

// Remove removes an id that is there.
func (r *Roster[ID]) Remove(id ID) {
	at, last := r.place[id], r.ids[len(r.ids)-1]
	r.ids[at], r.place[last] = last, at
	r.ids = r.ids[:len(r.ids)-1]
	delete(r.place, id)
}

// Clear removes all.
func (r *Roster[ID]) Clear() {
	r.ids = nil
	clear(r.place)
}

// Any draws one, or none where there is none.
func (r *Roster[ID]) Any(random *rand.Rand) (id ID, exists bool) {
	if len(r.ids) == 0 {
		return id, false
	}
	return r.ids[random.IntN(len(r.ids))], true
}
